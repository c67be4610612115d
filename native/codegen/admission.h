// What valid LLVM IR may hold that JITLink or the code generator cannot handle.
#pragma once

#include "llvm/IR/Module.h"

#include <string>

namespace twinjit {

/// Why `module` must not be compiled; empty where it may. These would end the process, or give code
/// that does something else than the program says.
std::string whyRefused(const llvm::Module &module);

/// The same, by its variables alone.
std::string whyVariablesRefused(const llvm::Module &module);

/// Why an object that was just generated cannot be linked as the program means it; empty where it
/// can. Module assembly and passes of the code generator make what no LLVM IR shows: thread-local
/// storage, functions to run when the program is loaded.
std::string whyUnlinkable(llvm::StringRef object);

} // namespace twinjit
