#include "ir/loose_digests.h"

namespace twinjit {
namespace {

struct NumberAll {
  Numbers &numbers;

  void operation(mlir::Operation &operation) { numbers.define(operation); }
  bool descend(mlir::Operation &) { return true; }
  void region(mlir::Region &) {}
  void reached(mlir::Region &) {}
  void block(mlir::Block &block) { numbers.define(block); }
  void endBlock(mlir::Block &) {}
  void endOperation(mlir::Operation &) {}
  bool stopped() { return false; }
};

struct DigestAll {
  AttributeDigests &attributes;
  const Numbers &inside;
  LooseDigests::Outside outside;
  FieldHasher fields = FieldHasher();

  void operation(mlir::Operation &operation) {
    fields.digest(attributes.of(operation.getName().getIdentifier()));
    fields.digest(attributes.of(operation.getPropertiesAsAttribute()));
    fields.digest(attributes.of(operation.getRawDictionaryAttrs()));
    fields.number(operation.getNumOperands());
    for (mlir::Value operand : operation.getOperands())
      reference(inside.of(operand), operand, nullptr);
    fields.number(operation.getNumSuccessors());
    for (mlir::Block *successor : operation.getSuccessors())
      reference(inside.of(successor), nullptr, successor);
    fields.number(operation.getNumResults());
    for (mlir::Type type : operation.getResultTypes())
      fields.digest(attributes.of(type));
    fields.number(operation.getNumRegions());
  }
  bool descend(mlir::Operation &) { return true; }
  void region(mlir::Region &region) { fields.number(region.getBlocks().size()); }
  void reached(mlir::Region &) {}
  void block(mlir::Block &block) {
    fields.number(block.getNumArguments());
    for (mlir::Type type : block.getArgumentTypes())
      fields.digest(attributes.of(type));
  }
  void endBlock(mlir::Block &) { fields.tag(0); }
  void endOperation(mlir::Operation &) {}
  bool stopped() { return false; }

private:
  void reference(std::optional<uint32_t> number, mlir::Value value, mlir::Block *block) {
    fields.tag(number.has_value());
    fields.number32(number ? *number : outside(value, block));
  }
};

} // namespace

Digest LooseDigests::of(mlir::Block &block, Outside outside) {
  const VisitOrder listing;
  Numbers inside;
  NumberAll numberer{inside};
  numberer.block(block);
  Walk<NumberAll>(listing, numberer).runInside(block);
  DigestAll digester{attributes, inside, outside};
  digester.block(block);
  Walk<DigestAll>(listing, digester).runInside(block);
  return digester.fields.finish();
}

Digest LooseDigests::of(mlir::Operation &operation, Outside outside) {
  const VisitOrder listing;
  Numbers inside;
  NumberAll numberer{inside};
  Walk<NumberAll>(listing, numberer).run(operation);
  DigestAll digester{attributes, inside, outside};
  Walk<DigestAll>(listing, digester).run(operation);
  return digester.fields.finish();
}

} // namespace twinjit
