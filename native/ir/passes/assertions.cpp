// twinjit-assertions: lowers cf.assert to a call of the runtime, which raises in the Python caller.
//
// Upstream's lowering prints the message and calls abort(): the user's process would be gone.
//
// An assert may stand in any region, whose block cannot always be split; so the branch is in a
// function of its own, which LLVM inlines:
//
//   check(condition, message): if (!condition) twinjit_assertion_failed(message)
#include "ir/passes/all.h"

#include "codegen/runtime.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace twinjit {
namespace {

namespace LLVM = mlir::LLVM;

/// The message without the frame that generate-runtime-verification puts around it:
///
///   ERROR: Runtime op verification failed
///   (operation)
///   ^ (reason)
///   Location: loc(unknown)
std::string withoutFrame(llvm::StringRef text) {
  if (!text.consume_front("ERROR: Runtime op verification failed\n"))
    return text.str();
  auto [operation, rest] = text.split("\n^ ");
  llvm::StringRef reason = rest.split("\nLocation:").first;
  return (reason + ", in " + operation).str();
}

class AssertionsPass
    : public mlir::PassWrapper<AssertionsPass, mlir::OperationPass<mlir::ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AssertionsPass)

  llvm::StringRef getArgument() const override { return "twinjit-assertions"; }
  llvm::StringRef getDescription() const override {
    return "Lower cf.assert to a call that stops the program through the runtime";
  }
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect>();
  }

  void runOnOperation() override {
    llvm::SmallVector<mlir::cf::AssertOp> assertions;
    getOperation()->walk([&](mlir::cf::AssertOp op) { assertions.push_back(op); });
    if (assertions.empty())
      return;
    LLVM::LLVMFuncOp check = addCheck();
    for (auto [index, op] : llvm::enumerate(assertions)) {
      mlir::OpBuilder builder(op);
      mlir::Value message = LLVM::AddressOfOp::create(builder, op.getLoc(),
                                                      addMessage(withoutFrame(op.getMsg()), index));
      LLVM::CallOp::create(builder, op.getLoc(), check, mlir::ValueRange{op.getArg(), message});
      op.erase();
    }
  }

private:
  LLVM::LLVMFuncOp addFunction(llvm::StringRef name, llvm::ArrayRef<mlir::Type> arguments) {
    auto builder = mlir::OpBuilder::atBlockBegin(getOperation().getBody());
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&getContext()), arguments);
    return LLVM::LLVMFuncOp::create(builder, getOperation().getLoc(), name, type);
  }

  std::string unused(std::string name) {
    while (getOperation().lookupSymbol(name))
      name += "_";
    return name;
  }

  LLVM::LLVMFuncOp addCheck() {
    mlir::Location loc = getOperation().getLoc();
    mlir::Type bit = mlir::IntegerType::get(&getContext(), 1);
    mlir::Type pointer = LLVM::LLVMPointerType::get(&getContext());
    if (!getOperation().lookupSymbol(kAssertionFailed))
      addFunction(kAssertionFailed, {pointer});
    LLVM::LLVMFuncOp check = addFunction(unused("twinjit.check"), {bit, pointer});
    check.setLinkage(LLVM::Linkage::Internal);
    mlir::OpBuilder builder(&getContext());
    mlir::Block *entry = check.addEntryBlock(builder);
    mlir::Block *passed = builder.createBlock(&check.getBody());
    LLVM::ReturnOp::create(builder, loc, mlir::ValueRange());
    mlir::Block *failed = builder.createBlock(&check.getBody());
    LLVM::CallOp::create(builder, loc, mlir::TypeRange(), kAssertionFailed,
                         mlir::ValueRange(entry->getArgument(1)));
    LLVM::UnreachableOp::create(builder, loc);
    builder.setInsertionPointToEnd(entry);
    LLVM::CondBrOp::create(builder, loc, entry->getArgument(0), passed, failed);
    return check;
  }

  /// A private constant that holds the message and its terminating NUL.
  LLVM::GlobalOp addMessage(llvm::StringRef text, size_t index) {
    mlir::ModuleOp module = getOperation();
    auto builder = mlir::OpBuilder::atBlockBegin(module.getBody());
    std::string value = text.str() + '\0';
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), value.size());
    std::string name = unused("twinjit.assertion." + std::to_string(index));
    return LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/true,
                                  LLVM::Linkage::Private, name, builder.getStringAttr(value));
  }
};

} // namespace

std::unique_ptr<mlir::Pass> createAssertionsPass() { return std::make_unique<AssertionsPass>(); }

} // namespace twinjit
