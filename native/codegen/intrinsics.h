// What LLVM's intrinsics for x86 need of a CPU.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace twinjit {

/// The instruction set that code lacks to call an intrinsic of this name, when it may use those of
/// `present`, which is sorted; empty where it lacks none. LLVM has no such table, and its code
/// generator ends the process where an instruction is missing.
llvm::StringRef lackedBy(llvm::StringRef intrinsic, llvm::ArrayRef<std::string> present);

} // namespace twinjit
