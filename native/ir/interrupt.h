// Ends MLIR passes early.
#pragma once

#include "common/stop.h"

#include "mlir/Pass/PassManager.h"

#include <string>

namespace twinjit {

/// Has a pass manager look at a Stop, for as long as this lives: before each pass, and, within
/// passes that apply patterns, before each pattern. Once the stop is requested,
///
///   - no pattern matches any more, so that rewriting runs dry and conversions fail;
///   - passes to come find nothing to do: their function has become a declaration, their module
///     empty; and they fail, which ends the run.
///
/// What is left of the program is good for nothing but to be destroyed, and the diagnostics are not
/// about it. Before the stop, this changes nothing.
///
/// The manager's context must be used by this thread alone, and by no other action handler.
class PassInterrupter {
public:
  PassInterrupter(mlir::PassManager &manager, const Stop &stop);
  ~PassInterrupter();
  PassInterrupter(const PassInterrupter &) = delete;
  PassInterrupter &operator=(const PassInterrupter &) = delete;

  /// The pass that began last, by its name in pipelines.
  const std::string &pass() const { return current; }

private:
  mlir::MLIRContext &context;
  std::string current;
  Poll poll;
};

} // namespace twinjit
