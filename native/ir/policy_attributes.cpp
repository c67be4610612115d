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

bool leavesOut(const Policy &policy, mlir::Operation &operation, mlir::StringAttr name) {
  return policy.ignoresDiscardable(name) && isDiscardable(operation, name);
}

uint32_t PolicyAttributes::markOf(mlir::Operation &operation) const {
  uint32_t mark = symbols.contains(&operation) ? kRenamedSymbol : kPlain;
  if (largeConstant(&operation, policy))
    mark |= kLiftedConstant;
  if (policy.ignoreModuleName && &operation == root && llvm::isa<mlir::ModuleOp>(operation))
    mark |= kUnnamedModule;
  return mark;
}

mlir::Attribute PolicyAttributes::properties(mlir::Operation &operation) const {
  return properties(operation, &PolicyAttributes::counts);
}

mlir::DictionaryAttr PolicyAttributes::others(mlir::Operation &operation) const {
  return others(operation, &PolicyAttributes::counts);
}

mlir::Attribute PolicyAttributes::ownProperties(mlir::Operation &operation) const {
  return properties(operation, &PolicyAttributes::isKept);
}

mlir::DictionaryAttr PolicyAttributes::ownOthers(mlir::Operation &operation) const {
  return others(operation, &PolicyAttributes::isKept);
}

mlir::Attribute PolicyAttributes::properties(mlir::Operation &operation, Test test) const {
  // Not the inherent attributes one by one: they miss fields (a GEP's flags).
  mlir::Attribute all = operation.getPropertiesAsAttribute();
  auto dictionary = llvm::dyn_cast_if_present<mlir::DictionaryAttr>(all);
  if (keepsAll() || !dictionary)
    return all;
  return filter(operation, dictionary, /*areProperties=*/true, test);
}

mlir::DictionaryAttr PolicyAttributes::others(mlir::Operation &operation, Test test) const {
  // Not getDiscardableAttrDictionary(): that leaves out the inherent attributes of an operation
  // without properties.
  mlir::DictionaryAttr all = operation.getRawDictionaryAttrs();
  return keepsAll() || all.empty() ? all : filter(operation, all, /*areProperties=*/false, test);
}

mlir::DictionaryAttr PolicyAttributes::filter(mlir::Operation &operation, mlir::DictionaryAttr all,
                                              bool areProperties, Test test) const {
  mlir::NamedAttrList kept;
  bool isFunction = llvm::isa<mlir::FunctionOpInterface>(operation);
  for (mlir::NamedAttribute attribute : all) {
    if (!(this->*test)(operation, attribute, areProperties))
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

/// Whether the attribute is written in full: it is kept, and the mark does not stand for it.
bool PolicyAttributes::counts(mlir::Operation &operation, mlir::NamedAttribute attribute,
                              bool isProperty) const {
  llvm::StringRef name = attribute.getName();
  if (name == mlir::SymbolTable::getSymbolAttrName() && symbols.contains(&operation))
    return false;
  std::optional<LargeConstant> constant = largeConstant(&operation, policy);
  return !(constant && name == constant->attribute) && isKept(operation, attribute, isProperty);
}

bool PolicyAttributes::isKept(mlir::Operation &operation, mlir::NamedAttribute attribute,
                              bool isProperty) const {
  mlir::StringAttr name = attribute.getName();
  if (name == mlir::SymbolTable::getSymbolAttrName())
    return !(markOf(operation) & kUnnamedModule);
  return isProperty || !leavesOut(policy, operation, name);
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
