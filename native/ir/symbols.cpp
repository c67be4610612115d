#include "ir/symbols.h"

#include "common/words.h"
#include "ir/policy_attributes.h"
#include "ir/walk.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/PointerUnion.h"
#include "llvm/ADT/STLExtras.h"

namespace twinjit {
namespace {

bool isPrivateLinkage(mlir::LLVM::Linkage linkage) {
  return linkage == mlir::LLVM::Linkage::Private || linkage == mlir::LLVM::Linkage::Internal;
}

bool isPrivate(mlir::Operation *symbol) {
  if (auto function = llvm::dyn_cast<mlir::LLVM::LLVMFuncOp>(symbol))
    if (isPrivateLinkage(function.getLinkage()))
      return true;
  if (auto global = llvm::dyn_cast<mlir::LLVM::GlobalOp>(symbol))
    if (isPrivateLinkage(global.getLinkage()))
      return true;
  return mlir::SymbolTable::getSymbolVisibility(symbol) == mlir::SymbolTable::Visibility::Private;
}

bool isDefinition(mlir::Operation *symbol) {
  if (auto global = llvm::dyn_cast<mlir::memref::GlobalOp>(symbol))
    return !global.isExternal();
  if (auto global = llvm::dyn_cast<mlir::LLVM::GlobalOp>(symbol))
    return global.getValueOrNull() || !global.getInitializerRegion().empty();
  return llvm::any_of(symbol->getRegions(), [](mlir::Region &region) { return !region.empty(); });
}

/// Meets an attribute and those in it, each once; `meet` says whether to go on into its parts.
/// Attributes may be nested deeper than a stack is.
void eachPart(mlir::Attribute attribute, llvm::function_ref<bool(mlir::Attribute)> meet) {
  llvm::DenseSet<const void *> seen;
  llvm::SmallVector<llvm::PointerUnion<mlir::Attribute, mlir::Type>> pending = {attribute};
  while (!pending.empty()) {
    auto next = pending.pop_back_val();
    if (next.isNull() || !seen.insert(next.getOpaqueValue()).second)
      continue;
    size_t first = pending.size();
    auto push = [&](auto part) { pending.push_back(part); };
    if (auto type = llvm::dyn_cast<mlir::Type>(next))
      type.walkImmediateSubElements(push, push);
    else if (auto inner = llvm::cast<mlir::Attribute>(next); meet(inner))
      inner.walkImmediateSubElements(push, push);
    std::reverse(pending.begin() + first, pending.end());
  }
}

/// Whether an attribute has text in which names may be anywhere: assembly, and LLVM's attributes of
/// functions.
bool holdsText(mlir::StringAttr name) {
  return name == mlir::LLVM::LLVMDialect::getModuleLevelAsmAttrName() || name == "asm_string" ||
         name == "passthrough";
}

} // namespace

mlir::StringAttr symbolName(mlir::Operation *operation) {
  return operation->getAttrOfType<mlir::StringAttr>(mlir::SymbolTable::getSymbolAttrName());
}

llvm::SmallVector<mlir::SymbolRefAttr> referencesIn(mlir::Attribute attribute) {
  llvm::SmallVector<mlir::SymbolRefAttr> found;
  eachPart(attribute, [&](mlir::Attribute part) {
    auto reference = llvm::dyn_cast<mlir::SymbolRefAttr>(part);
    if (reference)
      found.push_back(reference);
    return !reference; // its parts are references by themselves, but of another kind
  });
  return found;
}

/// Finds all symbols, and the names that are defined where it is not clear by what rules.
class SymbolCollector : public PlainVisitor {
public:
  SymbolCollector(RenamedSymbols &symbols, mlir::Operation *root) : symbols(symbols), root(root) {
    levels.push_back({nullptr, {}}); // has nothing but the root in it
    if (!llvm::isa<mlir::ModuleOp>(root))
      add(*root);
  }

  void operation(mlir::Operation &operation) {
    if (isSymbolTable(operation))
      enter(operation);
    if (&operation == root || isSymbolTable(*operation.getParentOp()))
      return;
    if (mlir::StringAttr name = symbolName(&operation))
      unclear.insert(name);
  }
  void endOperation(mlir::Operation &operation) {
    if (isSymbolTable(operation))
      leave();
  }

  llvm::DenseSet<mlir::StringAttr> unclear;

private:
  struct Level {
    mlir::Operation *table;
    /// Names that have another meaning further out, and that.
    llvm::SmallVector<std::pair<mlir::StringAttr, mlir::Operation *>> hidden;
  };

  void enter(mlir::Operation &table) {
    symbols.outer[&table] = levels.back().table;
    levels.push_back({&table, {}});
    for (mlir::Region &region : table.getRegions())
      for (mlir::Operation &inner : region.getOps())
        add(inner);
  }

  void leave() {
    for (auto [name, operation] : llvm::reverse(levels.back().hidden))
      visible[name] = operation;
    levels.pop_back();
  }

  void add(mlir::Operation &operation) {
    mlir::StringAttr name = symbolName(&operation);
    if (!name)
      return;
    RenamedSymbols::Table &table = symbols.tables[levels.back().table];
    if (!table.try_emplace(name, &operation).second)
      unclear.insert(name); // defined twice, it is no valid program
    else if (symbols.renames && operation.isRegistered() && isPrivate(&operation) &&
             isDefinition(&operation))
      symbols.renamed.insert(&operation);
    mlir::Operation *&meaning = visible[name];
    levels.back().hidden.push_back({name, meaning});
    // Some operations look a name up in the nearest table alone, some beyond.
    if (meaning) {
      symbols.renamed.erase(meaning);
      symbols.renamed.erase(&operation);
    }
    meaning = &operation;
  }

