#include "ir/outline_text.h"

#include "common/digest.h"
#include "common/outline.h"
#include "ir/identity_attributes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"

namespace twinjit {
namespace {

/// MLIR prints the key of a resource, which does not count.
std::string contentOf(mlir::DenseResourceElementsAttr resource) {
  const mlir::AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob)
    return "";
  FieldHasher hasher;
  hasher.string({blob->getData().data(), blob->getData().size()});
  return " (" + std::to_string(blob->getData().size()) + " bytes aligned to " +
         std::to_string(blob->getDataAlignment()) + ", digest " +
         llvm::toHex(llvm::ArrayRef<uint8_t>(hasher.finish()).take_front(8), /*LowerCase=*/true) +
         ")";
}

} // namespace

std::string placeOf(mlir::Location location) {
  std::string place;
  // By hand: locations may be nested deeper than a stack is.
  llvm::SmallVector<mlir::Location> pending = {location};
  while (!pending.empty() && place.empty()) {
    mlir::Location next = pending.pop_back_val();
    if (auto file = llvm::dyn_cast<mlir::FileLineColLoc>(next); file && file.getLine() != 0)
      place = (file.getFilename().getValue() + ":" + llvm::Twine(file.getLine()) + ":" +
               llvm::Twine(file.getColumn()))
                  .str();
    else if (auto name = llvm::dyn_cast<mlir::NameLoc>(next))
      pending.push_back(name.getChildLoc());
    else if (auto call = llvm::dyn_cast<mlir::CallSiteLoc>(next))
      pending.append({call.getCaller(), call.getCallee()});
    else if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(next))
      pending.append(fused.getLocations().rbegin(), fused.getLocations().rend());
    else if (auto opaque = llvm::dyn_cast<mlir::OpaqueLoc>(next))
      pending.push_back(opaque.getFallbackLocation());
  }
  return place;
}

OutlineText::OutlineText(mlir::Operation *root)
    : names(root, mlir::OpPrintingFlags().useLocalScope().assumeVerified()),
      plain(root->getContext(), printInFull()) {}

std::string OutlineText::of(mlir::Value value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  value.printAsOperand(stream, names);
  return text;
}

std::string OutlineText::of(mlir::Block &block) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  block.printAsOperand(stream, names);
  return text;
}

std::string OutlineText::of(mlir::Attribute attribute) {
  std::string text = shortened(printedForm(attribute, plain));
  if (auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(attribute))
    text += contentOf(resource);
  return text;
}

std::string OutlineText::of(mlir::Type type) { return shortened(printedForm(type, plain)); }

} // namespace twinjit
