#include "library/transplant.h"

#include "common/symbols.h"
#include "library/body_copy.h"

namespace twinjit::library {

Transplant::Transplant(llvm::Module &program, Linkage linkage, llvm::ArrayRef<std::string> imported)
    : program(program), linkage(linkage) {
  for (const std::string &name : imported) {
    llvm::GlobalValue *copy = program.getNamedValue(programSymbol(name));
    this->imported[name] = copy ? copy : program.getNamedValue(name);
  }
}

/// Make a declaration.
llvm::GlobalValue *Transplant::create(const llvm::GlobalValue &source, const llvm::Twine &name) {
  auto linkage = source.hasExternalWeakLinkage() ? llvm::GlobalValue::ExternalWeakLinkage
                                                 : llvm::GlobalValue::ExternalLinkage;
  if (auto *type = llvm::dyn_cast<llvm::FunctionType>(source.getValueType())) {
    auto *made = llvm::Function::Create(type, linkage, source.getAddressSpace(), name, &program);
    if (const auto *function = llvm::dyn_cast<llvm::Function>(&source)) {
      made->setCallingConv(function->getCallingConv());
      made->setAttributes(function->getAttributes());
    }
    return made;
  }
  const auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(&source); // null for an alias
  return new llvm::GlobalVariable(
      program, source.getValueType(), variable && variable->isConstant(), linkage, nullptr, name,
      nullptr, llvm::GlobalValue::NotThreadLocal, source.getAddressSpace());
}

/// What an externally visible name stands for in the program.
llvm::GlobalValue *Transplant::place(const llvm::GlobalValue &source) {
  if (llvm::GlobalValue *copy = imported.lookup(source.getName()))
    return copy;
  llvm::GlobalValue *own = program.getNamedValue(programSymbol(source.getName()));
  if (own && !own->hasLocalLinkage())
    return own;
  llvm::GlobalValue *known = program.getNamedValue(source.getName());
  if (known && known->hasLocalLinkage()) { // of the same name by chance
    known->setName(librarySymbol(source.getName()));
    known = nullptr;
  }
  if (!known)
    return create(source, source.getName());
  return known;
}

bool Transplant::add(const Plan &plan) {
  llvm::GlobalValue *root = place(*plan.root);
  if (!root->isDeclaration()) {
    placed[plan.root] = root;
    return false;
  }
  bool isSame = root->getValueType() == plan.root->getValueType() &&
                root->getValueID() == plan.root->getValueID();
  if (!isSame) { // C lets a caller see a function without its types
    llvm::GlobalValue *made = create(*plan.root, "");
    made->takeName(root);
    root->replaceAllUsesWith(made);
    root->eraseFromParent();
    root = made;
  }
  placed[plan.root] = root;
  for (const llvm::Function *function : plan.functions)
    if (llvm::GlobalValue *&known = placed[function]; !known)
      known = create(*function, librarySymbol(function->getName()));
  for (const llvm::GlobalVariable *variable : plan.variables)
    if (llvm::GlobalValue *&known = placed[variable]; !known)
      known = create(*variable, librarySymbol(variable->getName()));
  plans.push_back(&plan);
  return true;
}

void Transplant::setLinkage(const Plan &plan, const llvm::GlobalValue &source,
                            llvm::GlobalValue &target) {
  bool isRoot = &source == plan.root;
  target.setVisibility(llvm::GlobalValue::DefaultVisibility); // local ones can have no other
  if (isRoot && linkage == Linkage::Provided)
    target.setLinkage(llvm::GlobalValue::AvailableExternallyLinkage);
  else
    target.setLinkage(source.hasPrivateLinkage() ? llvm::GlobalValue::PrivateLinkage
                                                 : llvm::GlobalValue::InternalLinkage);
  // The process' own may be further away than 2 GB.
  target.setDSOLocal(target.hasLocalLinkage());
  if (isRoot && linkage == Linkage::Copied)
    target.setName(programSymbol(source.getName()));
}

size_t Transplant::localValues() const {
  size_t count = 0;
  for (const Plan *plan : plans) {
    count += plan->instructions + plan->constants.size();
    for (const llvm::Function *function : plan->functions)
      count += function->size() + function->arg_size();
  }
  return count;
}

void Transplant::define(const Plan &plan, Replacements &replacements) {
  for (const llvm::GlobalVariable *variable : plan.variables)
    if (auto *target = llvm::cast<llvm::GlobalVariable>(placed[variable]);
        !target->hasInitializer()) {
      target->copyAttributesFrom(variable);
      target->setInitializer(
          replacements.of(const_cast<llvm::Constant &>(*variable->getInitializer())));
    }
  for (const llvm::Function *function : plan.functions)
    if (auto *target = llvm::cast<llvm::Function>(placed[function]); target->empty())
      copyFunction(*function, *target, replacements, plan.mapsMetadata);
}

void Transplant::finish() {
  for (const Plan *plan : plans)
    for (const llvm::GlobalValue *external : plan->externals)
      if (llvm::GlobalValue *&known = placed[external]; !known)
        known = place(*external);
  Replacements replacements(placed, localValues());
  for (const Plan *plan : plans) {
    replacements.prepare(*plan);
    define(*plan, replacements);
  }
  for (const Plan *plan : plans) {
    for (const llvm::GlobalVariable *variable : plan->variables)
      setLinkage(*plan, *variable, *placed[variable]);
    for (const llvm::Function *function : plan->functions)
      setLinkage(*plan, *function, *placed[function]);
  }
}

} // namespace twinjit::library
