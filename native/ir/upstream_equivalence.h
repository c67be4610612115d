// MLIR's own hash and comparison of operations, to measure and test ours against. They hold within
// one context only, and the hash leaves regions out.
#pragma once

#include "mlir/IR/Operation.h"

namespace twinjit {

/// OperationEquivalence::computeHash of `root` and of each operation in it, but for locations,
/// combined.
uint64_t upstreamHash(mlir::Operation *root);

/// OperationEquivalence::isEquivalentTo but for locations. Both must be of one context.
bool upstreamEquivalent(mlir::Operation *a, mlir::Operation *b);

} // namespace twinjit
