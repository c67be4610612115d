#include "ir/numbering.h"

#include "ir/content_order.h"
#include "ir/loose_digests.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace twinjit {
namespace {

mlir::SuccessorRange successorsOf(mlir::Block &block) {
  return block.empty() ? mlir::SuccessorRange() : block.back().getSuccessors();
}

std::vector<mlir::Block *> depthFirst(mlir::Region &region) {
  std::vector<mlir::Block *> order;
  llvm::DenseSet<mlir::Block *> seen;
  llvm::SmallVector<mlir::Block *> pending = {&region.front()};
  while (!pending.empty()) {
    mlir::Block *block = pending.pop_back_val();
    if (block->getParent() != &region || !seen.insert(block).second)
      continue;
    order.push_back(block);
    for (mlir::Block *successor : llvm::reverse(successorsOf(*block)))
      pending.push_back(successor);
  }
  return order;
}

bool isListing(mlir::Region &region, llvm::ArrayRef<mlir::Block *> order) {
  mlir::Block *listed = &region.front();
  for (mlir::Block *block : order) {
    if (block != listed)
      return false;
    listed = listed->getNextNode();
  }
  return listed == nullptr;
}

/// Puts the blocks of a region that cannot be reached in order.
class Unreachable {
public:
  Unreachable(const PolicyAttributes &filter, LooseDigests::Known known, unsigned level,
              std::vector<mlir::Block *> unordered)
      : filter(filter), known(known), level(level), blocks(std::move(unordered)),
        region(*blocks.front()->getParent()),
        order(blocks.size(), filter.policy.ignoreOperandOrder) {
    for (size_t i = 0; i != blocks.size(); ++i)
      indices.try_emplace(blocks[i], i);
  }

  std::vector<mlir::Block *> sorted() {
    mlir::Operation *table = region.getParentOp();
    while (table && !isSymbolTable(*table))
      table = table->getParentOp();
    LooseDigests digests(filter, region.getContext(), table);
    for (size_t i = 0; i != blocks.size(); ++i) {
      auto outside = [&](mlir::Value value, mlir::Block *block) { return meet(i, value, block); };
      order.describe(i, digests.of(*blocks[i], outside, known, level));
    }
    std::vector<mlir::Block *> result;
    for (size_t i : order.sorted())
      result.push_back(blocks[i]);
    return result;
  }

private:
  /// What stands for a value or block that is used in block `user` and defined outside of it.
  uint32_t meet(size_t user, mlir::Value value, mlir::Block *block) {
    if (std::optional<uint32_t> number = known(value, block))
      return *number + 1;
    mlir::Block *place = value ? value.getParentBlock() : block;
    if (auto peer = indices.find(region.findAncestorBlockInRegion(*place)); peer != indices.end())
      order.refer(user, peer->second);
    return 0;
  }

  const PolicyAttributes &filter;
  LooseDigests::Known known;
  unsigned level;
  std::vector<mlir::Block *> blocks;
  mlir::Region &region;
  ContentOrder order;
  llvm::DenseMap<mlir::Block *, size_t> indices;
};

/// Numbers a scope: puts what cannot be reached in order, too, and leaves out nested scopes.
class Numberer : public NumberAll {
public:
  Numberer(mlir::Operation *entered, const PolicyAttributes &filter, VisitOrder &order,
           Numbers &numbers)
      : NumberAll(order, numbers), entered(entered), filter(filter) {}

  bool descend(mlir::Operation &operation) { return &operation == entered || !isScope(operation); }
  void reached(mlir::Region &region) {
    std::vector<mlir::Block *> rest = unreachable(region, order);
    if (rest.size() > 1)
      rest = orderUnreachable(filter, std::move(rest), 0, [&](auto value, auto *block) {
        return value ? numbers.of(value) : numbers.of(block);
      });
    append(region, rest);
  }

private:
  mlir::Operation *entered;
  const PolicyAttributes &filter;
};

} // namespace

std::vector<mlir::Block *> orderUnreachable(const PolicyAttributes &filter,
                                            std::vector<mlir::Block *> blocks, unsigned level,
                                            LooseDigests::Known known) {
  return Unreachable(filter, known, level, std::move(blocks)).sorted();
}

void orderReachable(mlir::Region &region, VisitOrder &order) {
  if (region.empty() || region.hasOneBlock())
    return;
  std::vector<mlir::Block *> blocks = depthFirst(region);
  if (!isListing(region, blocks))
    order.blocks[&region] = std::move(blocks);
}

void NumberAll::append(mlir::Region &region, llvm::ArrayRef<mlir::Block *> rest) {
  std::vector<mlir::Block *> &blocks = order.blocks[&region];
  blocks.insert(blocks.end(), rest.begin(), rest.end());
}

std::vector<mlir::Block *> unreachable(mlir::Region &region, const VisitOrder &order) {
  const std::vector<mlir::Block *> &blocks = order.blocks.find(&region)->second;
  llvm::DenseSet<mlir::Block *> seen(blocks.begin(), blocks.end());
  std::vector<mlir::Block *> rest;
  for (mlir::Block &block : region)
    if (!seen.contains(&block))
      rest.push_back(&block);
  return rest;
}

void numberInside(mlir::Operation &scope, const PolicyAttributes &filter, VisitOrder &order,
                  Numbers &numbers) {
  Numberer numberer(&scope, filter, order, numbers);
  Walk<Numberer>(order, numberer).run(scope);
}

void numberAround(mlir::Operation &root, const PolicyAttributes &filter, VisitOrder &order,
                  Numbers &numbers) {
  Numberer numberer(nullptr, filter, order, numbers);
  Walk<Numberer>(order, numberer).run(root);
}

} // namespace twinjit
