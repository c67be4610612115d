#include "ir/parts_printer.h"

#include "ir/identity_fields.h"

#include "mlir/IR/Dialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace twinjit {

PartsPrinter::PartsPrinter(AttributeDigests &digests, FieldHasher &fields)
    : digests(digests), fields(fields) {}

void PartsPrinter::print(mlir::Attribute attribute) {
  attribute.getDialect().printAttribute(attribute, *this);
  endText(kEnd);
}

void PartsPrinter::print(mlir::Type type) {
  type.getDialect().printType(type, *this);
  endText(kEnd);
}

template <typename T> void PartsPrinter::part(Tag tag, T value) {
  endText(tag);
  fields.digest(digests.of(value));
}

void PartsPrinter::endText(Tag tag) {
  fields.string(llvm::StringRef(text).drop_front(written));
  written = text.size();
  fields.tag(tag);
}

void PartsPrinter::printFloat(const llvm::APFloat &value) {
  llvm::APInt bits = value.bitcastToAPInt();
  stream << bits.getBitWidth() << "'" << llvm::toString(bits, 16, /*Signed=*/false);
}

void PartsPrinter::printNamedAttribute(mlir::NamedAttribute attribute) {
  printString(attribute.getName());
  printAttribute(attribute.getValue());
}

mlir::LogicalResult PartsPrinter::printAlias(mlir::Attribute attribute) {
  printAttribute(attribute);
  return mlir::success();
}

mlir::LogicalResult PartsPrinter::printAlias(mlir::Type type) {
  printType(type);
  return mlir::success();
}

void PartsPrinter::printString(llvm::StringRef string) {
  stream << '"';
  llvm::printEscapedString(string, stream);
  stream << '"';
}

void PartsPrinter::printSymbolName(llvm::StringRef symbol) {
  stream << '@';
  printString(symbol);
}

void PartsPrinter::printResourceHandle(const mlir::AsmDialectResourceHandle &resource) {
  endText(kResource);
  digests.describeResource(fields, resource);
}

mlir::LogicalResult PartsPrinter::pushCyclicPrinting(const void *opened) {
  if (llvm::is_contained(open, opened))
    return mlir::failure();
  open.push_back(opened);
  return mlir::success();
}

void PartsPrinter::popCyclicPrinting() { open.pop_back(); }

} // namespace twinjit
