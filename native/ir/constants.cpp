#include "ir/constants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace twinjit {
namespace {

/// Bytes in memory; none for elements that are no plain numbers, or a single one repeated.
std::optional<uint64_t> sizeOf(mlir::ElementsAttr elements) {
  if (auto dense = llvm::dyn_cast<mlir::DenseIntOrFPElementsAttr>(elements))
    return dense.isSplat() ? std::nullopt : std::optional<uint64_t>(dense.getRawData().size());
  if (auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(elements))
    if (const mlir::AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      return blob->getData().size();
  return std::nullopt;
}

std::optional<LargeConstant> elementsOf(mlir::Operation *operation) {
  if (auto constant = llvm::dyn_cast<mlir::arith::ConstantOp>(operation)) {
    auto type = llvm::dyn_cast<mlir::RankedTensorType>(constant.getType());
    auto elements = llvm::dyn_cast<mlir::ElementsAttr>(constant.getValue());
    if (type && type.hasStaticShape() && !type.getEncoding() && elements)
      return LargeConstant{"value", elements};
  }
  if (auto global = llvm::dyn_cast<mlir::memref::GlobalOp>(operation))
    if (auto value = global.getInitialValue(); value && global.isPrivate())
      if (auto elements = llvm::dyn_cast<mlir::ElementsAttr>(*value))
        return LargeConstant{"initial_value", elements};
  return std::nullopt;
}

} // namespace

std::optional<LargeConstant> largeConstant(mlir::Operation *operation, const Policy &policy) {
  if (!policy.liftFrom)
    return std::nullopt;
  std::optional<LargeConstant> constant = elementsOf(operation);
  if (!constant)
    return std::nullopt;
  std::optional<uint64_t> size = sizeOf(constant->elements);
  return size && *size >= *policy.liftFrom ? constant : std::nullopt;
}

} // namespace twinjit
