// The form of a program that all programs with its fingerprint share.
#pragma once

#include "common/outcome.h"
#include "common/policy.h"
#include "common/stop.h"
#include "ir/walk.h"

namespace twinjit {

/// How a program is brought to its canonical form, where a fingerprint does not tell. Holds for as
/// long as the program is not changed.
struct CanonicalForm {
  VisitOrder order;                         // of blocks, and of operations in symbol tables
  std::vector<mlir::Operation *> symbols;   // whose names do not count, by number
  std::vector<mlir::Operation *> constants; // whose elements do not count, in order
  /// Operands of operations whose operands' order does not count.
  std::vector<std::pair<mlir::Operation *, llvm::SmallVector<mlir::Value, 2>>> operands;
};

/// What the writer of the fingerprint finds. The rules of fingerprint() hold, and it fails alike.
Outcome<CanonicalForm> canonicalForm(mlir::Operation *root, const Policy &policy,
                                     const Stop &stop = neverStop);

/// The elements of the large constants that do not count, in canonical order: their type as MLIR
/// prints it, and their bytes in memory.
Outcome<std::vector<std::pair<std::string, std::string>>>
largeConstants(mlir::Operation *root, const Policy &policy, const Stop &stop);

} // namespace twinjit
