#include "lazy/extraction.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"

namespace twinjit::lazy {

bool goesAlong(const llvm::Function &function) {
  return !function.isDeclaration() && (function.hasFnAttribute(llvm::Attribute::AlwaysInline) ||
                                       function.hasFnAttribute(llvm::Attribute::ReturnsTwice) ||
                                       function.hasAvailableExternallyLinkage());
}

bool isShared(const llvm::GlobalVariable &variable) {
  if (variable.isDeclaration() || variable.hasAppendingLinkage() ||
      variable.hasAvailableExternallyLinkage())
    return false;
  return !variable.isConstant() || !variable.hasAtLeastLocalUnnamedAddr();
}

void Closure::addFunction(const llvm::Function &function) {
  roots.insert(&function);
  symbols.insert(&function);
}

void Closure::addVariable(const llvm::GlobalVariable &variable) {
  roots.insert(&variable);
  symbols.insert(&variable);
}

void Closure::run() {
  while (done != symbols.size())
    lookInto(*symbols[done++]);
}

void Closure::lookInto(const llvm::GlobalValue &symbol) {
  bool isRoot = roots.contains(&symbol);
  if (auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(&symbol)) {
    // Of a shared constant, the parts see the content.
    if (variable->hasInitializer() && (isRoot || variable->isConstant()))
      look(*variable->getInitializer());
    return;
  }
  if (auto *alias = llvm::dyn_cast<llvm::GlobalAlias>(&symbol))
    return look(*alias->getAliasee());
  auto *function = llvm::dyn_cast<llvm::Function>(&symbol);
  if (!function || !(isRoot || goesAlong(*function)))
    return;
  for (const llvm::Use &use : function->operands())
    look(*llvm::cast<llvm::Constant>(use));
  for (const llvm::Instruction &instruction : llvm::instructions(*function))
    for (const llvm::Use &use : instruction.operands())
      if (auto *constant = llvm::dyn_cast<llvm::Constant>(use))
        look(*constant);
}

/// Without recursion: constants nest as deep as programs like.
void Closure::look(const llvm::Constant &constant) {
  llvm::SmallVector<const llvm::Constant *> waiting = {&constant};
  while (!waiting.empty()) {
    const llvm::Constant *each = waiting.pop_back_val();
    if (auto *symbol = llvm::dyn_cast<llvm::GlobalValue>(each)) {
      meet(*symbol);
      continue;
    }
    if (!seen.insert(each).second)
      continue;
    if (auto *block = llvm::dyn_cast<llvm::BlockAddress>(each)) {
      if (!roots.contains(block->getFunction()))
        problem = "the address of a block of '" + block->getFunction()->getName().str() +
                  "' is used outside of that function";
      continue;
    }
    for (size_t i = each->getNumOperands(); i-- != 0;) // the first is looked at next
      if (auto *operand = llvm::dyn_cast<llvm::Constant>(each->getOperand(i)))
        waiting.push_back(operand);
  }
}

void Closure::meet(const llvm::GlobalValue &symbol) {
  if (llvm::isa<llvm::GlobalIFunc>(symbol))
    problem = "indirect function '" + symbol.getName().str() + "' is never resolved";
  symbols.insert(&symbol);
}

} // namespace twinjit::lazy
