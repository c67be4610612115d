#include "ir/symbol_order.h"

#include "ir/content_order.h"
#include "ir/loose_digests.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

namespace twinjit {
namespace {

/// The renamed symbols that are referred to in a table and defined further out, by table.
using OutwardReferences =
    llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *, 0>>;

/// Meets the renamed symbols that are referred to in operations of one table, and in what is nested
/// in them.
struct References : PlainVisitor {
  const RenamedSymbols &renamed;
  const OutwardReferences &ofTables;
  mlir::Operation *table;
  llvm::function_ref<void(mlir::Operation *)> meet;

  void operation(mlir::Operation &operation) {
    mlir::Operation *scope = isSymbolTable(operation) ? &operation : table;
    for (mlir::SymbolRefAttr reference : referencesIn(operation.getAttrDictionary()))
      for (mlir::Operation *symbol : renamed.resolve(scope, reference))
        if (symbol)
          meet(symbol);
  }
  bool descend(mlir::Operation &operation) {
    if (!isSymbolTable(operation))
      return true;
    if (auto found = ofTables.find(&operation); found != ofTables.end())
      for (mlir::Operation *symbol : found->second)
        meet(symbol);
    return false;
  }
};

/// The order of one symbol table's block.
class TableOrder {
public:
  TableOrder(mlir::Operation &table, const PolicyAttributes &filter, const VisitOrder &inner,
             const OutwardReferences &ofTables)
      : table(table), filter(filter), inner(inner), ofTables(ofTables) {}

  /// The operations in order, whatever the policy says of it.
  std::vector<mlir::Operation *> sorted() {
    addNamed();
    follow();
    for (mlir::Operation *operation : leastReferredTo()) {
      add(operation);
      follow();
    }
    return std::move(result);
  }

  std::vector<mlir::Operation *> listed() {
    for (mlir::Operation &operation : table.getRegion(0).front())
      result.push_back(&operation);
    follow();
    return std::move(result);
  }

  /// What was referred to and is not in the table.
  llvm::SmallVector<mlir::Operation *, 0> takeOutward() { return outward.takeVector(); }

private:
  void addNamed() {
    std::vector<mlir::Operation *> named;
    for (mlir::Operation &operation : table.getRegion(0).front()) {
      if (!symbolName(&operation))
        result.push_back(&operation);
      else if (filter.symbols.contains(&operation))
        unnamed.insert(&operation);
      else
        named.push_back(&operation);
    }
    llvm::stable_sort(named, [](mlir::Operation *a, mlir::Operation *b) {
      return symbolName(a).getValue() < symbolName(b).getValue();
    });
    result.insert(result.end(), named.begin(), named.end());
  }

  void add(mlir::Operation *symbol) {
    if (unnamed.remove(symbol))
      result.push_back(symbol);
  }

  /// Append what is referred to by what is there already.
  void follow() {
    if (filter.symbols.empty())
      return;
    for (; followed != result.size(); ++followed)
      visit(*result[followed], [this](mlir::Operation *symbol) {
        if (symbol->getParentOp() == &table)
          add(symbol);
        else
          outward.insert(symbol);
      });
  }

  void visit(mlir::Operation &operation, llvm::function_ref<void(mlir::Operation *)> meet) {
    References references{{}, filter.symbols, ofTables, &table, meet};
    Walk<References>(inner, references).run(operation);
  }

  /// Those that nothing so far refers to, in an order in which they may be followed.
  std::vector<mlir::Operation *> leastReferredTo() {
    std::vector<mlir::Operation *> rest(unnamed.begin(), unnamed.end());
    if (rest.size() < 2)
      return rest;
    llvm::DenseMap<mlir::Operation *, size_t> indices;
    for (size_t i = 0; i != rest.size(); ++i)
      indices.try_emplace(rest[i], i);
    ContentOrder order(rest.size(), /*unordered=*/false);
    LooseDigests digests(filter, table.getContext(), &table);
    for (size_t i = 0; i != rest.size(); ++i) {
      order.describe(i, digests.ofSymbol(*rest[i]));
      visit(*rest[i], [&](mlir::Operation *symbol) {
        if (auto found = indices.find(symbol); found != indices.end())
          order.refer(i, found->second);
      });
    }
    std::vector<mlir::Operation *> sorted;
    for (size_t i : order.sorted())
      sorted.push_back(rest[i]);
    return sorted;
  }

  mlir::Operation &table;
  const PolicyAttributes &filter;
  const VisitOrder &inner;
  const OutwardReferences &ofTables;
  llvm::SetVector<mlir::Operation *> unnamed; // not yet in `result`
  llvm::SetVector<mlir::Operation *> outward;
  std::vector<mlir::Operation *> result;
  size_t followed = 0; // how many of `result` have been looked through
};

/// Settles the order of blocks, and collects the symbol tables, each before those in it.
struct BlockOrders : PlainVisitor {
  const PolicyAttributes &filter;
  VisitOrder &order;
  mlir::Operation *root;
  std::vector<mlir::Operation *> tables;
  Numbers numbers = Numbers();

  void operation(mlir::Operation &operation) {
    if (&operation == root || (operation.getNumRegions() != 0 && isScope(operation))) {
      numbers.clear();
      numberInside(operation, filter, order, numbers);
    }
    if (isSymbolTable(operation) && operation.getNumRegions() == 1 &&
        operation.getRegion(0).hasOneBlock())
      tables.push_back(&operation);
  }
};

/// Whether the order in a symbol table means nothing. In other tables it may: a class's fields lie
/// in memory as they are listed.
bool isUnordered(mlir::Operation &table) {
  return llvm::isa<mlir::ModuleOp>(table) || table.getName().getStringRef() == "gpu.module";
}

} // namespace

void orderSymbols(mlir::Operation *root, const PolicyAttributes &filter, VisitOrder &order) {
  if (!filter.policy.ignoreSymbolOrder)
    return;
  const VisitOrder listing;
  BlockOrders blocks{{}, filter, order, root, {}};
  Walk<BlockOrders>(listing, blocks).run(*root);
  OutwardReferences ofTables;
  // Tables inside come first, so that references in them are met in their order.
  for (mlir::Operation *table : llvm::reverse(blocks.tables)) {
    TableOrder sorter(*table, filter, order, ofTables);
    if (isUnordered(*table))
      order.operations[&table->getRegion(0).front()] = sorter.sorted();
    else
      sorter.listed();
    ofTables[table] = sorter.takeOutward();
  }
}

} // namespace twinjit
