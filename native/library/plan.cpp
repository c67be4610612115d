#include "library/plan.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace twinjit::library {
namespace {

class Planner {
public:
  explicit Planner(llvm::GlobalValue &root) { plan.root = &root; }

  Plan run();

private:
  void block(std::string reason, bool isForProvided = false) {
    plan.obstacles.push_back({std::move(reason), isForProvided});
  }
  void include(llvm::Function &function);
  void include(llvm::GlobalVariable &variable);
  void reach(llvm::GlobalValue &value);
  void refer(const llvm::GlobalValue &external);
  void reachVariable(llvm::GlobalVariable &variable);
  void judge(const llvm::Function &function);
  void scan(llvm::Function &function);
  void scan(const llvm::Instruction &instruction);
  void scan(const llvm::Value *value);
  void scan(const llvm::Metadata *metadata);
  void sortOut();
  void keepShareable();

  Plan plan;
  llvm::SmallPtrSet<const llvm::GlobalValue *, 16> reached;
  llvm::SetVector<const llvm::Constant *> constants; // other than globals
  llvm::SmallPtrSet<const llvm::Metadata *, 32> nodes;
};

std::string quoted(const llvm::GlobalValue &value) { return "'" + value.getName().str() + "'"; }

bool isCounted(const llvm::Instruction &instruction) {
  const auto *intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return !intrinsic || !intrinsic->isAssumeLikeIntrinsic();
}

Plan Planner::run() {
  auto &root = const_cast<llvm::GlobalValue &>(*plan.root);
  reached.insert(&root);
  if (root.isInterposable())
    block("another definition may take its place (its linkage is weak)", true);
  if (auto *function = llvm::dyn_cast<llvm::Function>(&root))
    include(*function);
  else if (auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(&root))
    reachVariable(*variable);
  else
    block("it is an alias");
  // What is found meanwhile is appended. No recursion: variables may lead to any number of others.
  for (size_t function = 0, variable = 0;;)
    if (variable != plan.variables.size())
      scan(plan.variables[variable++]->getInitializer());
    else if (function != plan.functions.size())
      scan(const_cast<llvm::Function &>(*plan.functions[function++]));
    else
      break;
  sortOut();
  keepShareable();
  return std::move(plan);
}

/// Find the constants that refer to globals, directly or not.
void Planner::sortOut() {
  llvm::SmallPtrSet<const llvm::Value *, 16> known;
  auto refers = [&](const llvm::Use &operand) {
    return llvm::isa<llvm::GlobalValue>(operand.get()) || known.contains(operand.get());
  };
  size_t before;
  do { // operands mostly come after those that they are found by, so that twice is enough
    before = known.size();
    for (const llvm::Constant *constant : llvm::reverse(constants))
      if (llvm::any_of(constant->operands(), refers) && known.insert(constant).second)
        plan.constants.push_back(constant);
  } while (known.size() != before);
}

void Planner::include(llvm::Function &function) { plan.functions.push_back(&function); }

void Planner::include(llvm::GlobalVariable &variable) {
  plan.variables.push_back(&variable);
  plan.constantBytes += variable.getDataLayout().getTypeAllocSize(variable.getValueType());
}

void Planner::refer(const llvm::GlobalValue &external) {
  plan.externals.push_back(&external);
  if (external.hasHiddenVisibility())
    block("it uses " + quoted(external) + ", which the process hides from others", true);
}

void Planner::reachVariable(llvm::GlobalVariable &variable) {
  bool isOwn = variable.hasLocalLinkage() || &variable == plan.root;
  if (variable.isThreadLocal())
    block("it uses the thread-local variable " + quoted(variable));
  else if (!isOwn)
    refer(variable);
  else if (!variable.isConstant())
    block("it uses the mutable static variable " + quoted(variable));
  else if (!variable.hasInitializer() || variable.isExternallyInitialized())
    block("the constant " + quoted(variable) + " has no value");
  else
    include(variable);
}

void Planner::reach(llvm::GlobalValue &value) {
  if (!reached.insert(&value).second)
    return;
  if (auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(&value))
    return reachVariable(*variable);
  if (!value.hasLocalLinkage())
    refer(value);
  else if (auto *function = llvm::dyn_cast<llvm::Function>(&value))
    include(*function);
  else
    block("it uses the alias " + quoted(value));
}

void Planner::judge(const llvm::Function &function) {
  bool isRoot = &function == plan.root;
  if (isRoot && function.hasFnAttribute(llvm::Attribute::NoInline))
    block("it is marked noinline", true);
  if (isRoot && function.hasFnAttribute(llvm::Attribute::Cold))
    block("it is marked cold", true);
  if (isRoot && function.isVarArg())
    block("it takes a variable number of arguments", true);
  if (function.hasFnAttribute(llvm::Attribute::Naked))
    block("it is marked naked", true);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::verifyFunction(function, &stream))
    block(quoted(function) + " is not valid LLVM IR: " + llvm::StringRef(text).rtrim().str());
}

