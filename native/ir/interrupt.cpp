#include "ir/interrupt.h"

#include "common/activity.h"

#include "mlir/IR/Action.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Rewrite/PatternApplicator.h"

namespace twinjit {
namespace {

/// Leave of an operation what passes over it must be able to take: a module may be empty, and a
/// function a declaration.
void empty(mlir::Operation &operation) {
  if (auto module = llvm::dyn_cast<mlir::ModuleOp>(operation))
    module.getBody()->clear();
  if (!llvm::isa<mlir::FunctionOpInterface>(operation))
    return;
  for (mlir::Region &region : operation.getRegions()) {
    region.dropAllReferences();
    region.getBlocks().clear();
  }
}

class Instrumentation : public mlir::PassInstrumentation {
public:
  Instrumentation(const Stop &stop, std::string &current) : stop(stop), current(current) {}

  void runBeforePass(mlir::Pass *pass, mlir::Operation *operation) override {
    if (isAdaptor(*pass)) {
      if (stop.isRequested())
        signalPassFailure(pass);
      return;
    }
    current = pass->getArgument();
    notePass(current);
    if (stop.isRequested()) {
      signalPassFailure(pass);
      // A pass that runs others may hold on to what is in the operation.
      if (running == 0)
        empty(*operation);
    }
    ++running;
  }

  void runAfterPass(mlir::Pass *pass, mlir::Operation *) override { leave(*pass); }
  void runAfterPassFailed(mlir::Pass *pass, mlir::Operation *) override { leave(*pass); }

private:
  /// Whether it only runs passes over nested operations. All that a pipeline can name have an
  /// argument.
  static bool isAdaptor(const mlir::Pass &pass) { return pass.getArgument().empty(); }

  void leave(const mlir::Pass &pass) { running -= isAdaptor(pass) ? 0 : 1; }

  const Stop &stop;
  std::string &current;
  unsigned running = 0; // passes, adaptors aside
};

} // namespace

PassInterrupter::PassInterrupter(mlir::PassManager &manager, const Stop &stop)
    : context(*manager.getContext()), poll(stop) {
  manager.addInstrumentation(std::make_unique<Instrumentation>(stop, current));
  context.registerActionHandler(
      [this](llvm::function_ref<void()> act, const mlir::tracing::Action &action) {
        if (!llvm::isa<mlir::ApplyPatternAction>(action) || !poll.isRequested())
          act();
      });
}

PassInterrupter::~PassInterrupter() { context.registerActionHandler(nullptr); }

} // namespace twinjit
