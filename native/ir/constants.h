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
  uint64_t size; // of the elements in memory, in bytes
};

/// The large constant that `operation` is: an arith.constant of a ranked tensor of static shape, or
/// a private and constant memref.global. Its elements lie in memory as code expects them, one after
/// the other: integers of 1 (a byte each), 8, 16, 32, 64 or 128 bits, indices, floats of 16, 32 or
/// 64 bits, and complex numbers of these. Splats are small: they hold one element.
std::optional<LargeConstant> largeConstant(mlir::Operation *operation, const Policy &policy);

/// The elements in memory, row-major.
std::string bytesOf(const LargeConstant &constant);

/// The alignment in memory, in bytes, of the large constant that `operation` is.
uint64_t alignmentOf(mlir::Operation *operation);

} // namespace twinjit