void Planner::scan(llvm::Function &function) {
  if (llvm::Error error = function.materialize())
    return block(quoted(function) + " cannot be read: " + llvm::toString(std::move(error)));
  if (function.isDeclaration())
    return block("it has no body");
  judge(function);
  for (const llvm::Use &operand : function.operands()) // of personalities and prologues
    scan(operand.get());
  llvm::SmallVector<std::pair<unsigned, llvm::MDNode *>> attached;
  function.getAllMetadata(attached);
  for (auto [kind, node] : attached)
    scan(node);
  for (const llvm::Instruction &instruction : llvm::instructions(function))
    scan(instruction);
}

void Planner::scan(const llvm::Instruction &instruction) {
  plan.instructions += isCounted(instruction);
  for (const llvm::Use &operand : instruction.operands())
    scan(operand.get());
  llvm::SmallVector<std::pair<unsigned, llvm::MDNode *>> attached;
  instruction.getAllMetadata(attached);
  for (auto [kind, node] : attached)
    scan(node);
}

void Planner::scan(const llvm::Value *value) {
  if (const auto *metadata = llvm::dyn_cast<llvm::MetadataAsValue>(value))
    return scan(metadata->getMetadata());
  const auto *first = llvm::dyn_cast<llvm::Constant>(value);
  if (!first)
    return;
  llvm::SmallVector<const llvm::Constant *> pending{first};
  while (!pending.empty()) {
    const llvm::Constant *constant = pending.pop_back_val();
    if (auto *global = llvm::dyn_cast<llvm::GlobalValue>(constant)) {
      reach(const_cast<llvm::GlobalValue &>(*global));
      continue;
    }
    if (llvm::isa<llvm::ConstantData>(constant) || !constants.insert(constant))
      continue;
    if (llvm::isa<llvm::BlockAddress>(constant)) {
      block("it uses addresses of its blocks");
      continue;
    }
    for (const llvm::Use &operand : llvm::reverse(constant->operands())) // leaves the first on top
      pending.push_back(llvm::cast<llvm::Constant>(operand.get()));
  }
}

void Planner::scan(const llvm::Metadata *metadata) {
  llvm::SmallVector<const llvm::Metadata *> pending{metadata};
  while (!pending.empty()) {
    const llvm::Metadata *each = pending.pop_back_val();
    if (!each || !nodes.insert(each).second)
      continue;
    if (const auto *wrapped = llvm::dyn_cast<llvm::ValueAsMetadata>(each)) {
      plan.mapsMetadata |= !llvm::isa<llvm::ConstantData>(wrapped->getValue());
      scan(wrapped->getValue());
    }
    const auto *node = llvm::dyn_cast<llvm::MDNode>(each);
    if (!node)
      continue;
    if (node->isDistinct())
      plan.distinct.push_back(node);
    for (const llvm::MDOperand &operand : llvm::reverse(node->operands()))
      pending.push_back(operand.get());
  }
}

/// Share no node that leads to a global value, of which the program has another.
void Planner::keepShareable() {
  llvm::DenseMap<const llvm::Metadata *, llvm::SmallVector<const llvm::Metadata *, 2>> users;
  llvm::SmallVector<const llvm::Metadata *> pending;
  for (const llvm::Metadata *each : nodes) {
    if (const auto *wrapped = llvm::dyn_cast<llvm::ConstantAsMetadata>(each))
      if (!llvm::isa<llvm::ConstantData>(wrapped->getValue()))
        pending.push_back(each);
    if (const auto *node = llvm::dyn_cast<llvm::MDNode>(each))
      for (const llvm::MDOperand &operand : node->operands())
        users[operand.get()].push_back(each);
  }
  llvm::SmallPtrSet<const llvm::Metadata *, 8> leading;
  while (!pending.empty()) {
    const llvm::Metadata *each = pending.pop_back_val();
    if (leading.insert(each).second)
      llvm::append_range(pending, users.lookup(each));
  }
  llvm::erase_if(plan.distinct, [&](const llvm::MDNode *node) { return leading.contains(node); });
}

} // namespace

Plan makePlan(llvm::GlobalValue &root) { return Planner(root).run(); }

} // namespace twinjit::library
