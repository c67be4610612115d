// twinjit-assertions: lowers cf.assert to a call of the runtime, which raises in the Python caller.
//
// Upstream's lowering prints the message and calls abort(): the user's process would be gone.
#include "ir/passes/all.h"

#include "codegen/runtime.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace twinjit {
namespace {

namespace LLVM = mlir::LLVM;

class AssertionsPass
    : public mlir::PassWrapper<AssertionsPass, mlir::OperationPass<mlir::ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AssertionsPass)

  llvm::StringRef getArgument() const override { return "twinjit-assertions"; }
  llvm::StringRef getDescription() const override {
    return "Lower cf.assert to a branch to the runtime's failure function";
  }
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect, mlir::cf::ControlFlowDialect>();
  }

  void runOnOperation() override {
    llvm::SmallVector<mlir::cf::AssertOp> assertions;
    getOperation()->walk([&](mlir::cf::AssertOp op) {
      // Structured regions have one block each and cannot be split: run after convert-scf-to-cf.
      if (llvm::isa<mlir::FunctionOpInterface>(op->getParentOp()))
        assertions.push_back(op);
    });
    if (assertions.empty())
      return;
    declareRuntime();
    for (auto [index, op] : llvm::enumerate(assertions))
      lower(op, index);
  }

private:
  void declareRuntime() {
    mlir::ModuleOp module = getOperation();
    if (module.lookupSymbol(kAssertionFailed))
      return;
    auto builder = mlir::OpBuilder::atBlockBegin(module.getBody());
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&getContext()), {pointer});
    LLVM::LLVMFuncOp::create(builder, module.getLoc(), kAssertionFailed, type);
  }

  /// A private constant that holds the message and its terminating NUL.
  LLVM::GlobalOp addMessage(llvm::StringRef text, size_t index) {
    mlir::ModuleOp module = getOperation();
    auto builder = mlir::OpBuilder::atBlockBegin(module.getBody());
    std::string value = text.str() + '\0';
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), value.size());
    std::string name = "twinjit.assertion." + std::to_string(index);
    while (module.lookupSymbol(name))
      name += "_";
    return LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/true,
                                  LLVM::Linkage::Private, name, builder.getStringAttr(value));
  }

  void lower(mlir::cf::AssertOp op, size_t index) {
    mlir::Location loc = op.getLoc();
    LLVM::GlobalOp message = addMessage(op.getMsg(), index);
    mlir::Block *head = op->getBlock();
    mlir::Block *rest = head->splitBlock(op->getNextNode());
    mlir::OpBuilder builder(op);
    mlir::Block *failure = builder.createBlock(head->getParent());
    mlir::Value address = LLVM::AddressOfOp::create(builder, loc, message);
    LLVM::CallOp::create(builder, loc, mlir::TypeRange(), kAssertionFailed, address);
    LLVM::UnreachableOp::create(builder, loc);
    builder.setInsertionPointToEnd(head);
    mlir::cf::CondBranchOp::create(builder, loc, op.getArg(), rest, failure);
    op.erase();
  }
};

} // namespace

std::unique_ptr<mlir::Pass> createAssertionsPass() { return std::make_unique<AssertionsPass>(); }

} // namespace twinjit
