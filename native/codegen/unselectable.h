// What X86's code generator ends the process on, though it is valid LLVM IR.
#pragma once

#include "llvm/IR/Function.h"

#include <string>

namespace twinjit {

/// Why code of a function's body cannot be generated; empty where nothing is known against it.
///
/// Upstream defect. Versions: LLVM 22.1.8. Trigger: as each rule says. Symptom: a fatal error or an
/// assertion in instruction selection, or in the printer of assembly. Remove when: these are
/// reported. `tests/llvmir/test_admission.py` has a program for each.
std::string whyUnselectable(const llvm::Function &function);

} // namespace twinjit
