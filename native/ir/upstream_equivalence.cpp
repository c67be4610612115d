#include "ir/upstream_equivalence.h"

#include "mlir/IR/OperationSupport.h"

namespace twinjit {

uint64_t upstreamHash(mlir::Operation *root) {
  llvm::hash_code hash = 0;
  root->walk([&](mlir::Operation *operation) {
    hash = llvm::hash_combine(hash, mlir::OperationEquivalence::computeHash(
                                        operation, mlir::OperationEquivalence::directHashValue,
                                        mlir::OperationEquivalence::directHashValue,
                                        mlir::OperationEquivalence::IgnoreLocations));
  });
  return hash;
}

bool upstreamEquivalent(mlir::Operation *a, mlir::Operation *b) {
  return mlir::OperationEquivalence::isEquivalentTo(a, b,
                                                    mlir::OperationEquivalence::IgnoreLocations);
}

} // namespace twinjit
