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

} // namespace twinjit
