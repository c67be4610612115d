// Attributes and types whose parameters only their dialect knows.
#include "ir/identity_attributes.h"
#include "ir/identity_fields.h"
#include "ir/parts_printer.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>

namespace twinjit {

/// Takes what a dialect writes into bytecode as fields. Attributes, types and resources, which
/// bytecode would refer to by number, go in by content.
class BytecodeFields final : public mlir::DialectBytecodeWriter {
public:
  BytecodeFields(AttributeDigests &digests, FieldHasher &fields)
      : digests(digests), fields(fields) {}

  void writeAttribute(mlir::Attribute attribute) override { write(kAttribute, attribute); }
  void writeOptionalAttribute(mlir::Attribute attribute) override { write(kAttribute, attribute); }
  void writeType(mlir::Type type) override { write(kType, type); }

  void writeResourceHandle(const mlir::AsmDialectResourceHandle &resource) override {
    fields.tag(kResource);
    digests.describeResource(fields, resource);
  }

  void writeVarInt(uint64_t value) override {
    fields.tag(kInteger);
    fields.number(value);
  }
  void writeSignedVarInt(int64_t value) override { writeVarInt(static_cast<uint64_t>(value)); }
  void writeOwnedBool(bool value) override { writeVarInt(value); }
  void writeAPIntWithKnownWidth(const llvm::APInt &value) override {
    fields.tag(kBits);
    bits(fields, value);
  }
  void writeAPFloatWithKnownSemantics(const llvm::APFloat &value) override {
    writeAPIntWithKnownWidth(value.bitcastToAPInt());
  }
  void writeOwnedString(llvm::StringRef text) override {
    fields.tag(kString);
    fields.string(text);
  }
  void writeOwnedBlob(llvm::ArrayRef<char> bytes) override {
    fields.tag(kString);
    blob(fields, bytes);
  }

  int64_t getBytecodeVersion() const override { return std::numeric_limits<int64_t>::max(); }
  mlir::FailureOr<const mlir::DialectVersion *> getDialectVersion(llvm::StringRef) const override {
    return mlir::failure(); // no older version is asked for
  }

private:
  enum Tag : uint8_t {
    kAttribute = 1,
    kType = 2,
    kResource = 3,
    kInteger = 4,
    kBits = 5,
    kString = 6,
  };

  template <typename T> void write(Tag tag, T value) {
    fields.tag(tag);
    fields.digest(digests.of(value));
  }

  AttributeDigests &digests;
  FieldHasher &fields;
};

namespace {

mlir::LogicalResult writeTo(mlir::DialectBytecodeWriter &writer,
                            const mlir::BytecodeDialectInterface &dialect,
                            mlir::Attribute attribute) {
  return dialect.writeAttribute(attribute, writer);
}

mlir::LogicalResult writeTo(mlir::DialectBytecodeWriter &writer,
                            const mlir::BytecodeDialectInterface &dialect, mlir::Type type) {
  return dialect.writeType(type, writer);
}

bool isWord(char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '-'; }

// How describeForeign() learnt the parameters.
enum Form : uint8_t { kBytecode = 1, kPrinted = 2 };

} // namespace

bool refersOutside(llvm::StringRef text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i)
        i += text[i] == '\\';
      continue;
    }
    bool hasSigil = text[i] == '#' || text[i] == '!';
    llvm::StringRef word = text.substr(i + hasSigil).take_while(isWord);
    if (word.empty())
      continue;
    i += hasSigil + word.size();
    llvm::StringRef rest = text.substr(i);
    bool isReference = hasSigil ? !word.contains('.') && !rest.starts_with("<")
                                : (word == "distinct" && rest.starts_with("[")) ||
                                      (word == "dense_resource" && rest.starts_with("<"));
    if (isReference)
      return true;
    --i;
  }
  return false;
}

mlir::OpPrintingFlags printInFull() {
  return mlir::OpPrintingFlags().elideLargeElementsAttrs(std::numeric_limits<int64_t>::max());
}

std::string printedForm(mlir::Attribute value, mlir::AsmState &state) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  value.print(stream, state);
  return text;
}

std::string printedForm(mlir::Type value, mlir::AsmState &state) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  value.print(stream, state);
  return text;
}

mlir::AsmState &AttributeDigests::statePrinting() {
  if (!printerState)
    printerState.emplace(context, printInFull());
  return *printerState;
}

template <typename T> void AttributeDigests::describePrinted(FieldHasher &fields, T value) {
  // MLIR prints the builtin dialect's itself, and hands no printer to it.
  if (value.getDialect().getNamespace() == "builtin") {
    mlir::AsmState state(value.getContext(), printInFull());
    shorten(Lifetime::Program);
    return fields.string(printedForm(value, state));
  }
  PartsPrinter printer(*this, fields);
  printer.print(value);
  // Perhaps written past the printer: a struct without its body, or a distinct attribute.
  if (printer.lastText().contains("struct<"))
    shorten(Lifetime::Program);
  if (printer.lastText().contains("distinct[")) {
    shorten(Lifetime::Program);
    fields.string(printedForm(value, statePrinting()));
  }
}

template <typename T> void AttributeDigests::describeForeign(FieldHasher &fields, T value) {
  FieldHasher written = fresh();
  BytecodeFields writer(*this, written);
  auto *bytecode =
      value.getDialect().template getRegisteredInterface<mlir::BytecodeDialectInterface>();
  if (bytecode && mlir::succeeded(writeTo(writer, *bytecode, value))) {
    fields.tag(kBytecode);
    fields.digest(written.finish());
  } else {
    fields.tag(kPrinted);
    describePrinted(fields, value);
  }
  llvm::SmallVector<Digest> parts;
  value.walkImmediateSubElements([&](mlir::Attribute part) { parts.push_back(of(part)); },
                                 [&](mlir::Type part) { parts.push_back(of(part)); });
  fields.number(parts.size());
  for (const Digest &part : parts)
    fields.digest(part);
}

template void AttributeDigests::describeForeign(FieldHasher &, mlir::Attribute);
template void AttributeDigests::describeForeign(FieldHasher &, mlir::Type);

} // namespace twinjit
