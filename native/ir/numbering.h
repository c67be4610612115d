// Numbers for the values and blocks of a program, given before their first use.
#pragma once

#include "ir/identity_memo.h"
#include "ir/walk.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace twinjit {

/// Numbers of values and of blocks, each counted from 0.
class Numbers {
public:
  void define(mlir::Operation &operation) {
    if (operation.getNumResults() == 0)
      return;
    operations.try_emplace(&operation, values);
    values += operation.getNumResults();
  }

  void define(mlir::Block &block) {
    blocks.try_emplace(&block, BlockNumbers{blockCount++, values});
    values += block.getNumArguments();
  }

  std::optional<uint32_t> of(mlir::Value value) const {
    if (auto result = llvm::dyn_cast<mlir::OpResult>(value)) {
      auto found = operations.find(result.getOwner());
      if (found == operations.end())
        return std::nullopt;
      return found->second + result.getResultNumber();
    }
    auto argument = llvm::cast<mlir::BlockArgument>(value);
    auto found = blocks.find(argument.getOwner());
    if (found == blocks.end())
      return std::nullopt;
    return found->second.firstArgument + argument.getArgNumber();
  }

  std::optional<uint32_t> of(mlir::Block *block) const {
    auto found = blocks.find(block);
    return found == blocks.end() ? std::nullopt : std::optional<uint32_t>(found->second.block);
  }

  /// Give a block's number to none.
  void skipBlock() { ++blockCount; }

  void clear() {
    operations.clear();
    blocks.clear();
    values = blockCount = 0;
  }

private:
  struct BlockNumbers {
    uint32_t block;
    uint32_t firstArgument;
  };
  llvm::DenseMap<const void *, uint32_t, ByAddress> operations; // the first result's
  llvm::DenseMap<const void *, BlockNumbers, ByAddress> blocks;
  uint32_t values = 0;
  uint32_t blockCount = 0;
};

/// Whether `operation` is walked as a scope of its own: its regions use no value from outside, so
/// that what it is does not depend on where it stands, and tables stay small.
inline bool isScope(mlir::Operation &operation) {
  return operation.hasTrait<mlir::OpTrait::IsIsolatedFromAbove>();
}

class PolicyAttributes;

/// Number what `scope` and the regions in it define, down to nested scopes, and settle the order of
/// the blocks in these regions: the entry, then depth first through successors; then what cannot be
/// reached, by content. Regions whose listing has this order have no entry in `order`.
void numberInside(mlir::Operation &scope, const PolicyAttributes &filter, VisitOrder &order,
                  Numbers &numbers);

/// The same, of what stands around `root` in a program that is `root` alone: `root` itself, and
/// unless it is a scope, what is in it.
void numberAround(mlir::Operation &root, const PolicyAttributes &filter, VisitOrder &order,
                  Numbers &numbers);

/// Settle the order of the blocks of `region` that can be reached, unless it is that of listing and
/// leaves none out.
void orderReachable(mlir::Region &region, VisitOrder &order);

/// The blocks of a region that its order has not, as they are listed.
std::vector<mlir::Block *> unreachable(mlir::Region &region, const VisitOrder &order);

/// Put blocks of one region that cannot be reached in order, by content. `known` gives the numbers
/// of what is defined around them; `level` counts in how many such blocks they are.
std::vector<mlir::Block *>
orderUnreachable(const PolicyAttributes &filter, std::vector<mlir::Block *> blocks, unsigned level,
                 llvm::function_ref<std::optional<uint32_t>(mlir::Value, mlir::Block *)> known);

/// Numbers all that it visits. Settles the order of blocks meanwhile: those that cannot be reached
/// come as they are listed.
class NumberAll : public PlainVisitor {
public:
  NumberAll(VisitOrder &order, Numbers &numbers) : order(order), numbers(numbers) {}

  void operation(mlir::Operation &operation) { numbers.define(operation); }
  void region(mlir::Region &region) { orderReachable(region, order); }
  void reached(mlir::Region &region) { append(region, unreachable(region, order)); }
  void block(mlir::Block &block) { numbers.define(block); }

protected:
  void append(mlir::Region &region, llvm::ArrayRef<mlir::Block *> rest);

  VisitOrder &order;
  Numbers &numbers;
};

} // namespace twinjit
