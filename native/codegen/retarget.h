// From a program's own targets to the one it is compiled for.
#pragma once

#include "codegen/host.h"

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace twinjit {

/// Whether values lie in memory in the same way, so that sizes and offsets that a program holds are
/// right.
bool isAlike(const llvm::DataLayout &own, const llvm::DataLayout &wanted);

/// Make `module` one for `target`, whose code `machine` generates, and settle for each function
/// which CPU and features its code may use.
///
/// A function that names a CPU means that CPU, with the features it names; one that names features
/// alone means the target with these changes. Neither may go beyond the target, since that is what
/// machines are chosen by that get the code.
///
/// Returns why that cannot be; empty where it could. The module is half done then.
std::string retarget(llvm::Module &module, const Target &target, llvm::TargetMachine &machine);

} // namespace twinjit
