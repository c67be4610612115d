// What is refused or renamed before a program meets MLIR's and LLVM's assertions.
#pragma once

#include "common/outcome.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace twinjit {

/// Refuse types, names and constants whose lowering would end the process, naming them.
std::optional<Failure> refuse(mlir::ModuleOp module);

/// Give what the program defines at its top level the name programSymbol().
std::optional<Failure> renameDefinitions(mlir::ModuleOp module);

} // namespace twinjit
