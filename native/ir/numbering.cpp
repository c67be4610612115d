#include "ir/numbering.h"

#include "ir/loose_digests.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

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

/// Gives blocks that cannot be reached an order by what they are. A block's colour covers what is
/// in it, where it refers to what has a number already, and, round by round, the colours of the
/// blocks it refers to and of those it is referred to by. Blocks that none refers to come first,
/// each followed by those it leads to.
///
/// Blocks that nothing tells apart stay in the order of listing: programs that differ there alone
/// may be told apart for their listing, but are never merged.
class Unreachable {
public:
  Unreachable(const Numbers &outer, std::vector<mlir::Block *> unordered)
      : outer(outer), blocks(std::move(unordered)), uses(blocks.size()), users(blocks.size()) {
    for (size_t i = 0; i != blocks.size(); ++i)
      indices.try_emplace(blocks[i], i);
  }

  std::vector<mlir::Block *> sorted() {
    describe();
    // A refinement never merges colours, so that one which tells no more apart is the last.
    size_t known = count();
    for (size_t before = 0, round = 0; before < known && round != kMaxRounds; ++round) {
      before = known;
      refine();
      known = count();
    }
    std::vector<size_t> starts(blocks.size());
    for (size_t i = 0; i != starts.size(); ++i)
      starts[i] = i;
    llvm::stable_sort(starts, [&](size_t a, size_t b) {
      return std::make_pair(!users[a].empty(), colours[a]) <
             std::make_pair(!users[b].empty(), colours[b]);
    });
    return follow(std::move(starts));
  }

private:
  /// Leaves out what depends on the order that is sought.
  struct Nameless final : Identities {
    std::optional<uint32_t> distinct(mlir::DistinctAttr) override { return 0; }
  };

  /// Rounds to tell apart blocks at most; their number is bounded by that of the blocks.
  static constexpr size_t kMaxRounds = 64;

  void describe() {
    Nameless identities;
    LooseDigests digests(blocks.front()->getParent()->getContext(), identities);
    for (size_t i = 0; i != blocks.size(); ++i) {
      auto outside = [&](mlir::Value value, mlir::Block *block) -> uint32_t {
        std::optional<uint32_t> number = value ? outer.of(value) : outer.of(block);
        if (number)
          return *number + 1;
        if (std::optional<size_t> peer = indexOf(value ? value.getParentBlock() : block)) {
          uses[i].push_back(*peer);
          users[*peer].push_back(i);
        }
        return 0;
      };
      colours.push_back(digests.of(*blocks[i], outside));
    }
  }

  /// The one of `blocks` that `block` is or lies in, if any.
  std::optional<size_t> indexOf(mlir::Block *block) {
    auto found = indices.find(blocks.front()->getParent()->findAncestorBlockInRegion(*block));
    return found == indices.end() ? std::nullopt : std::optional<size_t>(found->second);
  }

  void refine() {
    std::vector<Digest> refined;
    refined.reserve(blocks.size());
    for (size_t i = 0; i != blocks.size(); ++i) {
      FieldHasher colour;
      colour.digest(colours[i]);
      colour.number(uses[i].size());
      for (size_t used : uses[i])
        colour.digest(colours[used]);
      std::vector<Digest> others;
      others.reserve(users[i].size());
      for (size_t user : users[i])
        others.push_back(colours[user]);
      llvm::sort(others);
      for (const Digest &other : others)
        colour.digest(other);
      refined.push_back(colour.finish());
    }
    colours = std::move(refined);
  }

  size_t count() const {
    std::vector<Digest> all = colours;
    llvm::sort(all);
    return static_cast<size_t>(std::unique(all.begin(), all.end()) - all.begin());
  }

  std::vector<mlir::Block *> follow(std::vector<size_t> starts) const {
    std::vector<mlir::Block *> order;
    std::vector<bool> seen(blocks.size());
    std::reverse(starts.begin(), starts.end());
    std::vector<size_t> pending = std::move(starts);
    while (!pending.empty()) {
      size_t i = pending.back();
      pending.pop_back();
      if (seen[i])
        continue;
      seen[i] = true;
      order.push_back(blocks[i]);
      pending.insert(pending.end(), uses[i].rbegin(), uses[i].rend());
    }
    return order;
  }

  const Numbers &outer;
  std::vector<mlir::Block *> blocks;
  std::vector<std::vector<size_t>> uses;  // which of `blocks` each refers to, in order
  std::vector<std::vector<size_t>> users; // and which refer to each
  std::vector<Digest> colours;
  llvm::DenseMap<mlir::Block *, size_t> indices;
};

/// Numbers what it visits.
class Numberer {
public:
  Numberer(mlir::Operation *entered, VisitOrder &order, Numbers &numbers)
      : entered(entered), order(order), numbers(numbers) {}

  void operation(mlir::Operation &operation) { numbers.define(operation); }
  bool descend(mlir::Operation &operation) { return &operation == entered || !isScope(operation); }

  void region(mlir::Region &region) {
    if (region.empty() || region.hasOneBlock())
      return;
    std::vector<mlir::Block *> blocks = depthFirst(region);
    if (!isListing(region, blocks))
      order.blocks[&region] = std::move(blocks);
  }

  void reached(mlir::Region &region) {
    std::vector<mlir::Block *> &blocks = order.blocks[&region];
    llvm::DenseSet<mlir::Block *> seen(blocks.begin(), blocks.end());
    std::vector<mlir::Block *> rest;
    for (mlir::Block &block : region)
      if (!seen.contains(&block))
        rest.push_back(&block);
    if (rest.size() > 1)
      rest = Unreachable(numbers, std::move(rest)).sorted();
    blocks.insert(blocks.end(), rest.begin(), rest.end());
  }

  void block(mlir::Block &block) { numbers.define(block); }
  void endBlock(mlir::Block &) {}
  void endOperation(mlir::Operation &) {}
  bool stopped() { return false; }

private:
  mlir::Operation *entered;
  VisitOrder &order;
  Numbers &numbers;
};

} // namespace

void numberInside(mlir::Operation &scope, VisitOrder &order, Numbers &numbers) {
  Numberer numberer(&scope, order, numbers);
  Walk<Numberer>(order, numberer).run(scope);
}

void numberAround(mlir::Operation &root, VisitOrder &order, Numbers &numbers) {
  Numberer numberer(nullptr, order, numbers);
  Walk<Numberer>(order, numberer).run(root);
}

} // namespace twinjit
