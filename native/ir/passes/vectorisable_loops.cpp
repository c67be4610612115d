// twinjit-vectorisable-loops: orders the loops of linalg.generic so that LLVM can vectorise the
// innermost one.
//
// A dimension makes a good innermost loop when no iteration depends on the one before (it is
// parallel) and every operand either walks it with unit stride or does not depend on it. A matrix
// product in the order (i, j, k) has a strict floating-point sum in its innermost loop, which stays
// scalar; in the order (i, k, j) it is a vector multiply-add.
#include "ir/passes/all.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

namespace twinjit {
namespace {

using mlir::linalg::GenericOp;

/// How one operand moves through memory when a loop dimension advances.
enum class Walk { Still, Unit, Jump };

Walk walkOf(mlir::AffineMap map, unsigned dimension) {
  for (unsigned i = 0; i != map.getNumResults(); ++i) {
    mlir::AffineExpr expression = map.getResult(i);
    if (!expression.isFunctionOfDim(dimension))
      continue;
    bool last = i + 1 == map.getNumResults();
    // The sliding window of a convolution, d + k, walks as its terms do.
    auto sum = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(expression);
    bool unit = llvm::isa<mlir::AffineDimExpr>(expression) ||
                (sum && sum.getKind() == mlir::AffineExprKind::Add &&
                 llvm::isa<mlir::AffineDimExpr>(sum.getLHS()) &&
                 llvm::isa<mlir::AffineDimExpr>(sum.getRHS()));
    return last && unit ? Walk::Unit : Walk::Jump;
  }
  return Walk::Still;
}

/// Whether `dimension` vectorises when innermost.
bool isVectorisable(GenericOp op, unsigned dimension) {
  if (op.getIteratorTypesArray()[dimension] != mlir::utils::IteratorType::parallel)
    return false;
  bool moves = false;
  for (mlir::AffineMap map : op.getIndexingMapsArray()) {
    Walk walk = walkOf(map, dimension);
    if (walk == Walk::Jump)
      return false;
    moves |= walk == Walk::Unit;
  }
  return moves;
}

class VectorisableLoopsPass
    : public mlir::PassWrapper<VectorisableLoopsPass, mlir::OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VectorisableLoopsPass)

  llvm::StringRef getArgument() const override { return "twinjit-vectorisable-loops"; }
  llvm::StringRef getDescription() const override {
    return "Interchange linalg.generic so that the innermost loop can be vectorised";
  }

  void runOnOperation() override {
    llvm::SmallVector<GenericOp> work;
    getOperation()->walk([&](GenericOp op) { work.push_back(op); });
    mlir::IRRewriter rewriter(&getContext());
    for (GenericOp op : work)
      reorder(op, rewriter);
  }

private:
  void reorder(GenericOp op, mlir::IRRewriter &rewriter) {
    unsigned loops = op.getNumLoops();
    // linalg.index would have to follow the interchange; elementwise operations need none.
    if (loops < 2 || op.getNumReductionLoops() == 0 || op.hasIndexSemantics() ||
        isVectorisable(op, loops - 1))
      return;
    for (unsigned candidate = loops - 1; candidate-- > 0;) {
      if (!isVectorisable(op, candidate))
        continue;
      llvm::SmallVector<unsigned> order;
      for (unsigned i = 0; i != loops; ++i)
        if (i != candidate)
          order.push_back(i);
      order.push_back(candidate);
      rewriter.setInsertionPoint(op);
      (void)mlir::linalg::interchangeGenericOp(rewriter, op, order); // keeps the order if it cannot
      return;
    }
  }
};

} // namespace

std::unique_ptr<mlir::Pass> createVectorisableLoopsPass() {
  return std::make_unique<VectorisableLoopsPass>();
}

} // namespace twinjit
