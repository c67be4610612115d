// twinjit-copies-to-loops: turns memref.copy between layouts into a loop nest that LLVM optimises.
//
// Upstream lowers a copy that no memcpy covers to a call of `memrefCopy`, a runtime function that
// walks the elements one by one. Copies between row-major memrefs stay: they become memcpy.
#include "ir/passes/all.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"

namespace twinjit {
namespace {

bool isRowMajor(mlir::Value value) {
  auto type = llvm::dyn_cast<mlir::MemRefType>(value.getType());
  return type && type.getLayout().isIdentity();
}

class CopiesToLoopsPass : public mlir::PassWrapper<CopiesToLoopsPass, mlir::OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CopiesToLoopsPass)

  llvm::StringRef getArgument() const override { return "twinjit-copies-to-loops"; }
  llvm::StringRef getDescription() const override {
    return "Turn memref.copy between strided layouts into linalg.generic";
  }
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    registry.insert<mlir::linalg::LinalgDialect>();
  }

  void runOnOperation() override {
    getOperation()->walk([](mlir::memref::CopyOp copy) {
      mlir::Value source = copy.getSource(), target = copy.getTarget();
      bool ranked = llvm::isa<mlir::MemRefType>(source.getType()) &&
                    llvm::isa<mlir::MemRefType>(target.getType());
      if (!ranked || (isRowMajor(source) && isRowMajor(target)))
        return;
      mlir::OpBuilder builder(copy);
      mlir::linalg::makeMemRefCopyOp(builder, copy.getLoc(), source, target);
      copy.erase();
    });
  }
};

} // namespace

std::unique_ptr<mlir::Pass> createCopiesToLoopsPass() {
  return std::make_unique<CopiesToLoopsPass>();
}

} // namespace twinjit
