#include "ir/symbol_renaming.h"

#include "ir/operation_attributes.h"
#include "ir/walk.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/SymbolTable.h"

namespace twinjit {
namespace {

/// Replaces references in attributes and types.
class References {
public:
  References(const RenamedSymbols &lookup, const NewNames &names) : lookup(lookup), names(names) {}

  /// Go on in another symbol table, where names may mean something else.
  void enter(mlir::Operation *table) {
    scope = table;
    replacer.emplace();
    replacer->addReplacement([this](mlir::SymbolRefAttr reference) {
      // The parts are references by themselves, but of another kind.
      return std::make_pair(mlir::Attribute(renamed(reference)), mlir::WalkResult::skip());
    });
  }

  template <typename T> T replace(T value) { return replacer->replace(value); }

private:
  mlir::SymbolRefAttr renamed(mlir::SymbolRefAttr reference) {
    llvm::SmallVector<mlir::Operation *, 2> symbols = lookup.lookUp(scope, reference);
    auto nameOf = [&](size_t part, mlir::StringAttr old) {
      mlir::StringAttr name = names.lookup(symbols[part]);
      return name ? name : old;
    };
    llvm::SmallVector<mlir::FlatSymbolRefAttr> nested;
    for (auto [i, part] : llvm::enumerate(reference.getNestedReferences()))
      nested.push_back(mlir::FlatSymbolRefAttr::get(nameOf(i + 1, part.getAttr())));
    return mlir::SymbolRefAttr::get(nameOf(0, reference.getRootReference()), nested);
  }

  const RenamedSymbols &lookup;
  const NewNames &names;
  mlir::Operation *scope = nullptr;
  std::optional<mlir::AttrTypeReplacer> replacer;
};

/// Visits every attribute and type of a program, each in the symbol table that its names are looked
/// up in. A Visitor has visit(Operation &), visit(Block &) and enter(Operation *table).
template <typename Visitor> struct ByTable : PlainVisitor {
  Visitor &visitor;
  llvm::SmallVector<mlir::Operation *> tables = {nullptr}; // null is around the root

  void operation(mlir::Operation &operation) {
    if (isSymbolTable(operation)) { // its own attributes may mean what is in it
      tables.push_back(&operation);
      visitor.enter(&operation);
    }
    visitor.visit(operation);
  }
  void block(mlir::Block &block) { visitor.visit(block); }
  void endOperation(mlir::Operation &operation) {
    if (!isSymbolTable(operation))
      return;
    tables.pop_back();
    visitor.enter(tables.back());
  }
};

template <typename Visitor> void visitByTable(mlir::Operation *root, Visitor &visitor) {
  const VisitOrder listing;
  ByTable<Visitor> byTable{{}, visitor};
  visitor.enter(nullptr);
  Walk<ByTable<Visitor>>(listing, byTable).run(*root);
}

class Renamer {
public:
  Renamer(const RenamedSymbols &lookup, const NewNames &names)
      : references(lookup, names), names(names) {}

  void enter(mlir::Operation *table) { references.enter(table); }

  void visit(mlir::Operation &operation) {
    if (auto refused = replaceIn(operation, references))
      failure = std::move(refused);
    if (mlir::StringAttr name = names.lookup(&operation))
      mlir::SymbolTable::setSymbolName(&operation, name);
  }

  void visit(mlir::Block &block) { replaceIn(block, references); }

  std::optional<Failure> failure;

private:
  References references;
  const NewNames &names;
};

class NameCollector {
public:
  NameCollector(const RenamedSymbols &lookup, const llvm::DenseSet<mlir::Operation *> &symbols)
      : lookup(lookup), symbols(symbols) {}

  void enter(mlir::Operation *table) {
    scope = table;
    walker.emplace();
    walker->addWalk([this](mlir::SymbolRefAttr reference) {
      collect(reference);
      return mlir::WalkResult::skip();
    });
  }

  void visit(mlir::Operation &operation) {
    if (mlir::StringAttr name = symbolName(&operation); name && !symbols.contains(&operation))
      names.insert(name.getValue());
    if (mlir::Attribute properties = operation.getPropertiesAsAttribute())
      walk(properties);
    walk(mlir::Attribute(operation.getRawDictionaryAttrs()));
    for (mlir::Type type : operation.getResultTypes())
      walk(type);
  }

  void visit(mlir::Block &block) {
    for (mlir::Type type : block.getArgumentTypes())
      walk(type);
  }

  llvm::StringSet<> names;

private:
  template <typename T> void walk(T value) {
    walker->walk<mlir::WalkOrder::PreOrder>(value); // so that the parts of references are skipped
  }

  void collect(mlir::SymbolRefAttr reference) {
    llvm::SmallVector<mlir::Operation *, 2> parts = lookup.lookUp(scope, reference);
    if (!symbols.contains(parts.front()))
      names.insert(reference.getRootReference().getValue());
    for (auto [i, part] : llvm::enumerate(reference.getNestedReferences()))
      if (!symbols.contains(parts[i + 1]))
        names.insert(part.getValue());
  }

  const RenamedSymbols &lookup;
  const llvm::DenseSet<mlir::Operation *> &symbols;
  mlir::Operation *scope = nullptr;
  std::optional<mlir::AttrTypeWalker> walker;
};

} // namespace

llvm::StringSet<> otherNames(mlir::Operation *root, const RenamedSymbols &lookup,
                             const llvm::DenseSet<mlir::Operation *> &symbols) {
  NameCollector collector(lookup, symbols);
  visitByTable(root, collector);
  return std::move(collector.names);
}

std::optional<Failure> renameSymbols(mlir::Operation *root, const RenamedSymbols &lookup,
                                     const NewNames &names) {
  Renamer renamer(lookup, names);
  visitByTable(root, renamer);
  return std::move(renamer.failure);
}

} // namespace twinjit
