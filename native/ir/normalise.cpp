#include "ir/normalise.h"

#include "ir/canonical_form.h"
#include "ir/lift.h"
#include "ir/operation_attributes.h"
#include "ir/policy_attributes.h"
#include "ir/resources.h"
#include "ir/symbol_renaming.h"

namespace twinjit {
namespace {

/// The shortest of `stem`, `stem` and an underscore … with which no name begins.
std::string unusedPrefix(std::string stem, const llvm::StringSet<> &names) {
  while (llvm::any_of(names.keys(), [&](llvm::StringRef name) { return name.starts_with(stem); }))
    stem += "_";
  return stem;
}

/// Names by number for symbols without a name, and for large constants.
struct Naming {
  NewNames symbols;
  std::string constantPrefix;
};

Naming nameByNumber(mlir::ModuleOp module, const RenamedSymbols &lookup,
                    const CanonicalForm &form) {
  llvm::DenseSet<mlir::Operation *> renamed(form.symbols.begin(), form.symbols.end());
  renamed.insert(form.constants.begin(), form.constants.end());
  llvm::StringSet<> others = otherNames(module, lookup, renamed);
  auto name = [&](const std::string &prefix, size_t number) {
    return mlir::StringAttr::get(module.getContext(), prefix + std::to_string(number));
  };
  Naming naming;
  std::string prefix = unusedPrefix("local.", others);
  for (auto [number, symbol] : llvm::enumerate(form.symbols))
    naming.symbols[symbol] = name(prefix, number);
  naming.constantPrefix = unusedPrefix("constant.", others);
  for (auto [number, constant] : llvm::enumerate(form.constants))
    if (symbolName(constant))
      naming.symbols[constant] = name(naming.constantPrefix, number);
  return naming;
}

std::optional<Failure> dropAttributes(mlir::ModuleOp module, const PolicyAttributes &filter) {
  std::optional<Failure> failure;
  module->walk([&](mlir::Operation *operation) {
    if (auto refused = setAttributes(*operation, filter.ownProperties(*operation),
                                     filter.ownOthers(*operation)))
      failure = std::move(refused);
  });
  return failure;
}

void reorder(const CanonicalForm &form) {
  for (const auto &[operation, operands] : form.operands)
    operation->setOperands(operands);
  for (const auto &[region, blocks] : form.order.blocks)
    for (mlir::Block *block : blocks)
      region->getBlocks().splice(region->end(), region->getBlocks(), block->getIterator());
  for (const auto &[block, operations] : form.order.operations) {
    for (mlir::Operation *operation : operations)
      if (!operation->hasTrait<mlir::OpTrait::IsTerminator>()) // stays the last
        operation->moveBefore(block, block->end());
    for (mlir::Operation *operation : operations)
      if (operation->hasTrait<mlir::OpTrait::IsTerminator>())
        operation->moveBefore(block, block->end());
  }
}

/// Enters uses anew, in the order in which a parser makes operations: after what is in them.
struct UseEntry : PlainVisitor {
  static void enter(mlir::Operation &operation) {
    for (mlir::OpOperand &operand : operation.getOpOperands())
      operand.set(operand.get());
    for (mlir::BlockOperand &successor : operation.getBlockOperands())
      successor.set(successor.get());
  }

  void operation(mlir::Operation &operation) {
    if (operation.getNumRegions() == 0)
      enter(operation);
  }
  void endOperation(mlir::Operation &operation) { enter(operation); }
};

void reenterUses(mlir::ModuleOp module) {
  const VisitOrder listing;
  UseEntry entry;
  Walk<UseEntry>(listing, entry).run(*module);
}

} // namespace

void dropLocations(mlir::ModuleOp module) {
  mlir::Location unknown = mlir::UnknownLoc::get(module.getContext());
  module->walk([&](mlir::Operation *operation) {
    operation->setLoc(unknown);
    for (mlir::Region &region : operation->getRegions())
      for (mlir::Block &block : region)
        for (mlir::BlockArgument argument : block.getArguments())
          argument.setLoc(unknown);
  });
}

Outcome<std::vector<LiftedConstant>> normalise(mlir::ModuleOp module, const Policy &policy,
                                               const Stop &stop) {
  if (policy.ignoreLocations)
    dropLocations(module);
  auto form = canonicalForm(module, policy, stop);
  if (stop.isRequested())
    return stop.failure();
  if (!form)
    return std::vector<LiftedConstant>();
  RenamedSymbols symbols(module, policy);
  PolicyAttributes filter(policy, symbols, module);
  Naming naming;
  if (!form->symbols.empty() || !form->constants.empty())
    naming = nameByNumber(module, symbols, *form);
  if (!filter.keepsAll())
    if (auto failure = dropAttributes(module, filter))
      return std::move(*failure);
  if (!naming.symbols.empty())
    if (auto failure = renameSymbols(module, symbols, naming.symbols))
      return std::move(*failure);
  if (stop.isRequested())
    return stop.failure();
  reorder(*form);
  std::vector<LiftedConstant> lifted = lift(form->constants, policy, naming.constantPrefix);
  if (auto failure = renameResources(module))
    return std::move(*failure);
  reenterUses(module);
  return lifted;
}

} // namespace twinjit
