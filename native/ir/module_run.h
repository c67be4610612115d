// Passes over a module where its user holds it.
#pragma once

#include "common/outcome.h"
#include "common/stop.h"
#include "ir/live_work.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <memory>
#include <optional>

namespace twinjit {

/// A pass pipeline for a live module, in a context that many runs, and other threads, may use at a
/// time. Used as make(), begin() until that is true, run().
class ModuleRun {
public:
  /// With the GIL. Fails with Kind::Pipeline on the pipeline, Kind::Unsupported where `root` is no
  /// builtin.module, and Kind::Context where its context has multithreading disabled: its tables
  /// have no locks then, and two threads damage them.
  static Outcome<ModuleRun> make(mlir::Operation *root, llvm::StringRef pipeline);

  /// With the GIL. Counts the run in, and sees to it that all dialects are loaded that it or
  /// anyone might load: MLIR ends the process where that happens while passes run. False where it
  /// cannot run yet, as other work of ours is in the context that will end by itself; runs that
  /// come later wait for it then.
  ///
  /// Fails with Kind::Context as LiveWork::begin().
  Outcome<bool> begin();

  /// Without the GIL. Verifies the module, runs the passes, and gives what they said that is no
  /// error. Where it fails, the module is as the last pass left it.
  Outcome<std::vector<Diagnostic>> run(const Stop &stop);

private:
  ModuleRun(mlir::ModuleOp module, mlir::OpPassManager &&passes);

  bool isLoaded() const;

  mlir::ModuleOp module;
  std::unique_ptr<mlir::PassManager> manager;
  mlir::DialectRegistry needed;   // by the passes
  std::unique_ptr<LiveTurn> turn; // while it waits
  std::optional<LiveWork> work;
};

} // namespace twinjit
