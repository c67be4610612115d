// The attributes of an operation that count under a policy.
#pragma once

#include "ir/constants.h"
#include "ir/symbols.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Operation.h"

namespace twinjit {

/// What an operation is under the policy, besides the attributes that are left of it.
enum Mark : uint32_t {
  kPlain = 0,
  kRenamedSymbol = 1,  // its name does not count
  kLiftedConstant = 2, // nor do its elements
  kUnnamedModule = 4   // nor does its name, if it has one
};

/// Whether an attribute of `operation` that is no property does not count.
bool leavesOut(const Policy &policy, mlir::Operation &operation, mlir::StringAttr name);

/// Leaves out of operations' attributes what does not count.
class PolicyAttributes {
public:
  /// Neither argument is copied.
  PolicyAttributes(const Policy &policy, const RenamedSymbols &symbols, mlir::Operation *root)
      : policy(policy), symbols(symbols), root(root),
        filters(policy.ignoresSomeDiscardable() || policy.ignoreModuleName || policy.liftFrom ||
                !symbols.empty()) {}

  const Policy &policy;
  const RenamedSymbols &symbols;

  /// Whether all attributes of all operations count.
  bool keepsAll() const { return !filters; }

  uint32_t markOf(mlir::Operation &operation) const;

  bool ignoresOperandOrder(mlir::Operation &operation) const {
    return policy.ignoreOperandOrder && operation.hasTrait<mlir::OpTrait::IsCommutative>() &&
           !operation.hasTrait<mlir::OpTrait::AttrSizedOperandSegments>();
  }

  /// Whether what is left of its properties follows from these and the operation's name.
  bool dependsOnProperties(mlir::Operation &operation) const {
    return keepsAll() || (&operation != root && markOf(operation) == kPlain);
  }

  /// The operation's properties as an attribute, null if it has none.
  mlir::Attribute properties(mlir::Operation &operation) const;

  /// Its attributes that are not properties.
  mlir::DictionaryAttr others(mlir::Operation &operation) const;

  /// The same without what the policy ignores, but with what the mark stands for: the names of
  /// renamed symbols, and the elements of large constants.
  mlir::Attribute ownProperties(mlir::Operation &operation) const;
  mlir::DictionaryAttr ownOthers(mlir::Operation &operation) const;

private:
  using Test = bool (PolicyAttributes::*)(mlir::Operation &, mlir::NamedAttribute, bool) const;

  mlir::Attribute properties(mlir::Operation &operation, Test test) const;
  mlir::DictionaryAttr others(mlir::Operation &operation, Test test) const;
  mlir::DictionaryAttr filter(mlir::Operation &operation, mlir::DictionaryAttr all,
                              bool areProperties, Test test) const;
  bool counts(mlir::Operation &operation, mlir::NamedAttribute attribute, bool isProperty) const;
  bool isKept(mlir::Operation &operation, mlir::NamedAttribute attribute, bool isProperty) const;
  mlir::Attribute filterArgumentAttributes(mlir::Attribute perArgument) const;

  mlir::Operation *root;
  bool filters;
};

} // namespace twinjit
