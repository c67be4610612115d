#include "llvmir/normalise.h"

#include "common/symbols.h"
#include "llvmir/anonymous.h"
#include "llvmir/canonical_form.h"
#include "llvmir/debug_info.h"
#include "llvmir/walk.h"

#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/GlobalIFunc.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/TypeFinder.h"
#include "llvm/IR/ValueHandle.h"

namespace twinjit::llvmir {
namespace {

constexpr llvm::StringLiteral kLocal = "twinjit.local.", kConstant = "twinjit.constant.";

/// What code may assume of lifted constants, for the widest vectors; and the most that their memory
/// can have.
constexpr uint64_t kUsualAlignment = 64, kMostAlignment = 4096;

/// What the walk found is told as constant; the module is ours to change.
template <typename T> T &changeable(const T &found) { return const_cast<T &>(found); }

std::string typeOf(const llvm::GlobalVariable &variable) {
  std::string text;
  llvm::raw_string_ostream(text) << *variable.getValueType();
  return text;
}

llvm::StringRef dataOf(const llvm::GlobalVariable &variable) {
  return llvm::cast<llvm::ConstantDataArray>(variable.getInitializer())->getRawDataValues();
}

/// The form of a module without a fingerprint: nothing else has its key.
CanonicalForm asListed(const llvm::Module &module) {
  CanonicalForm form;
  form.symbols = symbolsOf(module);
  for (const llvm::GlobalValue *symbol : form.symbols)
    if (!symbol->hasName())
      form.anonymous.push_back(symbol);
  return form;
}

llvm::Constant *swapped(const llvm::ConstantExpr &expression) {
  return llvm::ConstantExpr::get(expression.getOpcode(), expression.getOperand(1),
                                 expression.getOperand(0), expression.getRawSubclassOptionalData());
}

/// What a constant holds may change it into another, which may have been seen to already.
void swapOperands(llvm::ArrayRef<const llvm::User *> users) {
  llvm::SmallVector<llvm::WeakTrackingVH, 0> expressions;
  for (const llvm::User *user : users) {
    if (llvm::isa<llvm::ConstantExpr>(user))
      expressions.push_back(const_cast<llvm::User *>(user));
    else
      changeable(*user).getOperandUse(0).swap(changeable(*user).getOperandUse(1));
  }
  llvm::DenseSet<llvm::Value *> done;
  for (llvm::WeakTrackingVH &each : expressions) {
    auto *expression = llvm::dyn_cast_or_null<llvm::ConstantExpr>(static_cast<llvm::Value *>(each));
    if (!expression || done.contains(expression))
      continue;
    llvm::Constant *replacement = swapped(*expression);
    done.insert(replacement);
    expression->replaceAllUsesWith(replacement);
  }
}

void drop(const LeftOut &attachment) {
  if (auto *instruction = llvm::dyn_cast<llvm::Instruction>(attachment.owner))
    return changeable(*instruction).setMetadata(attachment.kind, nullptr);
  auto &object = changeable(*llvm::cast<llvm::GlobalObject>(attachment.owner));
  llvm::SmallVector<llvm::MDNode *, 4> nodes;
  object.getMetadata(attachment.kind, nodes);
  object.eraseMetadata(attachment.kind);
  for (llvm::MDNode *node : nodes)
    if (node != attachment.node)
      object.addMetadata(attachment.kind, *node);
}

/// Move each to the end of its list.
void reorderSymbols(llvm::Module &module, llvm::ArrayRef<const llvm::GlobalValue *> order) {
  for (const llvm::GlobalValue *each : order) {
    auto &symbol = changeable(*each);
    if (auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(&symbol)) {
      module.removeGlobalVariable(variable);
      module.insertGlobalVariable(variable);
    } else if (auto *alias = llvm::dyn_cast<llvm::GlobalAlias>(&symbol)) {
      module.removeAlias(alias);
      module.insertAlias(alias);
    } else if (auto *ifunc = llvm::dyn_cast<llvm::GlobalIFunc>(&symbol)) {
      module.removeIFunc(ifunc);
      module.insertIFunc(ifunc);
    } else {
      auto &list = module.getFunctionList();
      list.splice(list.end(), list, llvm::cast<llvm::Function>(symbol).getIterator());
    }
  }
}

/// Names in order; what LLVM does not know is of no use, and may hold debug info that is dropped
/// everywhere else.
void settleNamedMetadata(llvm::Module &module) {
  llvm::SmallVector<std::pair<std::string, llvm::SmallVector<llvm::MDNode *, 4>>, 8> lists;
  for (llvm::NamedMDNode &list : llvm::make_early_inc_range(module.named_metadata()))
    if (!list.getName().starts_with("llvm."))
      module.eraseNamedMetadata(&list);
    else
      lists.push_back(
          {list.getName().str(), llvm::SmallVector<llvm::MDNode *, 4>(list.operands())});
  llvm::sort(lists, [](const auto &a, const auto &b) { return a.first < b.first; });
  for (const auto &[name, nodes] : lists)
    module.eraseNamedMetadata(module.getNamedMetadata(name));
  for (const auto &[name, nodes] : lists) {
    llvm::NamedMDNode *list = module.getOrInsertNamedMetadata(name);
    for (llvm::MDNode *node : nodes)
      list->addOperand(node);
  }
}

/// Also sets names of intrinsics that are made of those of types.
void dropTypeNames(llvm::Module &module) {
  llvm::TypeFinder types;
  types.run(module, /*onlyNamed=*/true);
  for (llvm::StructType *type : types)
    type->setName("");
  for (llvm::Function &function : llvm::make_early_inc_range(module))
    if (auto renamed = llvm::Intrinsic::remangleIntrinsicFunction(&function)) {
      function.replaceAllUsesWith(*renamed);
      function.eraseFromParent();
    }
}

/// Nothing else is linked to the object: nobody replaces what it defines.
void makeFinal(llvm::GlobalValue &symbol) {
  if (symbol.isDeclarationForLinker()) {
    symbol.setVisibility(llvm::GlobalValue::DefaultVisibility);
    symbol.setDSOLocal(false);
  } else if (symbol.hasLinkOnceLinkage()) {
    symbol.setLinkage(llvm::GlobalValue::InternalLinkage);
  } else if (symbol.isWeakForLinker()) {
    symbol.setLinkage(llvm::GlobalValue::ExternalLinkage);
  }
}

void makeFinal(llvm::Module &module) {
  for (llvm::GlobalObject &object : module.global_objects())
    object.setComdat(nullptr);
  module.getComdatSymbolTable().clear();
  for (llvm::GlobalValue &symbol : module.global_values())
    makeFinal(symbol);
}

class Renaming {
public:
  Renaming(llvm::Module &module, const CanonicalForm &form) : module(module) {
    llvm::DenseMap<const llvm::GlobalValue *, size_t> numbers;
    for (auto [number, symbol] : llvm::enumerate(form.anonymous))
      numbers.try_emplace(symbol, number);
    for (llvm::GlobalValue &symbol : module.global_values())
      if (auto found = numbers.find(&symbol); found != numbers.end())
        add(symbol, (kLocal + llvm::Twine(found->second)).str());
      else if (!symbol.isDeclarationForLinker() && !symbol.getName().starts_with("llvm."))
        add(symbol, programSymbol(symbol.getName()));
  }

