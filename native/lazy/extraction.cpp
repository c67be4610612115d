#include "lazy/extraction.h"

#include "lazy/forwarding.h"
#include "lazy/stub.h"
#include "llvmir/debug_info.h"

#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace twinjit::lazy {
namespace {

constexpr llvm::StringLiteral kPrefixes[] = {"lazy cell.", "lazy address.", "lazy data."};

/// Whether a use calls what it uses, as a function of its own type.
bool isCall(const llvm::Use &use, const llvm::Function &function) {
  auto *call = llvm::dyn_cast<llvm::CallBase>(use.getUser());
  return call && call->isCallee(&use) && call->getFunctionType() == function.getFunctionType() &&
         call->getCallingConv() == function.getCallingConv();
}

/// A use of a function beside calls; null where there is none.
llvm::Use *findAddress(llvm::Function &function) {
  for (llvm::Use &use : function.uses())
    if (!isCall(use, function) && !llvm::isa<llvm::BlockAddress>(use.getUser()))
      return &use;
  return nullptr;
}

/// Give `to` the body and the attributes of `from`, but no linkage or visibility.
void cloneInto(llvm::Function &to, const llvm::Function &from, llvm::ValueToValueMapTy &map) {
  llvm::GlobalValue::LinkageTypes linkage = to.getLinkage();
  to.setLinkage(llvm::GlobalValue::ExternalLinkage); // for now: what is local is never hidden
  llvm::SmallVector<llvm::ReturnInst *> returns;
  llvm::CloneFunctionInto(&to, &from, map, llvm::CloneFunctionChangeType::DifferentModule, returns);
  to.setVisibility(llvm::GlobalValue::DefaultVisibility);
  to.setDLLStorageClass(llvm::GlobalValue::DefaultStorageClass);
  to.setDSOLocal(false);
  to.setLinkage(linkage); // says the rest
}

} // namespace

std::string dataSymbol(size_t index) {
  return (kPrefixes[static_cast<int>(Link::Kind::Data)] + llvm::Twine(index)).str();
}

Extraction::Extraction(const llvm::Module &whole, llvm::ArrayRef<std::string> names)
    : whole(whole), part(std::make_unique<llvm::Module>("twinjit", whole.getContext())) {
  for (const std::string &name : names)
    lazy.insert(name);
  part->setDataLayout(whole.getDataLayout());
  part->setTargetTriple(whole.getTargetTriple());
  copyFlags();
}

void Extraction::copyFlags() {
  const llvm::NamedMDNode *flags = whole.getModuleFlagsMetadata();
  if (!flags)
    return;
  for (const llvm::MDNode *flag : flags->operands())
    if (!llvmir::isDebugFlag(*flag))
      part->getOrInsertModuleFlagsMetadata()->addOperand(const_cast<llvm::MDNode *>(flag));
}

bool Extraction::isLazy(const llvm::Function &function) const {
  if (function.isIntrinsic())
    return false;
  return function.isDeclaration() ? lazy.contains(function.getName())
                                  : !function.hasAvailableExternallyLinkage();
}

void Extraction::addRoot(const llvm::Function &function) {
  root = &function;
  Closure closure;
  closure.addFunction(function);
  closure.run();
  problem = closure.whyRefused();
  if (problem.empty())
    declareAll(closure);
}

void Extraction::addData(llvm::ArrayRef<const llvm::GlobalVariable *> variables) {
  Closure closure;
  for (const llvm::GlobalVariable *variable : variables)
    closure.addVariable(*variable);
  closure.run();
  problem = closure.whyRefused();
  for (const llvm::GlobalVariable *variable : variables) {
    auto *made = newVariable(*variable, llvm::GlobalValue::ExternalLinkage,
                             dataSymbol(counts[static_cast<int>(Link::Kind::Data)]++));
    contents.emplace_back(variable, made);
  }
  if (problem.empty())
    declareAll(closure);
}

