#include "ir/loose_digests.h"

namespace twinjit {

llvm::SmallVector<std::optional<uint32_t>, 2>
LooseDigests::Nameless::symbols(mlir::SymbolRefAttr reference) {
  llvm::SmallVector<std::optional<uint32_t>, 2> parts;
  for (mlir::Operation *symbol : renamed.resolve(tables.back(), reference))
    parts.push_back(symbol ? std::optional<uint32_t>(0) : std::nullopt);
  return parts;
}

struct DigestAll : PlainVisitor {
  LooseDigests &digests;
  const Numbers &inside;
  LooseDigests::Outside outside;
  FieldHasher fields = FieldHasher();

  void operation(mlir::Operation &operation) {
    if (isSymbolTable(operation)) {
      digests.identities.tables.push_back(&operation);
      digests.attributes.changeSymbolTable();
    }
    content(mlir::Attribute(operation.getName().getIdentifier()));
    fields.number32(digests.filter.markOf(operation));
    content(digests.filter.properties(operation));
    content(mlir::Attribute(digests.filter.others(operation)));
    operands(operation);
    fields.number(operation.getNumSuccessors());
    for (mlir::Block *successor : operation.getSuccessors())
      fields.number(reference(inside.of(successor), nullptr, successor));
    fields.number(operation.getNumResults());
    for (mlir::Type type : operation.getResultTypes())
      content(type);
    location(operation.getLoc());
    fields.number(operation.getNumRegions());
  }
  void region(mlir::Region &region) { fields.number(region.getBlocks().size()); }
  void block(mlir::Block &block) {
    fields.number(block.getNumArguments());
    for (mlir::BlockArgument argument : block.getArguments()) {
      content(argument.getType());
      location(argument.getLoc());
    }
  }
  void endBlock(mlir::Block &) { fields.tag(0); }
  void endOperation(mlir::Operation &operation) {
    if (!isSymbolTable(operation))
      return;
    digests.identities.tables.pop_back();
    digests.attributes.changeSymbolTable();
  }

private:
  template <typename T> void content(T value) { fields.digest(digests.attributes.of(value)); }

  void location(mlir::Location location) {
    if (!digests.filter.policy.ignoreLocations)
      content(mlir::Attribute(location));
  }

  void operands(mlir::Operation &operation) {
    llvm::SmallVector<uint64_t> numbers;
    for (mlir::Value operand : operation.getOperands())
      numbers.push_back(reference(inside.of(operand), operand, nullptr));
    if (digests.filter.ignoresOperandOrder(operation))
      llvm::sort(numbers);
    fields.number(numbers.size());
    for (uint64_t number : numbers)
      fields.number(number);
  }

  uint64_t reference(std::optional<uint32_t> number, mlir::Value value, mlir::Block *block) {
    constexpr uint64_t kOutside = uint64_t(1) << 32;
    return number ? *number : kOutside | outside(value, block);
  }
};

namespace {

/// Numbers all that it visits, and puts what cannot be reached in order.
class NumberLoosely : public NumberAll {
public:
  NumberLoosely(const PolicyAttributes &filter, LooseDigests::Known known, unsigned level,
                VisitOrder &order, Numbers &numbers)
      : NumberAll(order, numbers), filter(filter), known(known), level(level) {}

  void reached(mlir::Region &region) {
    std::vector<mlir::Block *> rest = unreachable(region, order);
    if (rest.size() > 1 && level < LooseDigests::kLevels)
      rest = orderUnreachable(filter, std::move(rest), level, [&](auto value, auto *block) {
        constexpr uint32_t kAround = uint32_t(1) << 31;
        std::optional<uint32_t> number = value ? numbers.of(value) : numbers.of(block);
        if (number)
          return number;
        number = known(value, block);
        return number ? std::optional<uint32_t>(kAround | *number) : std::nullopt;
      });
    append(region, rest);
  }

private:
  const PolicyAttributes &filter;
  LooseDigests::Known known;
  unsigned level;
};

} // namespace

Digest LooseDigests::of(mlir::Block &block, Outside outside, Known known, unsigned level) {
  VisitOrder order;
  Numbers inside;
  NumberLoosely numberer(filter, known, level + 1, order, inside);
  numberer.block(block);
  Walk<NumberLoosely>(order, numberer).runInside(block);
  DigestAll digester{{}, *this, inside, outside};
  digester.block(block);
  Walk<DigestAll>(order, digester).runInside(block);
  return digester.fields.finish();
}

Digest LooseDigests::ofSymbol(mlir::Operation &operation) {
  VisitOrder order;
  Numbers inside;
  auto known = [](mlir::Value, mlir::Block *) -> std::optional<uint32_t> { return std::nullopt; };
  NumberLoosely numberer(filter, known, 1, order, inside);
  Walk<NumberLoosely>(order, numberer).run(operation);
  auto outside = [](mlir::Value, mlir::Block *) -> uint32_t { return 0; };
  DigestAll digester{{}, *this, inside, outside};
  Walk<DigestAll>(order, digester).run(operation);
  return digester.fields.finish();
}

} // namespace twinjit
