#include "ir/policy_attributes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace twinjit {
namespace {

/// Whether an attribute that is no property may be left out by a policy on discardable attributes.
/// All attributes of an operation that MLIR does not know may be meant by it; those in the name of
/// a dialect are attached from outside.
bool isDiscardable(mlir::Operation &operation, mlir::StringAttr name) {
  if (!operation.isRegistered())
    return name.getValue().contains('.');
  return operation.getPropertiesStorageSize() != 0 ||
         !llvm::is_contained(operation.getRegisteredInfo()->getAttributeNames(), name);
}

} // namespace

uint32_t PolicyAttributes::markOf(mlir::Operation &operation) const {
  uint32_t mark = symbols.contains(&operation) ? kRenamedSymbol : kPlain;
  return largeConstant(&operation, policy) ? mark | kLiftedConstant : mark;
}

mlir::Attribute PolicyAttributes::properties(mlir::Operation &operation) const {
  // Not the inherent attributes one by one: they miss fields (a GEP's flags).
  mlir::Attribute all = operation.getPropertiesAsAttribute();
  auto dictionary = llvm::dyn_cast_if_present<mlir::DictionaryAttr>(all);
  if (keepsAll() || !dictionary)
    return all;
  return filter(operation, dictionary, /*areProperties=*/true);
}

mlir::DictionaryAttr PolicyAttributes::others(mlir::Operation &operation) const {
  // Not getDiscardableAttrDictionary(): that leaves out the inherent attributes of an operation
  // without properties.
  mlir::DictionaryAttr all = operation.getRawDictionaryAttrs();
  return keepsAll() || all.empty() ? all : filter(operation, all, /*areProperties=*/false);
}

mlir::DictionaryAttr PolicyAttributes::filter(mlir::Operation &operation, mlir::DictionaryAttr all,
                                              bool areProperties) const {
  mlir::NamedAttrList kept;
  bool isFunction = llvm::isa<mlir::FunctionOpInterface>(operation);
  for (mlir::NamedAttribute attribute : all) {
    if (!counts(operation, attribute, areProperties))
      continue;
    mlir::Attribute value = attribute.getValue();
    if (isFunction && policy.ignoresSomeDiscardable() &&
        (attribute.getName() == "arg_attrs" || attribute.getName() == "res_attrs"))
      value = filterArgumentAttributes(value);
    if (value)
      kept.append(attribute.getName(), value);
  }
  return kept.getDictionary(operation.getContext());
}

bool PolicyAttributes::counts(mlir::Operation &operation, mlir::NamedAttribute attribute,
                              bool isProperty) const {
  llvm::StringRef name = attribute.getName();
  if (name == mlir::SymbolTable::getSymbolAttrName()) {
    bool isModuleName = &operation == root && llvm::isa<mlir::ModuleOp>(operation);
    return !(symbols.contains(&operation) || (policy.ignoreModuleName && isModuleName));
  }
  if (std::optional<LargeConstant> constant = largeConstant(&operation, policy))
    if (name == constant->attribute)
      return false;
  return isProperty || !policy.ignoresDiscardable(name) ||
         !isDiscardable(operation, attribute.getName());
}

/// Null where nothing is left: an absent list and one of empty dictionaries mean the same.
mlir::Attribute PolicyAttributes::filterArgumentAttributes(mlir::Attribute perArgument) const {
  auto array = llvm::dyn_cast<mlir::ArrayAttr>(perArgument);
  if (!array)
    return perArgument;
  llvm::SmallVector<mlir::Attribute> filtered;
  bool isEmpty = true;
  for (mlir::Attribute element : array) {
    auto dictionary = llvm::dyn_cast<mlir::DictionaryAttr>(element);
    if (!dictionary)
      return perArgument;
    mlir::NamedAttrList kept;
    for (mlir::NamedAttribute attribute : dictionary)
      if (!policy.ignoresDiscardable(attribute.getName()))
        kept.append(attribute);
    isEmpty &= kept.empty();
    filtered.push_back(kept.getDictionary(array.getContext()));
  }
  return isEmpty ? mlir::Attribute() : mlir::ArrayAttr::get(array.getContext(), filtered);
}

} // namespace twinjit