void Extraction::addStub(const llvm::Function &function) {
  problem = whyNoStub(function);
  if (!problem.empty())
    return;
  llvm::GlobalVariable *cell = makeLink(Link::Kind::Cell, function.getName());
  llvm::Function *stub = newFunction(function, llvm::GlobalValue::ExternalLinkage, kFunction);
  fillStub(*stub, *cell, function.isDeclaration() ? nullptr : &function);
}

void Extraction::declareAll(const Closure &closure) {
  std::vector<const llvm::GlobalAlias *> aliases;
  for (const llvm::GlobalValue *symbol : closure.met())
    if (auto *alias = llvm::dyn_cast<llvm::GlobalAlias>(symbol))
      aliases.push_back(alias);
    else if (!map.count(symbol))
      declare(*symbol);
  // Each leads to what was declared, or to another alias, of which none leads to itself.
  for (const llvm::GlobalAlias *alias : aliases)
    mapAlias(*alias);
}

void Extraction::mapAlias(const llvm::GlobalAlias &alias) {
  if (map.count(&alias))
    return;
  const llvm::Constant *aliasee = alias.getAliasee();
  if (auto *next = llvm::dyn_cast<llvm::GlobalAlias>(aliasee->stripPointerCasts()))
    mapAlias(*next);
  map[&alias] = llvm::MapValue(aliasee, map);
}

void Extraction::declare(const llvm::GlobalValue &symbol) {
  if (auto *function = llvm::dyn_cast<llvm::Function>(&symbol))
    declareFunction(*function);
  else
    declareVariable(llvm::cast<llvm::GlobalVariable>(symbol));
}

void Extraction::declareFunction(const llvm::Function &function) {
  bool isCopied = &function == root || goesAlong(function);
  if (!isCopied && isLazy(function)) {
    addressed.emplace_back(&function, makeStub(function));
    return;
  }
  if (!isCopied) {
    newFunction(function, function.getLinkage(), function.getName());
    return;
  }
  llvm::Function *copy =
      &function == root
          ? newFunction(function, llvm::GlobalValue::ExternalLinkage, kFunction)
          : newFunction(function,
                        function.hasAvailableExternallyLinkage()
                            ? function.getLinkage()
                            : llvm::GlobalValue::InternalLinkage,
                        function.hasAvailableExternallyLinkage() ? function.getName().str()
                                                                 : names("lazy copy."));
  bodies.emplace_back(&function, copy);
  if (isLazy(function))
    addressed.emplace_back(&function, copy);
}

llvm::Function *Extraction::makeStub(const llvm::Function &function) {
  if (std::string why = whyNoStub(function); !why.empty())
    problem = why;
  llvm::Function *stub = newFunction(function, linkageOfStub(function), names("lazy stub."));
  stubs.emplace_back(&function, stub);
  return stub;
}

/// Once it is known which functions are called.
void Extraction::fillStubs() {
  for (auto [function, stub] : stubs) {
    if (stub->use_empty()) {
      stub->eraseFromParent();
      continue;
    }
    fillStub(*stub, *makeLink(Link::Kind::Cell, function->getName()), root);
    dropPromises(*stub);
  }
}

llvm::GlobalVariable *Extraction::makeLink(Link::Kind kind, llvm::StringRef name) {
  size_t &count = counts[static_cast<int>(kind)];
  std::string symbol = (kPrefixes[static_cast<int>(kind)] + llvm::Twine(count++)).str();
  links.push_back({symbol, kind, name.str()});
  return new llvm::GlobalVariable(*part, llvm::PointerType::getUnqual(part->getContext()), false,
                                  llvm::GlobalValue::ExternalLinkage, nullptr, symbol);
}

llvm::Function *Extraction::newFunction(const llvm::Function &like,
                                        llvm::GlobalValue::LinkageTypes linkage,
                                        llvm::StringRef name) {
  auto *made = llvm::Function::Create(like.getFunctionType(), linkage, like.getAddressSpace(), name,
                                      part.get());
  made->setCallingConv(like.getCallingConv());
  // Not what the operands hold (a personality), which bodies bring along.
  made->setAttributes(like.getAttributes());
  checkName(*made, name);
  map[&like] = made;
  return made;
}

