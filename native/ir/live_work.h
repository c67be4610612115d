// Which programs, in contexts that users own, work of ours is under way on.
#pragma once

#include "common/outcome.h"

#include "mlir/IR/Operation.h"

#include <vector>

namespace twinjit {

/// Counts work on a live program in, for as long as it lives. What MLIR's bindings do meanwhile is
/// not seen: they hold the GIL, and their users are told not to touch the program.
class LiveWork {
public:
  enum class Use {
    Read,
    Change, // run passes over it
  };

  /// With the GIL, so that nothing else begins meanwhile. Fails with Kind::Context where both this
  /// and other work would be on `root` or something nested in it, and one of them changes it.
  static Outcome<LiveWork> begin(mlir::Operation *root, Use use);

  LiveWork(LiveWork &&other) noexcept
      : context(other.context), use(other.use), operations(std::exchange(other.operations, {})),
        nests(other.nests) {}
  LiveWork &operator=(LiveWork &&) = delete;
  ~LiveWork();

  /// Whether there is no other work in the context.
  bool isAlone() const;

  /// Whether other work that changes a program may go on beside this, as far as diagnostics are
  /// told apart. Where isolated operations are nested in isolated ones (functions of modules in a
  /// module), a thread of MLIR's pool may work for two runs at once; see ThreadDiagnostics.
  bool isSharing() const;

private:
  LiveWork(Use use, std::vector<mlir::Operation *> operations, bool nests)
      : context(operations.front()->getContext()), use(use), operations(std::move(operations)),
        nests(nests) {}

  mlir::MLIRContext *context; // an operation may be gone when its own work ends
  Use use;
  std::vector<mlir::Operation *> operations; // the root, and modules in it that are changed with it
  bool nests;
};

/// A place in the queue of work that could not begin at once in a context, for as long as it lives.
/// Without it, work that needs the context for itself would wait for ever where others take turns.
class LiveTurn {
public:
  explicit LiveTurn(mlir::MLIRContext *context);
  ~LiveTurn();
  LiveTurn(const LiveTurn &) = delete;
  LiveTurn &operator=(const LiveTurn &) = delete;

  /// Whether nobody waits in `context`, or `turn`, which may be null, is the first.
  static bool isNext(mlir::MLIRContext *context, const LiveTurn *turn);

private:
  mlir::MLIRContext *context;
};

} // namespace twinjit
