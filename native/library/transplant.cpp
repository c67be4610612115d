#include "library/transplant.h"

#include "common/symbols.h"

#include "llvm/IR/Instructions.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Transforms/Utils/Cloning.h"

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

void Transplant::define(const llvm::Function &source, llvm::Function &target, Map &map) {
  auto argument = target.arg_begin();
  for (const llvm::Argument &original : source.args())
    map[&original] = &*argument++;
  llvm::SmallVector<llvm::ReturnInst *> returns;
  llvm::CloneFunctionInto(&target, &source, map, llvm::CloneFunctionChangeType::DifferentModule,
                          returns);
}

void Transplant::define(const llvm::GlobalVariable &source, llvm::GlobalVariable &target,
                        Map &map) {
  target.copyAttributesFrom(&source);
  target.setInitializer(llvm::MapValue(source.getInitializer(), map));
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

/// Values that the map will have: growing it costs as much as filling it.
unsigned Transplant::expectedValues() const {
  uint64_t count = placed.size();
  for (const Plan *plan : plans) {
    count += plan->instructions + plan->externals.size();
    for (const llvm::Function *function : plan->functions)
      count += function->size() + function->arg_size();
  }
  return static_cast<unsigned>(count);
}

void Transplant::fill(Map &map) const {
  for (auto [source, target] : placed)
    map[source] = target;
  for (const Plan *plan : plans)
    for (const llvm::MDNode *node : plan->distinct)
      map.MD()[node].reset(const_cast<llvm::MDNode *>(node));
}

void Transplant::finish() {
  for (const Plan *plan : plans)
    for (const llvm::GlobalValue *external : plan->externals)
      if (llvm::GlobalValue *&known = placed[external]; !known)
        known = place(*external);
  unsigned values = expectedValues();
  Map map(llvm::PowerOf2Ceil(values + values / 2)); // a third of the buckets stays free
  fill(map);
  for (const Plan *plan : plans) {
    for (const llvm::GlobalVariable *variable : plan->variables)
      if (auto *target = llvm::cast<llvm::GlobalVariable>(placed[variable]);
          !target->hasInitializer())
        define(*variable, *target, map);
    for (const llvm::Function *function : plan->functions)
      if (auto *target = llvm::cast<llvm::Function>(placed[function]); target->empty())
        define(*function, *target, map);
  }
  for (const Plan *plan : plans) {
    for (const llvm::GlobalVariable *variable : plan->variables)
      setLinkage(*plan, *variable, *placed[variable]);
    for (const llvm::Function *function : plan->functions)
      setLinkage(*plan, *function, *placed[function]);
  }
  llvm::NamedMDNode *units = program.getNamedMetadata("llvm.dbg.cu"); // cloning makes an empty one
  if (units && units->getNumOperands() == 0)
    units->eraseFromParent();
}

} // namespace twinjit::library
