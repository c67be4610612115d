// twinjit-tensor-abi: settles, before bufferisation, who owns a public function's tensors.
//
// Arguments are marked unwritable: bufferisation otherwise computes in place in the caller's
// arrays. A result of static shape becomes an out-parameter, `materialize_in_destination` into a
// memref argument after the regular ones, in order of the results; bufferisation then computes into
// the caller's memory where it can and copies where it must. A result of dynamic shape stays a
// result with an allocation of its own.
//
// Upstream's buffer-results-to-out-params works after bufferisation, where it can no longer tell
// that two results share a buffer: one value returned twice crashes hoist-static-allocs, and a view
// of another result is freed twice.
#include "ir/passes/all.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace twinjit {
namespace {

using mlir::func::FuncOp;

bool isOutParameter(mlir::Type type) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && !tensor.getEncoding();
}

bool hasTensors(FuncOp function) {
  auto isTensor = [](mlir::Type type) { return llvm::isa<mlir::TensorType>(type); };
  return llvm::any_of(function.getArgumentTypes(), isTensor) ||
         llvm::any_of(function.getResultTypes(), isTensor);
}

/// Whether nothing else can share the buffer that `value` will get: a structured operation makes it
/// and only `returned` uses it.
bool isSoleOwner(mlir::Value value, mlir::Operation *returned) {
  auto producer = value.getDefiningOp<mlir::linalg::LinalgOp>();
  return producer && value.hasOneUse() && *value.user_begin() == returned;
}

class TensorAbiPass : public mlir::PassWrapper<TensorAbiPass, mlir::OperationPass<mlir::ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TensorAbiPass)

  llvm::StringRef getArgument() const override { return "twinjit-tensor-abi"; }
  llvm::StringRef getDescription() const override {
    return "Turn tensor results of public functions into out-parameters or owned results";
  }
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    registry.insert<mlir::bufferization::BufferizationDialect, mlir::memref::MemRefDialect>();
  }

  void runOnOperation() override {
    llvm::SmallVector<FuncOp> entries;
    for (auto function : getOperation().getOps<FuncOp>())
      if (function.isPublic() && !function.isExternal() && hasTensors(function))
        entries.push_back(function);
    mlir::SymbolTable symbols(getOperation());
    for (FuncOp function : entries)
      keepForCallers(function, symbols);
    for (FuncOp function : entries)
      settle(function);
  }

private:
  /// Calls from within the module keep the tensor signature: they move to a private copy.
  void keepForCallers(FuncOp function, mlir::SymbolTable &symbols) {
    if (mlir::SymbolTable::symbolKnownUseEmpty(function.getOperation(), getOperation()))
      return;
    FuncOp copy = function.clone();
    copy.setPrivate();
    copy.setName((function.getName() + "$tensors").str());
    mlir::StringAttr name = symbols.insert(copy);
    if (mlir::failed(
            mlir::SymbolTable::replaceAllSymbolUses(function.getOperation(), name, getOperation())))
      signalPassFailure();
  }

  void settle(FuncOp function) {
    mlir::OpBuilder builder(function);
    for (unsigned i = 0; i != function.getNumArguments(); ++i)
      if (llvm::isa<mlir::TensorType>(function.getArgumentTypes()[i]))
        function.setArgAttr(i, mlir::bufferization::BufferizationDialect::kWritableAttrName,
                            builder.getBoolAttr(false));
    llvm::SmallVector<mlir::Value> destinations;
    llvm::BitVector moved(function.getNumResults());
    for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
      destinations.push_back(nullptr);
      if (!isOutParameter(type))
        continue;
      moved.set(index);
      destinations.back() = addDestination(function, llvm::cast<mlir::RankedTensorType>(type));
    }
    function.walk([&](mlir::func::ReturnOp returned) { rewrite(returned, destinations); });
    if (mlir::failed(function.eraseResults(moved)))
      signalPassFailure();
  }

  mlir::Value addDestination(FuncOp function, mlir::RankedTensorType type) {
    auto buffer = mlir::MemRefType::get(type.getShape(), type.getElementType());
    unsigned index = function.getNumArguments();
    if (mlir::failed(function.insertArgument(index, buffer, {}, function.getLoc())))
      signalPassFailure();
    return function.getArgument(index);
  }

  void rewrite(mlir::func::ReturnOp returned, llvm::ArrayRef<mlir::Value> destinations) {
    mlir::OpBuilder builder(returned);
    mlir::Location loc = returned.getLoc();
    llvm::SmallVector<mlir::Value> kept;
    for (auto [value, destination] : llvm::zip_equal(returned.getOperands(), destinations)) {
      if (destination) {
        mlir::bufferization::MaterializeInDestinationOp::create(
            builder, loc, mlir::TypeRange(), value, destination, /*restrict=*/true,
            /*writable=*/true);
        continue;
      }
      kept.push_back(value);
      if (llvm::isa<mlir::RankedTensorType>(value.getType()) && !isSoleOwner(value, returned))
        kept.back() = mlir::bufferization::AllocTensorOp::create(
            builder, loc, llvm::cast<mlir::RankedTensorType>(value.getType()), mlir::ValueRange(),
            /*copy=*/value);
    }
    returned->setOperands(kept);
  }
};

} // namespace

std::unique_ptr<mlir::Pass> createTensorAbiPass() { return std::make_unique<TensorAbiPass>(); }

} // namespace twinjit
