// Ends LLVM's passes early.
#pragma once

#include "common/stop.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/IR/PassInstrumentation.h"

#include <string>

namespace twinjit {

/// Has the optimiser skip all passes that it may skip once the stop is requested, and sets
/// `skipped` to the name of the first. The module stays valid. Both must outlive the callbacks.
void interruptOptimiser(llvm::PassInstrumentationCallbacks &callbacks, const Stop &stop,
                        std::string &skipped);

/// Has the code generator skip what it may skip once the stop is requested. For
/// LLVMContext::setOptPassGate.
class InterruptGate final : public llvm::OptPassGate {
public:
  explicit InterruptGate(const Stop &stop) : stop(stop) {}

  bool isEnabled() const override { return stop.isRequested(); }
  bool shouldRunPass(llvm::StringRef, llvm::StringRef) const override { return false; }

private:
  const Stop &stop;
};

/// Runs the passes of code generation, and looks at a Stop before each pass over a function. Once
/// it is requested, the function at hand gets no code, and those to come lose their bodies. Before
/// that, the passes do what they do in any other pass manager, to the byte.
class InterruptiblePassManager final : public llvm::legacy::PassManager {
public:
  explicit InterruptiblePassManager(const Stop &stop) : stop(stop) {}

  void add(llvm::Pass *pass) override;

  /// Name of the pass before which the stop was noticed; empty where it was not.
  const std::string &stoppedAt() const { return at; }

private:
  const Stop &stop;
  std::string at;
};

} // namespace twinjit
