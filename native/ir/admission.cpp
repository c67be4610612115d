#include "ir/admission.h"

#include "common/symbols.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"

#include "llvm/ADT/TypeSwitch.h"

namespace twinjit {
namespace {

/// Whether a top-level operation defines, not only declares, its symbol.
bool isDefinition(mlir::Operation *operation) {
  return llvm::TypeSwitch<mlir::Operation *, bool>(operation)
      .Case<mlir::func::FuncOp, mlir::LLVM::LLVMFuncOp>(
          [](auto function) { return !function.isExternal(); })
      .Case([](mlir::memref::GlobalOp global) { return !global.isExternal(); })
      .Case([](mlir::LLVM::GlobalOp global) {
        // LLVM's own variables, such as llvm.used, are known by name.
        bool isDefined = global.getValueOrNull() || !global.getInitializerRegion().empty();
        return isDefined && !global.getSymName().starts_with("llvm.");
      })
      .Default([](mlir::Operation *) { return false; });
}

Failure refusal(mlir::Operation *operation, const llvm::Twine &what, llvm::StringRef why) {
  std::string place;
  if (auto function = operation->getParentOfType<mlir::FunctionOpInterface>())
    place = " in @" + function.getName().str();
  return {
      Kind::Lowering,
      ("'" + operation->getName().getStringRef() + "'" + place + ": " + what + ": " + why).str()};
}

} // namespace

std::optional<Failure> renameDefinitions(mlir::ModuleOp module) {
  for (mlir::Operation &operation : *module.getBody()) {
    if (!isDefinition(&operation))
      continue;
    mlir::StringAttr name = mlir::SymbolTable::getSymbolName(&operation);
    std::string symbol = programSymbol(name.getValue());
    if (name.getValue() == symbol)
      continue;
    auto renamed = mlir::StringAttr::get(module.getContext(), symbol);
    if (mlir::failed(mlir::SymbolTable::replaceAllSymbolUses(&operation, renamed, module)))
      return refusal(&operation, "the name @" + name.getValue(),
                     "LLVM has a function of that name, and not all uses can be renamed");
    mlir::SymbolTable::setSymbolName(&operation, renamed);
  }
  return std::nullopt;
}

} // namespace twinjit
