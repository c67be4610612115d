// All attributes of an operation, changed in one go.
#pragma once

#include "common/outcome.h"

#include "mlir/IR/Operation.h"

namespace twinjit {

/// Replace the operation's properties, as an attribute (null where it has none), and its other
/// attributes. Fails if it does not take the properties.
inline std::optional<Failure> setAttributes(mlir::Operation &operation, mlir::Attribute properties,
                                            mlir::DictionaryAttr others) {
  operation.setDiscardableAttrs(others); // of an operation without properties, all attributes
  if (!properties || properties == operation.getPropertiesAsAttribute())
    return std::nullopt;
  auto emitError = [&] { return operation.emitError("cannot change the properties"); };
  if (mlir::succeeded(operation.setPropertiesFromAttribute(properties, emitError)))
    return std::nullopt;
  return Failure{Kind::Lowering, ("'" + operation.getName().getStringRef() +
                                  "' does not take its own properties, as the policy changes them")
                                     .str()};
}

/// Replace the attributes and types of an operation, and its location, by what a Replacer, such as
/// mlir::AttrTypeReplacer, makes of them. Fails if it does not take the properties.
template <typename Replacer>
std::optional<Failure> replaceIn(mlir::Operation &operation, Replacer &replacer) {
  mlir::Attribute properties = operation.getPropertiesAsAttribute();
  if (properties)
    properties = replacer.replace(properties);
  mlir::Attribute others = replacer.replace(mlir::Attribute(operation.getRawDictionaryAttrs()));
  for (mlir::Value result : operation.getResults())
    result.setType(replacer.replace(result.getType()));
  operation.setLoc(
      llvm::cast<mlir::LocationAttr>(replacer.replace(mlir::Attribute(operation.getLoc()))));
  return setAttributes(operation, properties, llvm::cast<mlir::DictionaryAttr>(others));
}

/// The same of a block's arguments.
template <typename Replacer> void replaceIn(mlir::Block &block, Replacer &replacer) {
  for (mlir::BlockArgument argument : block.getArguments()) {
    argument.setType(replacer.replace(argument.getType()));
    argument.setLoc(
        llvm::cast<mlir::LocationAttr>(replacer.replace(mlir::Attribute(argument.getLoc()))));
  }
}

} // namespace twinjit
