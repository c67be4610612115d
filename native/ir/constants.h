// Large constants, which a policy takes for parameters.
#pragma once

#include "common/policy.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace twinjit {

/// A constant whose elements are not part of the program under a policy that lifts.
struct LargeConstant {
  llvm::StringRef attribute; // the inherent attribute that holds the elements
  mlir::ElementsAttr elements;
};

/// The large constant that `operation` is: an arith.constant of a ranked tensor of static shape, or
/// a private memref.global. Splats are small: they hold one element.
std::optional<LargeConstant> largeConstant(mlir::Operation *operation, const Policy &policy);

} // namespace twinjit
