#include "ir/module_run.h"

#include "ir/depth.h"
#include "ir/diagnostics.h"
#include "ir/pipeline.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassInstrumentation.h"

namespace twinjit {
namespace {

/// Fails the pass that would come next.
class StopBetweenPasses : public mlir::PassInstrumentation {
public:
  explicit StopBetweenPasses(const Stop &stop) : stop(stop) {}

  void runBeforePass(mlir::Pass *pass, mlir::Operation *) override {
    if (stop.isRequested())
      signalPassFailure(pass);
  }

private:
  const Stop &stop;
};

} // namespace

ModuleRun::ModuleRun(mlir::ModuleOp module, mlir::OpPassManager &&passes)
    : module(module), manager(std::make_unique<mlir::PassManager>(
                          module->getContext(), mlir::ModuleOp::getOperationName())) {
  static_cast<mlir::OpPassManager &>(*manager) = std::move(passes);
  manager->getDependentDialects(needed);
}

Outcome<ModuleRun> ModuleRun::make(mlir::Operation *root, llvm::StringRef pipeline) {
  auto module = llvm::dyn_cast<mlir::ModuleOp>(root);
  if (!module)
    return Failure{Kind::Unsupported, "passes run over a builtin.module here, not over " +
                                          root->getName().getStringRef().str()};
  if (!root->getContext()->isMultithreadingEnabled())
    return Failure{Kind::Context,
                   "the module's context has multithreading disabled, so that passes in one thread "
                   "and Python in another would damage it: call "
                   "context.enable_multithreading(True) first, or run the passes with "
                   "mlir.passmanager, which keeps the GIL"};
  auto passes = parseNewPipeline(pipeline);
  if (!passes)
    return passes.failure();
  return ModuleRun(module, std::move(*passes));
}

/// Whether loading what the passes need, and all that the context knows, would change nothing.
bool ModuleRun::isLoaded() const {
  mlir::MLIRContext *context = module->getContext();
  return needed.isSubsetOf(context->getDialectRegistry()) &&
         llvm::all_of(context->getAvailableDialects(), [&](llvm::StringRef name) {
           return context->getLoadedDialect(name) != nullptr;
         });
}

Outcome<bool> ModuleRun::begin() {
  auto begun = LiveWork::begin(module, LiveWork::Use::Change);
  if (!begun)
    return begun.failure();
  mlir::MLIRContext *context = module->getContext();
  bool isNext = LiveTurn::isNext(context, turn.get());
  bool isReady = isLoaded();
  if (isNext && !isReady && begun->isAlone()) {
    context->appendDialectRegistry(needed);
    context->loadAllAvailableDialects();
    isReady = true;
  }
  if (!isNext || !isReady || !begun->isSharing()) {
    if (!turn)
      turn = std::make_unique<LiveTurn>(context);
    return false;
  }
  turn.reset();
  work.emplace(std::move(*begun));
  return true;
}

Outcome<std::vector<Diagnostic>> ModuleRun::run(const Stop &stop) {
  ThreadDiagnostics diagnostics(module->getContext());
  if (isTooDeep(module))
    return Failure{Kind::Unsupported,
                   "the module is nested more than " + std::to_string(kMaxNesting) + " deep"};
  // Passes rely on it, and end the process on what breaks the rules.
  if (mlir::failed(mlir::verify(module)))
    return Failure{Kind::Verification, "the module is not valid", diagnostics.take()};
  manager->addInstrumentation(std::make_unique<StopBetweenPasses>(stop));
  bool ran = mlir::succeeded(manager->run(module));
  if (stop.isRequested())
    return stop.failure();
  if (!ran)
    return Failure{Kind::Pipeline, "a pass of the pipeline failed on the module",
                   diagnostics.take()};
  return diagnostics.take();
}

} // namespace twinjit
