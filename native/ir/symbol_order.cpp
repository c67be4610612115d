#include "ir/symbol_order.h"

#include "ir/loose_digests.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

namespace twinjit {
namespace {

/// The references in an attribute, each once, in a order that its content gives. By hand:
/// attributes may be nested deeper than a stack is.
llvm::SmallVector<mlir::SymbolRefAttr> referencesIn(mlir::Attribute attribute) {
  llvm::SmallVector<mlir::SymbolRefAttr> found;
  llvm::DenseSet<const void *> seen;
  llvm::SmallVector<llvm::PointerUnion<mlir::Attribute, mlir::Type>> pending = {attribute};
  while (!pending.empty()) {
    auto next = pending.pop_back_val();
    if (next.isNull() || !seen.insert(next.getOpaqueValue()).second)
      continue;
    size_t first = pending.size();
    auto push = [&](auto part) { pending.push_back(part); };
    if (auto inner = llvm::dyn_cast<mlir::Attribute>(next)) {
      if (auto reference = llvm::dyn_cast<mlir::SymbolRefAttr>(inner)) {
        found.push_back(reference);
        continue; // its parts are references by themselves, but of another kind
      }
      inner.walkImmediateSubElements(push, push);
    } else {
      llvm::cast<mlir::Type>(next).walkImmediateSubElements(push, push);
    }
    std::reverse(pending.begin() + first, pending.end());
  }
  return found;
}

/// Collects the renamed symbols that are referred to in an operation and what is nested in it.
struct References {
  const RenamedSymbols &renamed;
  llvm::function_ref<void(mlir::Operation *)> meet;

  void operation(mlir::Operation &operation) {
    mlir::Operation *scope = symbolTableOf(&operation);
    for (mlir::SymbolRefAttr reference : referencesIn(operation.getAttrDictionary()))
      for (mlir::Operation *symbol : renamed.resolve(scope, reference))
        if (symbol)
          meet(symbol);
  }
  bool descend(mlir::Operation &) { return true; }
  void region(mlir::Region &) {}
  void reached(mlir::Region &) {}
  void block(mlir::Block &) {}
  void endBlock(mlir::Block &) {}
  void endOperation(mlir::Operation &) {}
  bool stopped() { return false; }
};

/// Writes nothing for symbols whose order is sought.
class Nameless final : public Identities {
public:
  Nameless(const RenamedSymbols &renamed, mlir::Operation *scope)
      : renamed(renamed), scope(scope) {}

  llvm::SmallVector<std::optional<uint32_t>, 2> symbols(mlir::SymbolRefAttr reference) override {
    llvm::SmallVector<std::optional<uint32_t>, 2> parts;
    for (mlir::Operation *symbol : renamed.resolve(scope, reference))
      parts.push_back(symbol ? std::optional<uint32_t>(0) : std::nullopt);
    return parts;
  }
  bool renamesSymbols() const override { return true; }
  std::optional<uint32_t> distinct(mlir::DistinctAttr) override { return 0; }

private:
  const RenamedSymbols &renamed;
  mlir::Operation *scope;
};

/// The order of one symbol table's block.
class TableOrder {
public:
  TableOrder(mlir::Block &block, const RenamedSymbols &renamed, const VisitOrder &inner)
      : renamed(renamed), inner(inner), table(block.getParentOp()) {
    for (mlir::Operation &operation : block) {
      if (!symbolName(&operation))
        result.push_back(&operation);
      else if (renamed.contains(&operation))
        unnamed.insert(&operation);
      else
        named.push_back(&operation);
    }
    llvm::stable_sort(named, [](mlir::Operation *a, mlir::Operation *b) {
      return symbolName(a).getValue() < symbolName(b).getValue();
    });
    result.insert(result.end(), named.begin(), named.end());
  }

  std::vector<mlir::Operation *> sorted() {
    follow();
    if (unnamed.empty())
      return std::move(result);
    std::vector<std::pair<Digest, mlir::Operation *>> rest = byContent();
    for (auto [digest, operation] : rest) {
      meet(operation);
      follow();
    }
    return std::move(result);
  }

private:
  void meet(mlir::Operation *symbol) {
    if (unnamed.remove(symbol))
      result.push_back(symbol);
  }

  /// Append what is referred to by what is there already.
  void follow() {
    for (; followed != result.size() && !unnamed.empty(); ++followed) {
      auto onMeeting = [this](mlir::Operation *symbol) { meet(symbol); };
      References references{renamed, onMeeting};
      Walk<References>(inner, references).run(*result[followed]);
    }
  }

  std::vector<std::pair<Digest, mlir::Operation *>> byContent() {
    Nameless identities(renamed, table);
    LooseDigests digests(table->getContext(), identities);
    std::vector<std::pair<Digest, mlir::Operation *>> rest;
    for (mlir::Operation *operation : unnamed)
      rest.push_back({digestWithoutName(digests, operation), operation});
    llvm::stable_sort(rest, [](const auto &a, const auto &b) { return a.first < b.first; });
    return rest;
  }

  static Digest digestWithoutName(LooseDigests &digests, mlir::Operation *operation) {
    auto outside = [](mlir::Value, mlir::Block *) -> uint32_t { return 0; };
    mlir::NamedAttrList attributes(operation->getAttrDictionary());
    attributes.erase(mlir::SymbolTable::getSymbolAttrName());
    FieldHasher fields;
    fields.string(operation->getName().getStringRef());
    fields.digest(digests.of(attributes.getDictionary(operation->getContext())));
    for (mlir::Region &region : operation->getRegions())
      for (mlir::Block &block : region)
        fields.digest(digests.of(block, outside));
    return fields.finish();
  }

  const RenamedSymbols &renamed;
  const VisitOrder &inner;
  mlir::Operation *table;
  llvm::SetVector<mlir::Operation *> unnamed; // not yet in `result`
  std::vector<mlir::Operation *> named;
  std::vector<mlir::Operation *> result;
  size_t followed = 0; // how many of `result` have been looked through
};

} // namespace

static void orderBlocks(llvm::ArrayRef<mlir::Operation *> scopes, VisitOrder &order) {
  Numbers numbers;
  for (mlir::Operation *scope : scopes) {
    numbers.clear();
    numberInside(*scope, order, numbers);
  }
}

void orderSymbols(mlir::Operation *root, const Policy &policy, const RenamedSymbols &renamed,
                  VisitOrder &order) {
  if (!policy.ignoreSymbolOrder)
    return;
  std::vector<mlir::Block *> tables;
  std::vector<mlir::Operation *> scopes;
  llvm::SmallVector<mlir::Operation *> pending = {root};
  while (!pending.empty()) {
    mlir::Operation *operation = pending.pop_back_val();
    if (operation == root || isScope(*operation))
      scopes.push_back(operation);
    if (operation->hasTrait<mlir::OpTrait::SymbolTable>() && operation->getNumRegions() == 1 &&
        operation->getRegion(0).hasOneBlock())
      tables.push_back(&operation->getRegion(0).front());
    for (mlir::Region &region : operation->getRegions())
      for (mlir::Operation &inner : region.getOps())
        if (inner.getNumRegions() != 0)
          pending.push_back(&inner);
  }
  orderBlocks(scopes, order);
  // Tables inside come first, so that references in them are met in their order.
  for (mlir::Block *block : llvm::reverse(tables))
    order.operations[block] = TableOrder(*block, renamed, order).sorted();
}

} // namespace twinjit
