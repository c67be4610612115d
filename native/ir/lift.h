// Turns large constants into parameters of the code.
#pragma once

#include "ir/normalise.h"

namespace twinjit {

/// Make each of `constants` the read of an external variable, named `prefix` and its number;
/// globals have that name already. In the symbol table of each, the variables come first.
std::vector<LiftedConstant> lift(llvm::ArrayRef<mlir::Operation *> constants, const Policy &policy,
                                 llvm::StringRef prefix);

} // namespace twinjit