  std::optional<Failure> run() {
    Policy renaming;
    renaming.renamePrivateSymbols = true;
    AnonymousSymbols texts(module, renaming);
    for (const auto &[symbol, name] : changes) {
      if (symbol->hasName() && texts.isNamedInText(*symbol))
        return Failure{Kind::Unsupported,
                       "the program defines '" + symbol->getName().str() +
                           "', a name that LLVM takes for something else, and so has to be "
                           "renamed; but assembly or an attribute in it has that name. Give the "
                           "function another one"};
      symbol->setName("");
    }
    for (const auto &[symbol, name] : changes) {
      if (module.getNamedValue(name))
        return Failure{Kind::Unsupported, "the program has a symbol '" + name +
                                              "'; names that begin with 'twinjit.' are Twinjit's"};
      symbol->setName(name);
    }
    return std::nullopt;
  }

private:
  void add(llvm::GlobalValue &symbol, std::string name) {
    if (symbol.getName() != name)
      changes.push_back({&symbol, std::move(name)});
  }

  llvm::Module &module;
  std::vector<std::pair<llvm::GlobalValue *, std::string>> changes;
};

/// Make variables external. `lifted` says where the program's are.
Outcome<std::vector<LiftedConstant>> lift(llvm::ArrayRef<const llvm::GlobalVariable *> lifted) {
  std::vector<LiftedConstant> result;
  for (auto [number, found] : llvm::enumerate(lifted)) {
    llvm::GlobalVariable &variable = changeable(*found);
    uint64_t alignment = std::max(kUsualAlignment, variable.getAlign().valueOrOne().value());
    if (alignment > kMostAlignment)
      return Failure{Kind::Unsupported,
                     "'" + variable.getName().str() +
                         "' is aligned at more than a page, and so "
                         "cannot be a parameter under constants='lift'; give 'content'"};
    result.push_back({(kConstant + llvm::Twine(number)).str(), typeOf(variable),
                      dataOf(variable).size(), alignment});
    variable.setInitializer(nullptr);
    variable.setLinkage(llvm::GlobalValue::ExternalLinkage);
    variable.setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::None);
    variable.setSection("");
    variable.setAlignment(llvm::Align(alignment));
    variable.setName(result.back().name);
  }
  return result;
}

} // namespace

Outcome<std::vector<LargeConstant>> largeConstants(const llvm::Module &module,
                                                   const Policy &policy) {
  auto form = canonicalForm(module, policy);
  if (!form)
    return form.failure();
  std::vector<LargeConstant> result;
  for (const llvm::GlobalVariable *variable : form->lifted)
    result.push_back({typeOf(*variable), dataOf(*variable)});
  return result;
}

Outcome<std::vector<LiftedConstant>> normalise(llvm::Module &module, const Policy &policy) {
  auto found = canonicalForm(module, policy);
  CanonicalForm form = found ? std::move(*found) : asListed(module);
  swapOperands(form.swapped);
  llvm::for_each(form.attachments, drop);
  if (policy.ignoreSymbolOrder)
    reorderSymbols(module, form.symbols);
  auto lifted = lift(form.lifted);
  if (!lifted)
    return lifted;
  llvm::DenseSet<const llvm::GlobalValue *> external(form.lifted.begin(), form.lifted.end());
  llvm::erase_if(form.anonymous,
                 [&](const llvm::GlobalValue *symbol) { return external.contains(symbol); });
  dropDebugInfo(module);
  makeFinal(module);
  if (auto failure = Renaming(module, form).run())
    return std::move(*failure);
  dropTypeNames(module);
  settleNamedMetadata(module);
  return lifted;
}

} // namespace twinjit::llvmir