  RenamedSymbols &symbols;
  mlir::Operation *root;
  std::vector<Level> levels;
  llvm::DenseMap<mlir::StringAttr, mlir::Operation *> visible; // from the current level
};

/// Finds the names that are used where no definition of them is seen, and those in texts.
class ReferenceChecker : public PlainVisitor {
public:
  ReferenceChecker(const RenamedSymbols &symbols, const Policy &policy)
      : policy(policy), symbols(symbols) {}

  void operation(mlir::Operation &operation) {
    if (isSymbolTable(operation))
      tables.push_back(&operation);
    for (mlir::SymbolRefAttr reference : referencesIn(operation.getAttrDictionary()))
      check(reference, symbols.lookUp(tables.back(), reference));
    readTexts(operation);
  }
  void endOperation(mlir::Operation &operation) {
    if (isSymbolTable(operation))
      tables.pop_back();
  }

  llvm::DenseSet<mlir::StringAttr> unclear;

private:
  void check(mlir::SymbolRefAttr reference, llvm::ArrayRef<mlir::Operation *> meaning) {
    if (!meaning[0])
      unclear.insert(reference.getRootReference());
    for (auto [nested, symbol] :
         llvm::zip_equal(reference.getNestedReferences(), meaning.drop_front()))
      if (!symbol)
        unclear.insert(nested.getAttr());
  }

  void readTexts(mlir::Operation &operation) {
    mlir::Attribute properties = operation.getPropertiesAsAttribute();
    if (auto named = llvm::dyn_cast_if_present<mlir::DictionaryAttr>(properties))
      for (mlir::NamedAttribute attribute : named)
        if (attribute.getName() != mlir::SymbolTable::getSymbolAttrName())
          readText(attribute);
    for (mlir::NamedAttribute attribute : operation.getRawDictionaryAttrs())
      if (attribute.getName() != mlir::SymbolTable::getSymbolAttrName() &&
          !leavesOut(policy, operation, attribute.getName()))
        readText(attribute);
  }

  void readText(mlir::NamedAttribute attribute) {
    bool hasWords = holdsText(attribute.getName());
    eachPart(attribute.getValue(), [&](mlir::Attribute part) {
      auto text = llvm::dyn_cast<mlir::StringAttr>(part);
      if (!text)
        return !llvm::isa<mlir::SymbolRefAttr>(part); // its parts are strings
      unclear.insert(mlir::StringAttr::get(text.getContext(), text.getValue()));
      if (hasWords)
        eachWord(text, [&](llvm::StringRef word) {
          unclear.insert(mlir::StringAttr::get(text.getContext(), word));
        });
      return true;
    });
  }

  const Policy &policy;
  const RenamedSymbols &symbols;
  llvm::SmallVector<mlir::Operation *> tables = {nullptr};
};

RenamedSymbols::RenamedSymbols(mlir::Operation *root, const Policy &policy)
    : renames(policy.renamePrivateSymbols) {
  if (!renames && !policy.liftFrom)
    return;
  const VisitOrder listing;
  SymbolCollector collector(*this, root);
  Walk<SymbolCollector>(listing, collector).run(*root);
  keep(collector.unclear);
  if (renamed.empty())
    return;
  ReferenceChecker checker(*this, policy);
  Walk<ReferenceChecker>(listing, checker).run(*root);
  keep(checker.unclear);
}

void RenamedSymbols::keep(const llvm::DenseSet<mlir::StringAttr> &names) {
  llvm::SmallVector<mlir::Operation *> all(renamed.begin(), renamed.end());
  for (mlir::Operation *symbol : all)
    if (names.contains(symbolName(symbol)))
      renamed.erase(symbol);
}

mlir::Operation *RenamedSymbols::find(mlir::Operation *scope, mlir::StringAttr name) const {
  // Outwards: some operations look beyond the nearest table.
  while (true) {
    if (auto table = tables.find(scope); table != tables.end())
      if (mlir::Operation *symbol = table->second.lookup(name))
        return symbol;
    if (!scope)
      return nullptr;
    scope = outwards(scope);
  }
}

llvm::SmallVector<mlir::Operation *, 2>
RenamedSymbols::lookUp(mlir::Operation *scope, mlir::SymbolRefAttr reference) const {
  llvm::SmallVector<mlir::Operation *, 2> parts = {find(scope, reference.getRootReference())};
  for (mlir::FlatSymbolRefAttr nested : reference.getNestedReferences()) {
    auto table = parts.back() ? tables.find(parts.back()) : tables.end();
    parts.push_back(table == tables.end() ? nullptr : table->second.lookup(nested.getAttr()));
  }
  return parts;
}

llvm::SmallVector<mlir::Operation *, 2>
RenamedSymbols::resolve(mlir::Operation *scope, mlir::SymbolRefAttr reference) const {
  llvm::SmallVector<mlir::Operation *, 2> parts = lookUp(scope, reference);
  for (mlir::Operation *&symbol : parts)
    if (!renamed.contains(symbol))
      symbol = nullptr;
  return parts;
}

} // namespace twinjit
