#include "llvmir/walk.h"

#include "llvmir/debug_info.h"
#include "llvmir/field_names.h"

#include <algorithm>

namespace twinjit::llvmir {

llvm::SmallVector<const llvm::GlobalValue *, 0> symbolsOf(const llvm::Module &module) {
  llvm::SmallVector<const llvm::GlobalValue *, 0> symbols;
  for (const llvm::GlobalVariable &variable : module.globals())
    symbols.push_back(&variable);
  for (const llvm::GlobalAlias &alias : module.aliases())
    symbols.push_back(&alias);
  for (const llvm::GlobalIFunc &ifunc : module.ifuncs())
    symbols.push_back(&ifunc);
  for (const llvm::Function &function : module)
    symbols.push_back(&function);
  return symbols;
}

Walk::Walk(const llvm::Module &module, const Policy &policy, Interner &interner, const Ranks &ranks,
           Sink &sink)
    : module(module), policy(policy), ranks(ranks), sink(sink), anonymous(module, policy),
      types(interner), constants(interner, policy, anonymous, ranks, types),
      metadataContents(interner, policy, constants) {
  module.getContext().getMDKindNames(metadataKinds);
  module.getContext().getSyncScopeNames(scopes);
}

std::string Walk::run() {
  sink.begin({NodeKind::Module, "module", ""});
  describeModule();
  if (policy.ignoreSymbolOrder)
    describeUnordered();
  else
    describeListed();
  describeNamedMetadata();
  drain();
  if (policy.ignoreSymbolOrder)
    describeRest();
  sink.end();
  for (const llvm::ConstantExpr *expression : constants.swapped)
    sink.swapped(*expression);
  return constants.problem;
}

void Walk::describe(const llvm::GlobalValue &symbol) {
  if (constants.problem.empty() && !sink.isSettled() && !isSkipped(symbol))
    describeSymbol(symbol);
}

void Walk::describeModule() {
  wordUnlessEmpty(names::kTriple, module.getTargetTriple().str());
  wordUnlessEmpty(names::kDataLayout, module.getDataLayoutStr());
  wordUnlessEmpty(names::kModuleAsm, module.getModuleInlineAsm());
  // Otherwise it reaches an object only as its name of a file, which the compiler sets.
  if (!policy.ignoreLocations && !policy.ignoreModuleName)
    wordUnlessEmpty(names::kSourceFile, module.getSourceFileName());
}

void Walk::describeListed() {
  auto symbols = symbolsOf(module);
  for (const llvm::GlobalValue *symbol : symbols)
    if (anonymous.contains(*symbol))
      globals.try_emplace(symbol, globals.size());
  for (const llvm::GlobalValue *symbol : symbols)
    describe(*symbol);
}

void Walk::describeUnordered() {
  auto symbols = symbolsOf(module);
  llvm::erase_if(symbols,
                 [&](const llvm::GlobalValue *symbol) { return anonymous.contains(*symbol); });
  llvm::sort(symbols, [](const llvm::GlobalValue *a, const llvm::GlobalValue *b) {
    return a->getName() < b->getName();
  });
  for (const llvm::GlobalValue *symbol : symbols)
    describe(*symbol);
}

/// What nothing that was told has mentioned.
void Walk::describeRest() {
  auto symbols = symbolsOf(module);
  llvm::erase_if(symbols,
                 [&](const llvm::GlobalValue *symbol) { return !anonymous.contains(*symbol); });
  llvm::stable_sort(symbols, [&](const llvm::GlobalValue *a, const llvm::GlobalValue *b) {
    return ranks.lookup(a) < ranks.lookup(b);
  });
  for (const llvm::GlobalValue *symbol : symbols) {
    numberOf(symbol);
    drain();
  }
}

void Walk::drain() {
  while (!pendingSymbols.empty() || !pendingNodes.empty()) {
    if (!pendingSymbols.empty()) {
      const llvm::GlobalValue *symbol = pendingSymbols.front();
      pendingSymbols.pop_front();
      describe(*symbol);
    } else {
      const llvm::MDNode *node = pendingNodes.front();
      pendingNodes.pop_front();
      describeNode(*node);
    }
  }
}

void Walk::describeNamedMetadata() {
  llvm::SmallVector<const llvm::NamedMDNode *, 8> lists;
  for (const llvm::NamedMDNode &list : module.named_metadata())
    if (!policy.ignoreLocations || !isDebugMetadata(list.getName()))
      lists.push_back(&list);
  llvm::sort(lists, [](const llvm::NamedMDNode *a, const llvm::NamedMDNode *b) {
    return a->getName() < b->getName();
  });
  for (const llvm::NamedMDNode *list : lists) {
    bool isFlags = list->getName() == "llvm.module.flags";
    llvm::SmallVector<const llvm::MDNode *, 8> nodes(list->operands());
    if (isFlags && policy.ignoreLocations)
      llvm::erase_if(nodes, [](const llvm::MDNode *flag) { return isDebugFlag(*flag); });
    if (isFlags && nodes.empty())
      continue;
    sink.begin({NodeKind::NamedMetadata, list->getName(), list->getName()});
    for (auto [index, node] : llvm::enumerate(nodes))
      metadata(names::kElement.at(index), node);
    sink.end();
  }
}

void Walk::describeNode(const llvm::MDNode &node) {
  sink.begin({NodeKind::Metadata, "metadata", ""});
  sink.define(numberOf(&node));
  fields.clear();
  metadataContents.describeInside(node, fields);
  emit(names::kNode, fields, [&](llvm::raw_ostream &stream, llvm::ModuleSlotTracker &slots) {
    node.print(stream, slots, &module);
  });
  sink.end();
}

void Walk::enterFunction(const llvm::Function &function) {
  locals.clear();
  for (const llvm::Argument &argument : function.args())
    locals.try_emplace(&argument, locals.size());
  for (const llvm::BasicBlock &block : function) {
    locals.try_emplace(&block, locals.size());
    for (const llvm::Instruction &instruction : block)
      if (!instruction.getType()->isVoidTy())
        locals.try_emplace(&instruction, locals.size());
  }
}

Numbered Walk::numberOf(Identity identity) {
  auto *value = llvm::dyn_cast<const llvm::Value *>(identity);
  auto *symbol = llvm::dyn_cast_or_null<llvm::GlobalValue>(value);
  if (value && !symbol) {
    auto found = locals.find(value);
    if (found == locals.end() && constants.problem.empty())
      constants.problem = "metadata that mentions a local value of another function";
    return {identity, true, found == locals.end() ? 0 : found->second};
  }
  auto [place, isNew] = globals.try_emplace(identity, globals.size());
  if (isNew && symbol)
    pendingSymbols.push_back(symbol);
  else if (isNew)
    pendingNodes.push_back(llvm::cast<const llvm::MDNode *>(identity));
  return {identity, false, place->second};
}

/// Declarations of what describes debug info, which LLVM reads into another form.
bool Walk::isSkipped(const llvm::GlobalValue &symbol) const {
  return symbol.getName().starts_with("llvm.dbg.") && symbol.isDeclaration() &&
         (policy.ignoreLocations || symbol.use_empty());
}

std::string Walk::sortKey(const Fields &content) {
  std::string key = constants.sortKey(content);
  for (Identity identity : content.identities()) {
    auto *value = llvm::dyn_cast<const llvm::Value *>(identity);
    uint64_t place = value ? locals.lookup(value) : 0;
    for (int shift = 56; shift >= 0; shift -= 8)
      key.push_back(static_cast<char>(place >> shift));
  }
  return key;
}

const std::string &Walk::attachmentName(unsigned kind) {
  std::string &name = attachmentNames[kind];
  if (name.empty())
    name = "!" + metadataKinds[kind].str();
  return name;
}

void Walk::emit(FieldName name, const Fields &content, Printer print) {
  numbered.clear();
  for (Identity identity : content.identities())
    numbered.push_back(numberOf(identity));
  sink.field(name, content.bytes(), numbered, print);
}

void Walk::number(FieldName name, uint64_t value) {
  fields.clear();
  fields.number(value);
  emit(name, fields,
       [&](llvm::raw_ostream &stream, llvm::ModuleSlotTracker &) { stream << value; });
}

void Walk::word(FieldName name, llvm::StringRef value) {
  fields.clear();
  fields.string(value);
  emit(name, fields,
       [&](llvm::raw_ostream &stream, llvm::ModuleSlotTracker &) { stream << value; });
}

void Walk::wordUnlessEmpty(FieldName name, llvm::StringRef value) {
  if (!value.empty())
    word(name, value);
}

void Walk::flag(FieldName name, bool isSet) {
  if (isSet)
    word(name, "yes");
}

void Walk::type(FieldName name, const llvm::Type *type) {
  fields.clear();
  fields.ref(types.of(type));
  emit(name, fields, [&](llvm::raw_ostream &stream, llvm::ModuleSlotTracker &) {
    type->print(stream, /*IsForDebug=*/false, /*NoDetails=*/true);
  });
}

} // namespace twinjit::llvmir
