// What a program calls and leaves to others to define.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace twinjit {

/// Symbols of the functions that a module declares, as they are called once it is lowered; in order
/// and without those whose name is not UTF-8, which no library has.
std::vector<std::string> declaredFunctions(mlir::ModuleOp module);

} // namespace twinjit
