// Programs whose regions are nested deeper than MLIR can take.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringRef.h"

namespace twinjit {

/// MLIR's parser, passes and destructors recurse; some 4000 levels overflow a stack of 8 MiB.
constexpr unsigned kMaxNesting = 1000;

/// How deep brackets are nested in MLIR text at most; strings and comments do not count.
unsigned nestingOf(llvm::StringRef text);

/// Whether regions are nested more than kMaxNesting deep in `root`.
bool isTooDeep(mlir::Operation *root);

/// Empty all regions in `root`, the innermost first, so that it can be destroyed.
void dismantle(mlir::Operation *root);

} // namespace twinjit
