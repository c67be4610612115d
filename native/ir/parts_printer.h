// A dialect's own text of an attribute or type, without that of its parts.
#pragma once

#include "ir/identity_attributes.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/Support/raw_ostream.h"

namespace twinjit {

/// Takes what a dialect prints as fields. The attributes, types and resources in it go in by
/// content, so that what printing hides (a resource's bytes, the identity of a distinct attribute,
/// what a symbol's name means) counts, and what is shared is not written over and over: text grows
/// exponentially with it.
///
/// A dialect may still write an attribute straight to the stream, as plain text.
class PartsPrinter final : public mlir::DialectAsmPrinter {
public:
  PartsPrinter(AttributeDigests &digests, FieldHasher &fields);

  void print(mlir::Attribute attribute);
  void print(mlir::Type type);

  /// All text so far, without the parts.
  llvm::StringRef lastText() const { return text; }

  llvm::raw_ostream &getStream() const override { return stream; }
  void printNewline() override { stream << '\n'; }
  void increaseIndent() override {}
  void decreaseIndent() override {}
  void printFloat(const llvm::APFloat &value) override;
  void printType(mlir::Type type) override { part(kType, type); }
  void printAttribute(mlir::Attribute attribute) override { part(kAttribute, attribute); }
  void printAttributeWithoutType(mlir::Attribute attribute) override {
    part(kAttribute, attribute);
  }
  void printNamedAttribute(mlir::NamedAttribute attribute) override;
  mlir::LogicalResult printAlias(mlir::Attribute attribute) override;
  mlir::LogicalResult printAlias(mlir::Type type) override;
  void printKeywordOrString(llvm::StringRef keyword) override { printString(keyword); }
  void printString(llvm::StringRef string) override;
  void printSymbolName(llvm::StringRef symbol) override;
  void printResourceHandle(const mlir::AsmDialectResourceHandle &resource) override;

private:
  enum Tag : uint8_t { kEnd = 0, kAttribute = 1, kType = 2, kResource = 3 };

  template <typename T> void part(Tag tag, T value);
  void endText(Tag tag);
  mlir::LogicalResult pushCyclicPrinting(const void *opened) override;
  void popCyclicPrinting() override;

  AttributeDigests &digests;
  FieldHasher &fields;
  std::string text;
  mutable llvm::raw_string_ostream stream{text};
  size_t written = 0; // how much of the text is in the fields
  llvm::SmallVector<const void *> open;
};

} // namespace twinjit
