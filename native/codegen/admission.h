// What valid LLVM IR may hold that JITLink or the code generator cannot handle.
#pragma once

#include "llvm/IR/Module.h"

#include <string>

namespace twinjit {

/// Why `module` must not be compiled; empty where it may. These would end the process, or give code
/// that does something else than the program says.
std::string whyRefused(const llvm::Module &module);

} // namespace twinjit
