#include "library/body_copy.h"

#include "llvm/IR/Instructions.h"

namespace twinjit::library {
namespace {

using Attached = llvm::SmallVector<std::pair<unsigned, llvm::MDNode *>>;

class BodyCopy {
public:
  BodyCopy(const llvm::Function &source, llvm::Function &target, Replacements &replacements,
           bool mapsMetadata)
      : source(source), target(target), replacements(replacements), mapsMetadata(mapsMetadata) {}

  void run();

private:
  void copyHead();
  void copyBlocks();
  void refer(llvm::Instruction &copy);
  void refer(llvm::Use &operand);
  llvm::MDNode *replaced(llvm::MDNode &node);

  const llvm::Function &source;
  llvm::Function &target;
  Replacements &replacements;
  bool mapsMetadata;
};

void BodyCopy::run() {
  copyHead();
  copyBlocks();
  for (llvm::BasicBlock &block : target)
    for (llvm::Instruction &copy : block)
      refer(copy);
}

llvm::MDNode *BodyCopy::replaced(llvm::MDNode &node) {
  return mapsMetadata ? llvm::cast<llvm::MDNode>(replacements.of(node)) : &node;
}

void BodyCopy::copyHead() {
  target.copyAttributesFrom(&source); // what it refers to, too
  for (llvm::Use &operand : target.operands())
    refer(operand);
  Attached attached;
  source.getAllMetadata(attached);
  for (auto [kind, node] : attached)
    target.addMetadata(kind, *replaced(*node));
  auto argument = target.arg_begin();
  for (const llvm::Argument &original : source.args())
    replacements.set(original, *argument++);
}

/// With operands of the original.
void BodyCopy::copyBlocks() {
  for (const llvm::BasicBlock &block : source) {
    auto *made = llvm::BasicBlock::Create(target.getContext(), "", &target);
    replacements.set(block, *made);
    for (const llvm::Instruction &original : block) {
      llvm::Instruction *copy = original.clone();
      copy->insertInto(made, made->end());
      if (!original.getType()->isVoidTy())
        replacements.set(original, *copy);
    }
  }
}

void BodyCopy::refer(llvm::Use &operand) {
  llvm::Value &value = *operand.get();
  if (llvm::isa<llvm::ConstantData>(value))
    return;
  if (const auto *metadata = llvm::dyn_cast<llvm::MetadataAsValue>(&value)) {
    if (mapsMetadata)
      operand.set(llvm::MetadataAsValue::get(value.getContext(),
                                             replacements.of(*metadata->getMetadata())));
    return;
  }
  llvm::Value *replacement = replacements.of(value);
  if (replacement != &value)
    operand.set(replacement);
}

void BodyCopy::refer(llvm::Instruction &copy) {
  for (llvm::Use &operand : copy.operands())
    refer(operand);
  if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&copy))
    for (unsigned i = 0; i != phi->getNumIncomingValues(); ++i)
      phi->setIncomingBlock(
          i, llvm::cast<llvm::BasicBlock>(replacements.of(*phi->getIncomingBlock(i))));
  if (!mapsMetadata)
    return;
  Attached attached;
  copy.getAllMetadata(attached);
  for (auto [kind, node] : attached)
    copy.setMetadata(kind, replaced(*node));
}

} // namespace

void copyFunction(const llvm::Function &source, llvm::Function &target, Replacements &replacements,
                  bool mapsMetadata) {
  BodyCopy(source, target, replacements, mapsMetadata).run();
}

} // namespace twinjit::library
