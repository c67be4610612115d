#include "codegen/interrupt.h"

#include "common/activity.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/Pass.h"

namespace twinjit {
namespace {

/// Stands before a pass over functions.
class Checkpoint final : public llvm::FunctionPass {
public:
  Checkpoint(const Stop &stop, llvm::StringRef next, std::string &stoppedAt)
      : FunctionPass(id), stop(stop), next(next.str()), stoppedAt(stoppedAt) {}

  bool runOnFunction(llvm::Function &function) override {
    notePass(next);
    if (!stop.isRequested() || function.hasAvailableExternallyLinkage())
      return false;
    if (stoppedAt.empty())
      stoppedAt = next;
    // Those before it are done with, by this pass manager.
    for (auto later = std::next(function.getIterator()); later != function.getParent()->end();
         ++later)
      if (!later->isDeclaration())
        later->deleteBody();
    // Its body is in use: by analyses, or by machine code. No pass over machine code touches it.
    function.setComdat(nullptr);
    function.setLinkage(llvm::GlobalValue::AvailableExternallyLinkage);
    return true;
  }

  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override { usage.setPreservesAll(); }
  llvm::StringRef getPassName() const override { return "Twinjit's checkpoint"; }

private:
  static char id;

  const Stop &stop;
  const std::string next; // name of the pass
  std::string &stoppedAt;
};

char Checkpoint::id = 0;

} // namespace

void interruptOptimiser(llvm::PassInstrumentationCallbacks &callbacks, const Stop &stop,
                        std::string &skipped) {
  if (activity)
    callbacks.registerBeforeNonSkippedPassCallback(
        [](llvm::StringRef pass, const llvm::Any &) { notePass(pass); });
  if (&stop == &neverStop)
    return;
  callbacks.registerShouldRunOptionalPassCallback([&](llvm::StringRef pass, const llvm::Any &) {
    if (!stop.isRequested())
      return true;
    if (skipped.empty())
      skipped = pass.str();
    return false;
  });
}

void InterruptiblePassManager::add(llvm::Pass *pass) {
  // Not among passes over loops: that would split them into groups that run one after another.
  bool isWatched = &stop != &neverStop || activity;
  if (isWatched && pass->getPassKind() == llvm::PT_Function)
    PassManager::add(new Checkpoint(stop, pass->getPassName(), at));
  PassManager::add(pass);
}

} // namespace twinjit
