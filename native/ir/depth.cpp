#include "ir/depth.h"

#include "ir/walk.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace twinjit {
namespace {

/// Collects operations with regions, each before those in it, and how deep they are nested.
struct Depths : PlainVisitor {
  std::vector<mlir::Operation *> withRegions = {};
  unsigned depth = 0;
  unsigned deepest = 0;
  unsigned limit;

  explicit Depths(unsigned limit) : limit(limit) {}

  bool descend(mlir::Operation &operation) {
    withRegions.push_back(&operation);
    deepest = std::max(deepest, ++depth);
    return true;
  }
  void endOperation(mlir::Operation &) { --depth; }
  bool stopped() { return deepest > limit; }
};

} // namespace

bool isTooDeep(mlir::Operation *root) {
  const VisitOrder listing;
  Depths depths(kMaxNesting);
  Walk<Depths>(listing, depths).run(*root);
  return depths.deepest > kMaxNesting;
}

void dismantle(mlir::Operation *root) {
  const VisitOrder listing;
  Depths depths(~0U);
  Walk<Depths>(listing, depths).run(*root);
  for (mlir::Operation *operation : llvm::reverse(depths.withRegions)) {
    for (mlir::Region &region : operation->getRegions()) {
      region.dropAllReferences();
      for (mlir::Block &block : region)
        block.dropAllDefinedValueUses();
      region.getBlocks().clear();
    }
  }
}

} // namespace twinjit
