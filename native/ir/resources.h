// The resources that a program's attributes refer to by key.
#pragma once

#include "common/outcome.h"

#include "mlir/IR/BuiltinOps.h"

namespace twinjit {

/// Whether programs have left resources in `context`; the fingerprint's own does not count.
bool hasResources(mlir::MLIRContext *context);

/// Give resources keys by number, "resource.0" …, as they are met; those with the same bytes and
/// alignment get one key. Keys are seen by the code: CSE merges constants of one key only, and the
/// messages of runtime checks print operations.
///
/// Fails on operations that do not take their own attributes back.
std::optional<Failure> renameResources(mlir::ModuleOp module);

} // namespace twinjit
