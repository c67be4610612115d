#include "ir/constants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace twinjit {
namespace {

/// What vector instructions want, and a page, which memory has in any case.
constexpr uint64_t kAlignment = 64, kMaxAlignment = 4096;

/// Bytes of an element in memory; none for what is stored in another form in an attribute.
std::optional<uint64_t> sizeOf(mlir::Type element) {
  if (auto complex = llvm::dyn_cast<mlir::ComplexType>(element)) {
    std::optional<uint64_t> part = sizeOf(complex.getElementType());
    bool isPlain = part && !complex.getElementType().isInteger(1);
    return isPlain ? std::optional<uint64_t>(2 * *part) : std::nullopt;
  }
  if (element.isIndex())
    return 8;
  if (auto integer = llvm::dyn_cast<mlir::IntegerType>(element)) {
    unsigned width = integer.getWidth();
    if (width == 1)
      return 1;
    bool isPlain = width >= 8 && width <= 128 && llvm::isPowerOf2_32(width);
    return isPlain ? std::optional<uint64_t>(width / 8) : std::nullopt;
  }
  if (element.isF16() || element.isBF16())
    return 2;
  if (element.isF32() || element.isF64())
    return element.getIntOrFloatBitWidth() / 8;
  return std::nullopt;
}

/// Bytes of all elements in memory; none where the attribute does not hold each of them.
std::optional<uint64_t> sizeOf(mlir::ElementsAttr elements) {
  std::optional<uint64_t> each = sizeOf(elements.getElementType());
  if (!each)
    return std::nullopt;
  bool overflows = false;
  uint64_t size =
      llvm::SaturatingMultiply(*each, static_cast<uint64_t>(elements.getNumElements()), &overflows);
  if (overflows)
    return std::nullopt;
  if (auto dense = llvm::dyn_cast<mlir::DenseIntOrFPElementsAttr>(elements))
    return dense.isSplat() ? std::nullopt : std::optional<uint64_t>(size);
  if (auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(elements))
    if (const mlir::AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      return blob->getData().size() == size ? std::optional<uint64_t>(size) : std::nullopt;
  return std::nullopt;
}

std::optional<LargeConstant> withSize(llvm::StringRef attribute, mlir::Attribute value) {
  auto elements = llvm::dyn_cast_if_present<mlir::ElementsAttr>(value);
  std::optional<uint64_t> size = elements ? sizeOf(elements) : std::nullopt;
  if (!size)
    return std::nullopt;
  return LargeConstant{attribute, elements, *size};
}

std::optional<LargeConstant> elementsOf(mlir::Operation *operation) {
  if (auto constant = llvm::dyn_cast<mlir::arith::ConstantOp>(operation)) {
    auto type = llvm::dyn_cast<mlir::RankedTensorType>(constant.getType());
    if (type && type.hasStaticShape() && !type.getEncoding())
      return withSize("value", constant.getValue());
  }
  if (auto global = llvm::dyn_cast<mlir::memref::GlobalOp>(operation))
    if (global.getConstant() && global.isPrivate() && alignmentOf(global) <= kMaxAlignment)
      return withSize("initial_value", global.getInitialValue().value_or(nullptr));
  return std::nullopt;
}

} // namespace

std::optional<LargeConstant> largeConstant(mlir::Operation *operation, const Policy &policy) {
  if (!policy.liftFrom)
    return std::nullopt;
  std::optional<LargeConstant> constant = elementsOf(operation);
  return constant && constant->size >= *policy.liftFrom ? constant : std::nullopt;
}

std::string bytesOf(const LargeConstant &constant) {
  bool isBool = constant.elements.getElementType().isInteger(1);
  if (auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(constant.elements)) {
    llvm::ArrayRef<char> data = resource.getRawHandle().getBlob()->getData();
    std::string bytes(data.begin(), data.end());
    if (isBool)
      std::transform(bytes.begin(), bytes.end(), bytes.begin(),
                     [](char byte) { return static_cast<char>(byte != 0); });
    return bytes;
  }
  auto dense = llvm::cast<mlir::DenseIntOrFPElementsAttr>(constant.elements);
  if (!isBool)
    return {dense.getRawData().begin(), dense.getRawData().end()};
  auto bits = dense.getValues<bool>();
  return {bits.begin(), bits.end()};
}

uint64_t alignmentOf(mlir::Operation *operation) {
  auto global = llvm::dyn_cast<mlir::memref::GlobalOp>(operation);
  return std::max(kAlignment, global ? global.getAlignment().value_or(0) : 0);
}

} // namespace twinjit
