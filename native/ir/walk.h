// A walk through a program that needs no stack of the thread's: regions may be nested without
// limit.
#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Region.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace twinjit {

/// The order in which blocks and operations are visited, where it is not the order of listing.
struct VisitOrder {
  llvm::DenseMap<mlir::Region *, std::vector<mlir::Block *>> blocks;
  llvm::DenseMap<mlir::Block *, std::vector<mlir::Operation *>> operations;
};

/// A Visitor that visits all and does nothing, for others to derive from.
struct PlainVisitor {
  void operation(mlir::Operation &) {}
  bool descend(mlir::Operation &) { return true; }
  void region(mlir::Region &) {}
  void reached(mlir::Region &) {}
  void block(mlir::Block &) {}
  void endBlock(mlir::Block &) {}
  void endOperation(mlir::Operation &) {}
  bool stopped() { return false; }
};

/// Visits an operation and what is nested in it. A Visitor has
///   void operation(Operation &)     on meeting one
///   bool descend(Operation &)       whether to visit its regions; asked if it has any
///   void region(Region &)           on meeting one, before its order is looked up
///   void reached(Region &)          after the last block that its order has; may append to that
///   void block(Block &)             on meeting one
///   void endBlock(Block &)
///   void endOperation(Operation &)  after its regions
///   bool stopped()                  to visit nothing more
template <typename Visitor> class Walk {
public:
  Walk(const VisitOrder &order, Visitor &visitor) : order(order), visitor(visitor) {}

  void run(mlir::Operation &root) {
    meet(root);
    while (!cursors.empty() && !visitor.stopped())
      step(cursors.back());
  }

  /// Visit what is in `block` alone.
  void runInside(mlir::Block &block) {
    for (mlir::Operation &operation : block) {
      run(operation);
      if (visitor.stopped())
        return;
    }
  }

private:
  /// Where the walk is in an operation's regions.
  struct Cursor {
    explicit Cursor(mlir::Operation *operation) : operation(operation) {}

    mlir::Operation *operation;
    unsigned region = 0;
    mlir::Block *block = nullptr;    // null between regions
    size_t blockIndex = 0;           // in the region's order, where it has one
    mlir::Operation *next = nullptr; // in `block`, where that has no order
    const std::vector<mlir::Operation *> *operations = nullptr;
    size_t operationIndex = 0;
  };

  void meet(mlir::Operation &operation) {
    visitor.operation(operation);
    if (operation.getNumRegions() != 0 && visitor.descend(operation))
      cursors.emplace_back(&operation);
  }

  void step(Cursor &cursor) {
    if (!cursor.block)
      return enterRegion(cursor);
    if (mlir::Operation *operation = take(cursor))
      return meet(*operation); // `cursor` may dangle from here
    visitor.endBlock(*cursor.block);
    if (mlir::Block *next = nextBlock(cursor))
      return enterBlock(cursor, next);
    cursor.block = nullptr;
    ++cursor.region;
  }

  void enterRegion(Cursor &cursor) {
    if (cursor.region == cursor.operation->getNumRegions()) {
      mlir::Operation *done = cursor.operation;
      cursors.pop_back();
      return visitor.endOperation(*done);
    }
    mlir::Region &region = cursor.operation->getRegion(cursor.region);
    visitor.region(region);
    if (region.empty()) {
      ++cursor.region;
      return;
    }
    cursor.blockIndex = 0;
    enterBlock(cursor, &region.front()); // every order begins with the entry
  }

  void enterBlock(Cursor &cursor, mlir::Block *block) {
    cursor.block = block;
    cursor.next = block->empty() ? nullptr : &block->front();
    cursor.operationIndex = 0;
    cursor.operations = nullptr;
    if (!order.operations.empty())
      if (auto found = order.operations.find(block); found != order.operations.end())
        cursor.operations = &found->second;
    visitor.block(*block);
  }

  mlir::Operation *take(Cursor &cursor) {
    if (cursor.operations)
      return cursor.operationIndex < cursor.operations->size()
                 ? (*cursor.operations)[cursor.operationIndex++]
                 : nullptr;
    mlir::Operation *operation = cursor.next;
    if (operation) {
      cursor.next = operation->getNextNode();
      fetch(cursor.next);
    }
    return operation;
  }

  /// Have the processor read what is visited next, while the visitor is at work.
  static void fetch(const mlir::Operation *operation) {
    const char *address = reinterpret_cast<const char *>(operation);
    __builtin_prefetch(address);
    __builtin_prefetch(address + 64);
    __builtin_prefetch(address + 128);
  }

  mlir::Block *nextBlock(Cursor &cursor) {
    mlir::Region &region = cursor.operation->getRegion(cursor.region);
    if (region.hasOneBlock())
      return nullptr;
    auto found = order.blocks.find(&region);
    if (found == order.blocks.end())
      return cursor.block->getNextNode();
    if (++cursor.blockIndex == found->second.size()) {
      visitor.reached(region);
      found = order.blocks.find(&region);
    }
    return cursor.blockIndex < found->second.size() ? found->second[cursor.blockIndex] : nullptr;
  }

  const VisitOrder &order;
  Visitor &visitor;
  llvm::SmallVector<Cursor, 8> cursors;
};

} // namespace twinjit
