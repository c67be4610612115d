// Numbers of values and blocks while a program is walked.
#pragma once

#include "ir/numbering.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <vector>

namespace twinjit {

/// The numbers of numbering.h, in the scopes that are open. They are given as things are met, which
/// spares a walk where nothing is used before its definition; where something is, what is left of
/// the scope is numbered ahead.
class ScopeNumbers {
public:
  /// Starts around `root`. Settles in `order` the order of blocks that it numbers ahead.
  ScopeNumbers(mlir::Operation *root, const PolicyAttributes &filter, VisitOrder &order)
      : root(root), filter(filter), order(order) {
    open(nullptr);
  }

  void enter(mlir::Operation &operation) {
    open(&operation);
    define(operation);
  }
  void leave() { --depth; }

  /// Whether no scope was entered.
  bool isAround() const { return depth == 1; }

  /// On meeting an operation or block. What has its number already keeps it.
  template <typename T> void define(T &thing) {
    if (!scope().isAhead)
      scope().numbers.define(thing);
  }

  /// The number of a value or block; none if it is defined outside of the scope.
  template <typename T> std::optional<uint32_t> find(T thing) {
    std::optional<uint32_t> number = scope().numbers.of(thing);
    if (number || scope().isAhead)
      return number;
    goAhead();
    return scope().numbers.of(thing);
  }

  /// Number all of the scope. For regions of several blocks, which refer to later ones, and whose
  /// order is to be settled before they are visited.
  void goAhead() {
    if (scope().isAhead)
      return;
    scope().isAhead = true;
    begin();
    if (scope().operation)
      numberInside(*scope().operation, filter, order, scope().numbers);
    else
      numberAround(*root, filter, order, scope().numbers);
  }

private:
  struct Scope {
    mlir::Operation *operation = nullptr; // null: what is around the root
    Numbers numbers;
    bool isAhead = false;
  };

  Scope &scope() { return *scopes[depth - 1]; }

  void open(mlir::Operation *operation) {
    if (depth == scopes.size())
      scopes.push_back(std::make_unique<Scope>());
    ++depth;
    scope().operation = operation;
    scope().isAhead = false;
    begin();
  }

  void begin() {
    scope().numbers.clear();
    if (!scope().operation && !llvm::isa<mlir::ModuleOp>(root))
      scope().numbers.skipBlock(); // that of the module around the root
  }

  mlir::Operation *root;
  const PolicyAttributes &filter;
  VisitOrder &order;
  std::vector<std::unique_ptr<Scope>> scopes; // that are open, and some to reuse
  size_t depth = 0;                           // how many are open
};

} // namespace twinjit
