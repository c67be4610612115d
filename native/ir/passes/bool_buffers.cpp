// twinjit-bool-buffers: stores i1 elements as bytes.
//
// Upstream defect. Versions: the MLIR 22.1.8 wheels. Trigger: finalize-memref-to-llvm on a load or
// store of memref<…xi1>. Symptom: the assertion `integralElementType.getWidth() >= 8` ends the
// process. Remove when: that pass takes i1 (it does in MLIR 24) and vector loads of i1 read one
// byte an element, as NumPy's bool arrays have it, rather than packed bits.
//
// Runs last before the memref lowering, when only memref, vector, func and cf operations carry
// memrefs. Every memref<…xi1> becomes memref<…xi8>; loads are truncated and stores extended.
#include "ir/passes/all.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/TypeSwitch.h"

namespace twinjit {
namespace {

/// i1 becomes i8 in memrefs, and (for what is loaded from them) in vectors and scalars.
mlir::Type widened(mlir::Type type) {
  mlir::Type byte = mlir::IntegerType::get(type.getContext(), 8);
  if (auto memref = llvm::dyn_cast<mlir::MemRefType>(type))
    return memref.getElementType().isInteger(1)
               ? mlir::MemRefType::get(memref.getShape(), byte, memref.getLayout(),
                                       memref.getMemorySpace())
               : type;
  if (auto memref = llvm::dyn_cast<mlir::UnrankedMemRefType>(type))
    return memref.getElementType().isInteger(1)
               ? mlir::UnrankedMemRefType::get(byte, memref.getMemorySpace())
               : type;
  return type;
}

mlir::Type widenedValue(mlir::Type type) {
  mlir::Type byte = mlir::IntegerType::get(type.getContext(), 8);
  if (auto vector = llvm::dyn_cast<mlir::VectorType>(type))
    return vector.cloneWith(std::nullopt, byte);
  return byte;
}

bool isBool(mlir::Type type) { return mlir::getElementTypeOrSelf(type).isInteger(1); }

/// The operand that a memory operation stores or falls back to; null for plain loads.
mlir::OpOperand *storedOperand(mlir::Operation *op) {
  return llvm::TypeSwitch<mlir::Operation *, mlir::OpOperand *>(op)
      .Case<mlir::memref::StoreOp>([](auto store) { return &store.getValueMutable(); })
      .Case<mlir::vector::StoreOp, mlir::vector::MaskedStoreOp, mlir::vector::ScatterOp,
            mlir::vector::CompressStoreOp, mlir::vector::TransferWriteOp>(
          [](auto store) { return &store.getValueToStoreMutable(); })
      .Case<mlir::vector::MaskedLoadOp, mlir::vector::GatherOp, mlir::vector::ExpandLoadOp>(
          [](auto load) { return &load.getPassThruMutable(); })
      .Case<mlir::vector::TransferReadOp>([](auto read) { return &read.getPaddingMutable(); })
      .Default([](mlir::Operation *) { return nullptr; });
}

bool isLoad(mlir::Operation *op) {
  return llvm::isa<mlir::memref::LoadOp, mlir::vector::LoadOp, mlir::vector::MaskedLoadOp,
                   mlir::vector::GatherOp, mlir::vector::ExpandLoadOp,
                   mlir::vector::TransferReadOp>(op);
}

/// An atomic operation on a byte that stands for a bit would compute on the byte.
bool isBoolAtomic(mlir::Operation *op) {
  return llvm::isa<mlir::memref::AtomicRMWOp, mlir::memref::GenericAtomicRMWOp>(op) &&
         isBool(op->getResult(0).getType());
}

class BoolBuffersPass
    : public mlir::PassWrapper<BoolBuffersPass, mlir::OperationPass<mlir::ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BoolBuffersPass)

  llvm::StringRef getArgument() const override { return "twinjit-bool-buffers"; }
  llvm::StringRef getDescription() const override { return "Store i1 elements as bytes"; }
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    registry.insert<mlir::arith::ArithDialect>();
  }

  void runOnOperation() override {
    llvm::SmallVector<mlir::Operation *> accesses;
    getOperation()->walk([&](mlir::Operation *op) {
      if (isBoolAtomic(op)) {
        op->emitOpError("on i1 elements is not supported");
        signalPassFailure();
      }
      mlir::OpOperand *stored = storedOperand(op);
      bool loadsBool = isLoad(op) && isBool(op->getResult(0).getType());
      if (loadsBool || (stored && isBool(stored->get().getType())))
        accesses.push_back(op);
    });
    getOperation()->walk([](mlir::Operation *op) { widenTypes(op); });
    for (mlir::Operation *op : accesses)
      widenAccess(op);
  }

private:
  static void widenTypes(mlir::Operation *op) {
    for (mlir::Value result : op->getResults())
      result.setType(widened(result.getType()));
    for (mlir::Region &region : op->getRegions())
      for (mlir::Block &block : region)
        for (mlir::BlockArgument argument : block.getArguments())
          argument.setType(widened(argument.getType()));
    if (auto function = llvm::dyn_cast<mlir::func::FuncOp>(op)) {
      auto widenAll = [](mlir::TypeRange types) {
        return llvm::map_to_vector(types, [](mlir::Type type) { return widened(type); });
      };
      function.setType(mlir::FunctionType::get(op->getContext(),
                                               widenAll(function.getArgumentTypes()),
                                               widenAll(function.getResultTypes())));
    }
    if (auto global = llvm::dyn_cast<mlir::memref::GlobalOp>(op))
      widenGlobal(global);
  }

  static void widenGlobal(mlir::memref::GlobalOp global) {
    auto type = llvm::cast<mlir::MemRefType>(widened(global.getType()));
    if (type == global.getType())
      return;
    global.setType(type);
    auto value =
        llvm::dyn_cast_or_null<mlir::DenseElementsAttr>(global.getInitialValue().value_or(nullptr));
    if (!value)
      return; // external or uninitialised
    global.setInitialValueAttr(
        value.mapValues(type.getElementType(), [](const llvm::APInt &bit) { return bit.zext(8); }));
  }

  static void widenAccess(mlir::Operation *op) {
    mlir::OpBuilder builder(op);
    mlir::Location loc = op->getLoc();
    if (mlir::OpOperand *stored = storedOperand(op))
      stored->set(mlir::arith::ExtUIOp::create(builder, loc, widenedValue(stored->get().getType()),
                                               stored->get()));
    if (!isLoad(op))
      return;
    mlir::Value loaded = op->getResult(0);
    mlir::Type narrow = loaded.getType();
    loaded.setType(widenedValue(narrow));
    builder.setInsertionPointAfter(op);
    auto truncated = mlir::arith::TruncIOp::create(builder, loc, narrow, loaded);
    loaded.replaceAllUsesExcept(truncated, truncated);
  }
};

} // namespace

std::unique_ptr<mlir::Pass> createBoolBuffersPass() { return std::make_unique<BoolBuffersPass>(); }

} // namespace twinjit
