#include "ir/admission.h"

#include "common/symbols.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/SymbolTable.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace twinjit {
namespace {

/// Whether the addresses in a row-major array of that shape overflow.
bool isTooLarge(mlir::ShapedType type) {
  if (!type.hasRank())
    return false;
  int64_t size = 16; // bytes of the largest elements that have a name of their own
  if (type.getElementType().isIntOrFloat())
    size = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  for (int64_t extent : type.getShape())
    if (!mlir::ShapedType::isDynamic(extent) && extent != 0 &&
        llvm::MulOverflow(size, extent, size))
      return true;
  return false;
}

/// Whether LLVM's functions cannot pass values of that type.
bool isUnpassable(mlir::Type type) {
  auto structure = llvm::dyn_cast<mlir::LLVM::LLVMStructType>(type);
  return (structure && structure.isOpaque()) || llvm::isa<mlir::LLVM::LLVMLabelType>(type);
}

/// Why a type ends the process in MLIR's conversions or in LLVM; empty where it does not.
llvm::StringRef whyRefused(mlir::Type type) {
  return llvm::TypeSwitch<mlir::Type, llvm::StringRef>(type)
      .Case([](mlir::IntegerType integer) {
        return integer.getWidth() == 0 ? "LLVM has no integers without bits" : "";
      })
      .Case([](mlir::VectorType vector) {
        return vector.isScalable() ? "x86-64 has no scalable vectors" : "";
      })
      .Case([](mlir::TensorType tensor) {
        if (!mlir::BaseMemRefType::isValidElementType(tensor.getElementType()))
          return "no buffer can hold its elements";
        return isTooLarge(tensor) ? "it is larger than the address space" : "";
      })
      .Case([](mlir::MemRefType memref) {
        return isTooLarge(memref) ? "it is larger than the address space" : "";
      })
      .Case([](mlir::LLVM::LLVMFunctionType function) {
        bool fits = !isUnpassable(function.getReturnType()) &&
                    llvm::none_of(function.getParams(), isUnpassable);
        return fits ? "" : "functions pass no opaque structs and no labels";
      })
      .Case([](mlir::LLVM::LLVMTargetExtType) { return "it is another target's"; })
      .Default([](mlir::Type) { return ""; });
}

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

/// A definition whose linkage says that it is none.
bool isContradictory(mlir::Operation *operation) {
  constexpr auto kWeak = mlir::LLVM::Linkage::ExternWeak;
  auto function = llvm::dyn_cast<mlir::LLVM::LLVMFuncOp>(operation);
  auto global = llvm::dyn_cast<mlir::LLVM::GlobalOp>(operation);
  return isDefinition(operation) &&
         ((function && function.getLinkage() == kWeak) || (global && global.getLinkage() == kWeak));
}

std::optional<Failure> refuseSymbol(mlir::Operation *operation) {
  if (isContradictory(operation))
    return refusal(operation, "linkage extern_weak", "it is for declarations");
  auto symbol = llvm::dyn_cast<mlir::SymbolOpInterface>(operation);
  mlir::StringAttr name = symbol ? symbol.getNameAttr() : nullptr;
  if (!name || !name.getValue().contains('\0'))
    return std::nullopt;
  return refusal(operation, "a symbol's name", "it has a NUL");
}

} // namespace

std::optional<Failure> refuse(mlir::ModuleOp module) {
  std::optional<Failure> found;
  mlir::Operation *current = nullptr;
  mlir::AttrTypeWalker walker; // remembers what it has seen
  walker.addWalk([&](mlir::Type type) {
    llvm::StringRef why = whyRefused(type);
    if (why.empty())
      return mlir::WalkResult::advance();
    std::string text;
    llvm::raw_string_ostream(text) << type;
    found = refusal(current, "type " + text, why);
    return mlir::WalkResult::interrupt();
  });
  walker.addWalk([&](mlir::DenseResourceElementsAttr elements) {
    if (elements.getNumElements() != 0)
      return mlir::WalkResult::advance();
    std::string text; // MLIR's translation asserts that there are elements
    llvm::raw_string_ostream(text) << "dense_resource of type " << elements.getType();
    found = refusal(current, text, "it has no elements; write dense<> instead");
    return mlir::WalkResult::interrupt();
  });
  auto isFine = [&](mlir::Type type) { return !walker.walk(type).wasInterrupted(); };
  module->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *operation) {
    current = operation;
    found = refuseSymbol(operation);
    bool fine = !found && !walker.walk(operation->getAttrDictionary()).wasInterrupted() &&
                llvm::all_of(operation->getResultTypes(), isFine);
    for (mlir::Region &region : operation->getRegions())
      for (mlir::Block &block : region)
        fine = fine && llvm::all_of(block.getArgumentTypes(), isFine);
    return fine ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
  });
  return found;
}

std::optional<Failure> renameDefinitions(mlir::ModuleOp module) {
  llvm::SmallVector<mlir::Operation *> taken;
  for (mlir::Operation &operation : *module.getBody())
    if (isDefinition(&operation)) {
      llvm::StringRef name = mlir::SymbolTable::getSymbolName(&operation).getValue();
      if (programSymbol(name) != name)
        taken.push_back(&operation);
    }
  // Renaming lengthens a name: longest first, no new name is one that is still to be renamed.
  llvm::stable_sort(taken, [](mlir::Operation *a, mlir::Operation *b) {
    return mlir::SymbolTable::getSymbolName(a).size() > mlir::SymbolTable::getSymbolName(b).size();
  });
  for (mlir::Operation *operation : taken) {
    llvm::StringRef name = mlir::SymbolTable::getSymbolName(operation).getValue();
    auto renamed = mlir::StringAttr::get(module.getContext(), programSymbol(name));
    if (mlir::failed(mlir::SymbolTable::replaceAllSymbolUses(operation, renamed, module)))
      return refusal(operation, "the name @" + name,
                     "LLVM has a function of that name, and not all uses can be renamed");
    mlir::SymbolTable::setSymbolName(operation, renamed);
  }
  return std::nullopt;
}

} // namespace twinjit
