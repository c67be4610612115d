#include "ir/uniqued_bytes.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Support/StorageUniquer.h"

#include "llvm/Support/Allocator.h"

namespace twinjit {
namespace {

using mlir::StorageUniquer;
using Allocator = StorageUniquer::StorageAllocator;

// MLIR has no interface that tells these bytes. It does hand the allocator to whoever changes an
// attribute or type in place, and what that allocator has is its one, private member. An explicit
// instantiation may name it, and does not compile should it go.
template <auto Member> struct Reveal {
  friend llvm::BumpPtrAllocator &allocatorIn(Allocator &allocator) { return allocator.*Member; }
};
llvm::BumpPtrAllocator &allocatorIn(Allocator &allocator);
template struct Reveal<&Allocator::allocator>;

/// Is "changed", and changes nothing.
struct Probe : StorageUniquer::BaseStorage {
  llvm::LogicalResult mutate(Allocator &allocator, size_t &bytes) {
    bytes = allocatorIn(allocator).getTotalMemory();
    return llvm::success();
  }
};

/// `known` is any parametric kind that the uniquer has; all are allocated alike.
size_t bytesOf(StorageUniquer &uniquer, mlir::TypeID known) {
  size_t bytes = 0;
  Probe probe;
  (void)uniquer.mutate(known, &probe, bytes); // succeeds, as above
  return bytes;
}

} // namespace

size_t uniquedBytes(mlir::MLIRContext &context) {
  return bytesOf(context.getAttributeUniquer(), mlir::TypeID::get<mlir::IntegerAttr>()) +
         bytesOf(context.getTypeUniquer(), mlir::TypeID::get<mlir::IntegerType>());
}

} // namespace twinjit
