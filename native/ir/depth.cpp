#include "ir/depth.h"

#include "ir/walk.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cstring>

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

unsigned nestingOf(llvm::StringRef text) {
  unsigned depth = 0, deepest = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    llvm::StringRef rest = text.substr(i);
    if (rest.starts_with("//")) {
      i = text.find('\n', i);
    } else if (rest.starts_with("\"")) {
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
        i += text[i] == '\\';
    } else if (rest.starts_with("->") || rest.starts_with(">=") || rest.starts_with("<=")) {
      ++i;
    } else if (std::strchr("([{<", rest[0]) && rest[0]) {
      deepest = std::max(deepest, ++depth);
    } else if (std::strchr(")]}>", rest[0]) && rest[0]) {
      depth -= depth != 0;
    }
    if (i == llvm::StringRef::npos)
      break;
  }
  return deepest;
}

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
