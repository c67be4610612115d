// Programs whose regions are nested deeper than MLIR can take.
#pragma once

#include "mlir/IR/Operation.h"

namespace twinjit {

/// MLIR's parser, passes and destructors recurse; some 4000 levels overflow a stack of 8 MiB.
constexpr unsigned kMaxNesting = 1000;

/// Whether regions are nested more than kMaxNesting deep in `root`.
bool isTooDeep(mlir::Operation *root);

/// Empty all regions in `root`, the innermost first, so that it can be destroyed.
void dismantle(mlir::Operation *root);

} // namespace twinjit
