#include "ir/symbols.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

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

} // namespace

mlir::Operation *symbolTableOf(mlir::Operation *operation) {
  while (operation && !operation->hasTrait<mlir::OpTrait::SymbolTable>())
    operation = operation->getParentOp();
  return operation;
}

mlir::StringAttr symbolName(mlir::Operation *operation) {
  return operation->getAttrOfType<mlir::StringAttr>(mlir::SymbolTable::getSymbolAttrName());
}

RenamedSymbols::RenamedSymbols(mlir::Operation *root, const Policy &policy)
    : renames(policy.renamePrivateSymbols) {
  if (!renames && !policy.liftFrom)
    return;
  if (!llvm::isa<mlir::ModuleOp>(root))
    add(tables[nullptr], root);
  // By hand: regions may be nested deeper than a stack is.
  llvm::SmallVector<mlir::Operation *> pending = {root};
  while (!pending.empty()) {
    mlir::Operation *operation = pending.pop_back_val();
    bool isTable = operation->hasTrait<mlir::OpTrait::SymbolTable>();
    for (mlir::Region &region : operation->getRegions()) {
      for (mlir::Operation &inner : region.getOps()) {
        if (isTable)
          add(tables[operation], &inner);
        if (inner.getNumRegions() != 0)
          pending.push_back(&inner);
      }
    }
  }
  keepShadowed();
}

/// Some operations look a name up in the nearest table alone, some beyond. Where both would find
/// one, it cannot be told which is meant, and both names count.
void RenamedSymbols::keepShadowed() {
  llvm::SmallVector<mlir::Operation *> all(renamed.begin(), renamed.end());
  for (mlir::Operation *symbol : all) {
    mlir::StringAttr name = symbolName(symbol);
    mlir::Operation *scope = symbolTableOf(symbol->getParentOp());
    while (scope) {
      scope = symbolTableOf(scope->getParentOp());
      auto table = tables.find(scope);
      mlir::Operation *other = table == tables.end() ? nullptr : table->second.lookup(name);
      if (other && other != symbol) {
        renamed.erase(symbol);
        renamed.erase(other);
      }
    }
  }
}

void RenamedSymbols::add(Table &table, mlir::Operation *operation) {
  mlir::StringAttr name = symbolName(operation);
  if (!name)
    return;
  // Defined twice, it is no valid program; then neither name may be lost.
  bool isFirst = table.try_emplace(name, operation).second;
  if (renames && isFirst && operation->isRegistered() && isPrivate(operation) &&
      isDefinition(operation))
    renamed.insert(operation);
}

mlir::Operation *RenamedSymbols::find(mlir::Operation *scope, mlir::StringAttr name) const {
  // Outwards: some operations look beyond the nearest table.
  while (true) {
    if (auto table = tables.find(scope); table != tables.end())
      if (mlir::Operation *symbol = table->second.lookup(name))
        return symbol;
    if (!scope)
      return nullptr;
    scope = symbolTableOf(scope->getParentOp());
  }
}

llvm::SmallVector<mlir::Operation *, 2>
RenamedSymbols::resolve(mlir::Operation *scope, mlir::SymbolRefAttr reference) const {
  llvm::SmallVector<mlir::Operation *, 2> parts = lookUp(scope, reference);
  for (mlir::Operation *&symbol : parts)
    if (symbol && !renamed.contains(symbol))
      symbol = nullptr;
  return parts;
}

llvm::SmallVector<mlir::Operation *, 2>
RenamedSymbols::lookUp(mlir::Operation *scope, mlir::SymbolRefAttr reference) const {
  llvm::SmallVector<mlir::Operation *, 2> parts;
  mlir::Operation *symbol = find(scope, reference.getRootReference());
  parts.push_back(symbol);
  for (mlir::FlatSymbolRefAttr nested : reference.getNestedReferences()) {
    auto table = symbol ? tables.find(symbol) : tables.end();
    symbol = table == tables.end() ? nullptr : table->second.lookup(nested.getAttr());
    parts.push_back(symbol);
  }
  return parts;
}

} // namespace twinjit
