#include "llvmir/constants.h"

#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/SwapByteOrder.h"

#include <algorithm>

namespace twinjit::llvmir {
namespace {

enum ConstantTag : uint8_t {
  kSymbol = 0,
  kAnonymousSymbol = 1,
  kUndef = 2,
  kPoison = 3,
  kZero = 4, // null, none and zeroinitializer; the type says which
  kInteger = 5,
  kFloat = 6,
  kData = 7,
  kAggregate = 8,
  kExpression = 9,
  kBlockAddress = 10,
  kLocalEquivalent = 11,
  kNoCfi = 12,
  kSigned = 13,
};

/// The bytes of an array of numbers as a little-endian machine has them.
std::string littleEndian(const llvm::ConstantDataSequential &data) {
  std::string bytes = data.getRawDataValues().str();
  for (size_t i = 0, size = data.getElementByteSize(); i < bytes.size(); i += size)
    std::reverse(bytes.begin() + i, bytes.begin() + i + size);
  return bytes;
}

} // namespace

const Content &ConstantContents::of(const llvm::Constant *constant) {
  visitOperandsFirst(
      constant, [&](const llvm::Constant *each) { return contents.contains(each); },
      [](const llvm::Constant *each, auto push) {
        if (llvm::isa<llvm::GlobalValue>(each))
          return;
        for (const llvm::Value *operand : each->operand_values())
          if (auto *part = llvm::dyn_cast<llvm::Constant>(operand))
            push(part);
      },
      [&](const llvm::Constant *each) {
        Fields fields;
        describe(each, fields);
        Content content = keep(fields);
        contents.try_emplace(each, content);
      });
  return contents.find(constant)->second;
}

Content ConstantContents::keep(const Fields &fields) {
  return {interner.intern(fields.bytes()), fields.identities().copy(identities)};
}

std::string ConstantContents::sortKey(const Fields &fields) const {
  std::string key = llvm::toStringRef(fields.bytes()).str();
  for (Identity identity : fields.identities()) {
    Ref rank = ranks.lookup(identity);
    key.append(rank.begin(), rank.end());
  }
  return key;
}

void ConstantContents::describe(const llvm::Constant *constant, Fields &fields) {
  if (auto *symbol = llvm::dyn_cast<llvm::GlobalValue>(constant))
    return describeSymbol(*symbol, fields);
  fields.ref(types.of(constant->getType()));
  if (llvm::isa<llvm::PoisonValue>(constant)) {
    fields.tag(kPoison);
  } else if (llvm::isa<llvm::UndefValue>(constant)) {
    fields.tag(kUndef);
  } else if (auto *integer = llvm::dyn_cast<llvm::ConstantInt>(constant)) {
    fields.tag(kInteger);
    fields.bits(integer->getValue());
  } else if (auto *number = llvm::dyn_cast<llvm::ConstantFP>(constant)) {
    fields.tag(kFloat);
    fields.bits(number->getValueAPF().bitcastToAPInt());
  } else if (auto *data = llvm::dyn_cast<llvm::ConstantDataSequential>(constant)) {
    describeData(*data, fields);
  } else if (llvm::isa<llvm::ConstantData>(constant)) {
    fields.tag(kZero);
  } else if (llvm::isa<llvm::ConstantAggregate>(constant)) {
    fields.tag(kAggregate);
    describeOperands(*constant, fields);
  } else if (auto *expression = llvm::dyn_cast<llvm::ConstantExpr>(constant)) {
    describeExpression(*expression, fields);
  } else if (auto *address = llvm::dyn_cast<llvm::BlockAddress>(constant)) {
    fields.tag(kBlockAddress);
    describeSymbol(*address->getFunction(), fields);
    fields.number(indexOf(*address->getBasicBlock()));
  } else if (llvm::isa<llvm::DSOLocalEquivalent, llvm::NoCFIValue, llvm::ConstantPtrAuth>(
                 constant)) {
    fields.tag(llvm::isa<llvm::ConstantPtrAuth>(constant) ? kSigned
               : llvm::isa<llvm::NoCFIValue>(constant)    ? kNoCfi
                                                          : kLocalEquivalent);
    describeOperands(*constant, fields);
  } else if (problem.empty()) {
    problem = "a constant of a kind that twinjit does not know (LLVM's number " +
              std::to_string(constant->getValueID()) + ")";
  }
}

uint64_t ConstantContents::indexOf(const llvm::BasicBlock &block) {
  auto found = blocks.find(&block);
  if (found != blocks.end())
    return found->second;
  for (auto [index, each] : llvm::enumerate(*block.getParent()))
    blocks.try_emplace(&each, index);
  return blocks.lookup(&block);
}

void ConstantContents::describeSymbol(const llvm::GlobalValue &symbol, Fields &fields) {
  if (anonymous.contains(symbol)) {
    fields.tag(kAnonymousSymbol);
    fields.identity(&symbol);
  } else {
    fields.tag(kSymbol);
    fields.string(symbol.getName());
  }
}

void ConstantContents::describeData(const llvm::ConstantDataSequential &data, Fields &fields) {
  fields.tag(kData);
  if (llvm::sys::IsBigEndianHost)
    fields.ref(interner.intern(llvm::arrayRefFromStringRef(littleEndian(data))));
  else
    fields.ref(interner.intern(llvm::arrayRefFromStringRef(data.getRawDataValues())));
}

void ConstantContents::describeExpression(const llvm::ConstantExpr &expression, Fields &fields) {
  fields.tag(kExpression);
  fields.string(expression.getOpcodeName());
  fields.number(expression.getRawSubclassOptionalData());
  if (auto *address = llvm::dyn_cast<llvm::GEPOperator>(&expression)) {
    fields.ref(types.of(address->getSourceElementType()));
    std::optional<llvm::ConstantRange> range = address->getInRange();
    fields.number(range.has_value());
    if (range) {
      fields.bits(range->getLower());
      fields.bits(range->getUpper());
    }
  } else if (expression.getOpcode() == llvm::Instruction::ShuffleVector) {
    fields.number(expression.getShuffleMask().size());
    for (int lane : expression.getShuffleMask())
      fields.number(static_cast<uint32_t>(lane));
  }
  describeOperands(expression, fields);
}

void ConstantContents::describeOperands(const llvm::Constant &constant, Fields &fields) {
  llvm::SmallVector<const llvm::Constant *, 8> operands;
  for (const llvm::Value *operand : constant.operand_values())
    operands.push_back(llvm::cast<llvm::Constant>(operand));
  auto *expression = llvm::dyn_cast<llvm::ConstantExpr>(&constant);
  if (policy.ignoreOperandOrder && expression && operands.size() == 2 &&
      llvm::Instruction::isCommutative(expression->getOpcode())) {
    Fields first, second;
    first.content(of(operands[0]));
    second.content(of(operands[1]));
    if (sortKey(second) < sortKey(first)) {
      std::swap(operands[0], operands[1]);
      swapped.push_back(expression);
    }
  }
  fields.number(operands.size());
  for (const llvm::Constant *operand : operands)
    fields.content(of(operand));
}

} // namespace twinjit::llvmir