llvm::GlobalVariable *Extraction::newVariable(const llvm::GlobalVariable &like,
                                              llvm::GlobalValue::LinkageTypes linkage,
                                              llvm::StringRef name) {
  auto *made = new llvm::GlobalVariable(*part, like.getValueType(), like.isConstant(), linkage,
                                        nullptr, name, nullptr, like.getThreadLocalMode(),
                                        like.getAddressSpace(), like.isExternallyInitialized());
  made->setAlignment(like.getAlign());
  made->setUnnamedAddr(like.getUnnamedAddr());
  checkName(*made, name);
  map[&like] = made;
  return made;
}

void Extraction::checkName(const llvm::GlobalValue &made, llvm::StringRef name) {
  if (made.getName() != name)
    problem = "it has the name '" + name.str() + "', which Twinjit uses";
}

void Extraction::declareVariable(const llvm::GlobalVariable &variable) {
  using Linkage = llvm::GlobalValue;
  if (variable.hasAppendingLinkage()) {
    problem = "'" + variable.getName().str() + "' is used by a function";
  } else if (isShared(variable)) {
    size_t &count = counts[static_cast<int>(Link::Kind::Data)];
    links.push_back({dataSymbol(count), Link::Kind::Data, variable.getName().str()});
    bool isKnown = variable.isConstant() && variable.hasInitializer();
    auto *made = newVariable(
        variable, isKnown ? Linkage::AvailableExternallyLinkage : Linkage::ExternalLinkage,
        dataSymbol(count++));
    if (isKnown)
      contents.emplace_back(&variable, made);
  } else if (variable.isDeclaration() || variable.hasAvailableExternallyLinkage()) {
    newVariable(variable,
                variable.hasExternalWeakLinkage() ? Linkage::ExternalWeakLinkage
                                                  : Linkage::ExternalLinkage,
                variable.getName());
  } else {
    contents.emplace_back(&variable,
                          newVariable(variable, Linkage::PrivateLinkage, names("lazy constant.")));
  }
}

void Extraction::fillBodies() {
  for (auto [from, to] : bodies) {
    auto argument = to->arg_begin();
    for (const llvm::Argument &each : from->args())
      map[&each] = &*argument++;
    cloneInto(*to, *from, map);
    for (llvm::Instruction &each : llvm::instructions(*to))
      each.setMetadata(llvm::LLVMContext::MD_callees, nullptr); // names functions of the whole
  }
}

/// After the bodies, whose blocks may have addresses in constants.
void Extraction::fillVariables() {
  for (auto [from, to] : contents)
    to->setInitializer(llvm::cast<llvm::Constant>(llvm::MapValue(from->getInitializer(), map)));
}

/// Wherever a function of the whole is not called, it has the same address in all parts.
void Extraction::separateAddresses() {
  for (auto [function, local] : addressed) {
    llvm::GlobalVariable *address = nullptr;
    while (llvm::Use *use = findAddress(*local)) {
      if (!address)
        address = makeLink(Link::Kind::Address, function->getName());
      auto *constant = llvm::dyn_cast<llvm::Constant>(use->getUser());
      if (constant && !llvm::isa<llvm::GlobalValue>(constant))
        constant->handleOperandChange(local, address); // constants are unique: it becomes another
      else
        use->set(address);
    }
  }
}

Outcome<Part> Extraction::finish() {
  if (problem.empty()) {
    fillBodies();
    fillVariables();
    separateAddresses();
    fillStubs();
    llvmir::dropDebugInfo(*part);
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (problem.empty() && llvm::verifyModule(*part, &stream))
    problem = text;
  if (!problem.empty())
    return Failure{Kind::Unsupported,
                   "the program cannot be compiled function by function: " + problem};
  Part made;
  llvm::raw_string_ostream bitcode(made.bitcode);
  llvm::WriteBitcodeToFile(*part, bitcode);
  made.links = std::move(links);
  return made;
}

} // namespace twinjit::lazy
