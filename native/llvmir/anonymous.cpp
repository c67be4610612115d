#include "llvmir/anonymous.h"

#include "common/words.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace twinjit::llvmir {

AnonymousSymbols::AnonymousSymbols(const llvm::Module &module, const Policy &policy)
    : renames(policy.renamePrivateSymbols), module(module) {
  if (renames)
    nameIn(module);
}

bool AnonymousSymbols::contains(const llvm::GlobalValue &symbol) const {
  if (!symbol.hasName())
    return true;
  return renames && symbol.hasLocalLinkage() && !symbol.getName().starts_with("llvm.") &&
         !named.contains(&symbol);
}

void AnonymousSymbols::nameIn(const llvm::Module &module) {
  nameInText(module.getModuleInlineAsm());
  for (const auto &entry : module.getComdatSymbolTable())
    name(entry.getKey());
  for (const llvm::GlobalVariable &variable : module.globals())
    nameIn(variable.getAttributes());
  for (const llvm::Function &function : module)
    nameIn(function);
}

void AnonymousSymbols::nameIn(const llvm::Function &function) {
  for (llvm::AttributeSet set : function.getAttributes())
    nameIn(set);
  for (const llvm::Instruction &instruction : llvm::instructions(function)) {
    auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (!call)
      continue;
    for (llvm::AttributeSet set : call->getAttributes())
      nameIn(set);
    if (auto *assembly = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()))
      nameInText(assembly->getAsmString());
  }
}

void AnonymousSymbols::nameIn(llvm::AttributeSet attributes) {
  for (llvm::Attribute attribute : attributes)
    if (attribute.isStringAttribute())
      nameInText(attribute.getValueAsString());
}

void AnonymousSymbols::nameInText(llvm::StringRef text) {
  eachWord(text, [this](llvm::StringRef word) { name(word); });
}

void AnonymousSymbols::name(llvm::StringRef name) {
  if (const llvm::GlobalValue *symbol = module.getNamedValue(name))
    named.insert(symbol);
}

} // namespace twinjit::llvmir
