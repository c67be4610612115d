// Private MLIR contexts, kept between compilations.
#pragma once

#include "common/outcome.h"

#include "mlir/IR/MLIRContext.h"

#include <memory>
#include <vector>

namespace twinjit {

/// A context borrowed from the pool, with every dialect loaded, no thread pool, and a handler that
/// collects its diagnostics. Used by one thread at a time; goes back to the pool when destroyed.
///
/// Making a context costs milliseconds and 2.1 MB. What a compilation interns in it stays, so the
/// pool drops a context after a number of uses, or when it has grown by too many bytes
/// (uniquedBytes(), and the digests of those), and at once where what stays has a name that the
/// next program might use otherwise (see taint()).
class ContextLease {
public:
  ContextLease();
  ~ContextLease() { giveBack(); }
  ContextLease(ContextLease &&) = default;
  ContextLease &operator=(ContextLease &&) = delete;

  mlir::MLIRContext &operator*() const { return *context; }
  mlir::MLIRContext *operator->() const { return context.get(); }
  mlir::MLIRContext *get() const { return context.get(); }

  /// Keep the context from going back to the pool. For contexts that a program has left named state
  /// in: an identified LLVM struct of the same name but another body would be refused in them, and
  /// a resource key without its bytes would find another program's.
  void taint() { tainted = true; }

  /// Return the context now. What was in it must be gone. Destroys contexts that are not kept.
  void giveBack();

  /// Count a program of so many bytes, as text or bytecode. Tells how much memory is freed with it.
  void charge(size_t bytes) { charged += bytes; }

  /// Diagnostics since the last call, in order.
  std::vector<Diagnostic> takeDiagnostics();

private:
  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<std::vector<Diagnostic>> diagnostics; // stable address for the handler
  uint64_t handler = 0;                                 // of the context's diagnostic engine
  unsigned uses = 0;
  size_t atFirst = 0; // bytes that were interned in the context when it was new
  size_t taken = 0;   // bytes of the heap that it held when it was taken
  size_t charged = 0;
  bool tainted = false;
};

/// Of the heap, for a context with all dialects and no program. Measured.
constexpr size_t kContextBytes = 2060 * 1024;

struct PoolStats {
  size_t idle = 0;
  size_t leased = 0;
  size_t idleBytes = 0;   // what the idle contexts hold
  size_t leasedBytes = 0; // what the leased ones held when they were taken
  // Since the process began: contexts made, and why others were not kept.
  size_t made = 0;
  size_t recycledByUses = 0;
  size_t recycledByGrowth = 0;
  size_t tainted = 0;
  size_t surplus = 0; // too many, or idle for too long
};

PoolStats poolStats();

/// Drop those that nobody uses.
void releaseIdleContexts();

/// Registers our passes, and upstream's where nobody else in the process has, once per process.
void registerPasses();

} // namespace twinjit
