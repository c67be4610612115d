// Fields of symbols and blocks.
#include "llvmir/field_names.h"
#include "llvmir/walk.h"

#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/GlobalIFunc.h"

namespace twinjit::llvmir {
namespace {

llvm::StringRef nameOf(llvm::GlobalValue::LinkageTypes linkage) {
  switch (linkage) {
  case llvm::GlobalValue::ExternalLinkage:
    return "external";
  case llvm::GlobalValue::AvailableExternallyLinkage:
    return "available_externally";
  case llvm::GlobalValue::LinkOnceAnyLinkage:
    return "linkonce";
  case llvm::GlobalValue::LinkOnceODRLinkage:
    return "linkonce_odr";
  case llvm::GlobalValue::WeakAnyLinkage:
    return "weak";
  case llvm::GlobalValue::WeakODRLinkage:
    return "weak_odr";
  case llvm::GlobalValue::AppendingLinkage:
    return "appending";
  case llvm::GlobalValue::InternalLinkage:
    return "internal";
  case llvm::GlobalValue::PrivateLinkage:
    return "private";
  case llvm::GlobalValue::ExternalWeakLinkage:
    return "extern_weak";
  case llvm::GlobalValue::CommonLinkage:
    return "common";
  }
  return "unknown";
}

/// LLVM's words for numbered choices, the first of which is the default and not told.
constexpr llvm::StringLiteral kVisibilities[] = {"", "hidden", "protected"};
constexpr llvm::StringLiteral kDllStorages[] = {"", "dllimport", "dllexport"};
constexpr llvm::StringLiteral kThreadModels[] = {"", "generaldynamic", "localdynamic",
                                                 "initialexec", "localexec"};
constexpr llvm::StringLiteral kUnnamed[] = {"", "local_unnamed_addr", "unnamed_addr"};
constexpr llvm::StringLiteral kCodeModels[] = {"", "tiny", "small", "kernel", "medium", "large"};
constexpr llvm::StringLiteral kComdatKinds[] = {"any", "exactmatch", "largest", "nodeduplicate",
                                                "samesize"};

NodeKind kindOf(const llvm::GlobalValue &symbol) {
  if (llvm::isa<llvm::GlobalVariable>(symbol))
    return NodeKind::Global;
  if (llvm::isa<llvm::GlobalAlias>(symbol))
    return NodeKind::Alias;
  return llvm::isa<llvm::GlobalIFunc>(symbol) ? NodeKind::IFunc : NodeKind::Function;
}

llvm::StringRef labelOf(const llvm::GlobalValue &symbol) {
  static constexpr llvm::StringLiteral kLabels[] = {"global", "alias", "ifunc", "function"};
  return kLabels[static_cast<int>(kindOf(symbol)) - static_cast<int>(NodeKind::Global)];
}

} // namespace

void Walk::describeSymbol(const llvm::GlobalValue &symbol) {
  auto *function = llvm::dyn_cast<llvm::Function>(&symbol);
  bool hasName = !anonymous.contains(symbol);
  sink.symbol(symbol, hasName);
  sink.begin({kindOf(symbol), labelOf(symbol), hasName ? symbol.getName() : "", nullptr, function});
  if (hasName)
    word(names::kName, symbol.getName());
  else
    sink.define(numberOf(&symbol));
  type(names::kValueType, symbol.getValueType());
  if (symbol.getAddressSpace() != 0)
    number(names::kAddressSpace, symbol.getAddressSpace());
  word(names::kLinkage, nameOf(symbol.getLinkage()));
  wordUnlessEmpty(names::kVisibility, kVisibilities[symbol.getVisibility()]);
  wordUnlessEmpty(names::kDllStorage, kDllStorages[symbol.getDLLStorageClass()]);
  wordUnlessEmpty(names::kThreadLocal, kThreadModels[symbol.getThreadLocalMode()]);
  wordUnlessEmpty(names::kUnnamedAddress, kUnnamed[static_cast<int>(symbol.getUnnamedAddr())]);
  flag(names::kDsoLocal, symbol.isDSOLocal());
  wordUnlessEmpty(names::kPartition, symbol.getPartition());
  if (auto *object = llvm::dyn_cast<llvm::GlobalObject>(&symbol)) {
    wordUnlessEmpty(names::kSection, object->getSection());
    describeComdat(*object);
  }
  if (auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(&symbol))
    describeVariable(*variable);
  else if (auto *alias = llvm::dyn_cast<llvm::GlobalAlias>(&symbol))
    value(names::kAliasee, alias->getAliasee());
  else if (auto *ifunc = llvm::dyn_cast<llvm::GlobalIFunc>(&symbol))
    value(names::kResolver, ifunc->getResolver());
  if (auto *object = llvm::dyn_cast<llvm::GlobalObject>(&symbol))
    describeAttachments(*object);
  if (function)
    describeFunction(*function);
  sink.end();
}

void Walk::describeComdat(const llvm::GlobalObject &object) {
  const llvm::Comdat *comdat = object.getComdat();
  if (!comdat)
    return;
  word(names::kComdat, comdat->getName());
  word(names::kComdatKind, kComdatKinds[comdat->getSelectionKind()]);
}

void Walk::describeAttachments(const llvm::GlobalObject &object) {
  llvm::SmallVector<std::pair<unsigned, llvm::MDNode *>, 4> list;
  object.getAllMetadata(list);
  attachments(object, list);
}

void Walk::describeVariable(const llvm::GlobalVariable &variable) {
  flag(names::kConstant, variable.isConstant());
  flag(names::kExternallyInitialized, variable.isExternallyInitialized());
  if (variable.getAlign())
    number(names::kSymbolAlignment, variable.getAlign()->value());
  if (variable.getCodeModel())
    word(names::kCodeModel, kCodeModels[variable.getCodeModelRaw()]);
  if (variable.hasSanitizerMetadata()) {
    auto sanitizer = variable.getSanitizerMetadata();
    number(names::kSanitizer, sanitizer.NoAddress | sanitizer.NoHWAddress << 1 |
                                  sanitizer.Memtag << 2 | sanitizer.IsDynInit << 3);
  }
  if (variable.hasAttributes())
    attributes(names::kAttributes, variable.getAttributes());
  if (isLifted(variable)) {
    sink.lifted(variable);
    flag(names::kLifted, true);
  } else if (variable.hasInitializer()) {
    value(names::kInitializer, variable.getInitializer());
  }
}

/// Whether an alias names the variable, or a place in it: it must be defined then.
bool Walk::isAliased(const llvm::GlobalVariable &variable) const {
  return llvm::any_of(module.aliases(), [&](const llvm::GlobalAlias &alias) {
    return alias.getAliaseeObject() == &variable;
  });
}

/// Whether the bytes of an initialiser are a parameter of the program.
bool Walk::isLifted(const llvm::GlobalVariable &variable) const {
  if (!policy.liftFrom || !variable.hasInitializer() || !variable.isConstant() ||
      !variable.hasLocalLinkage() || isAliased(variable))
    return false;
  auto *data = llvm::dyn_cast<llvm::ConstantDataArray>(variable.getInitializer());
  if (!data || data->getRawDataValues().size() < *policy.liftFrom)
    return false;
  llvm::StringRef bytes = data->getRawDataValues();
  llvm::StringRef first = bytes.take_front(data->getElementByteSize());
  for (size_t i = 0; i != bytes.size(); i += first.size())
    if (bytes.substr(i, first.size()) != first)
      return true;
  return false; // one value throughout is no data
}

void Walk::describeFunction(const llvm::Function &function) {
  flag(names::kDeclaration, function.isDeclaration());
  if (function.getCallingConv() != llvm::CallingConv::C)
    number(names::kConvention, function.getCallingConv());
  attributes(function.getAttributes());
  if (function.getAlign())
    number(names::kSymbolAlignment, function.getAlign()->value());
  if (function.hasGC())
    word(names::kCollector, function.getGC());
  if (function.hasPersonalityFn())
    value(names::kPersonality, function.getPersonalityFn());
  if (function.hasPrefixData())
    value(names::kPrefix, function.getPrefixData());
  if (function.hasPrologueData())
    value(names::kPrologue, function.getPrologueData());
  enterFunction(function);
  for (const llvm::Argument &argument : function.args())
    sink.define(numberOf(&argument));
  for (const llvm::BasicBlock &block : function) {
    if (sink.isSettled() || !constants.problem.empty())
      return;
    describeBlock(block);
  }
}

void Walk::describeBlock(const llvm::BasicBlock &block) {
  sink.begin({NodeKind::Block, "block", ""});
  sink.define(numberOf(&block));
  for (const llvm::Instruction &instruction : block)
    describe(instruction);
  sink.end();
}

} // namespace twinjit::llvmir
