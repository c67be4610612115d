// What MLIR reports, and which run it belongs to.
#pragma once

#include "common/outcome.h"

#include "mlir/IR/Diagnostics.h"

#include <vector>

namespace twinjit {

/// With its notes, and one more for each call that its location leads through. The place is the
/// innermost in a file: of a fused location the first part's, of a call the callee's. The name is
/// the outermost.
Diagnostic toDiagnostic(const mlir::Diagnostic &diagnostic);

/// How the handlers that MLIR's Python bindings keep in a context are spared what is reported there
/// without the GIL. The bindings of this extension know (error_capture_bindings.cpp).
struct PythonHandlers {
  /// Between these, none of the bindings' own takes anything. Nested; they take the GIL.
  void (*holdOff)(mlir::MLIRContext *);
  void (*letIn)(mlir::MLIRContext *);
  /// Whether the calling thread has never been in Python.
  bool (*isPoolThread)();
  /// Hand what was reported while they were held off to the bindings' own, if the calling thread
  /// has the GIL, so that it is for them.
  mlir::LogicalResult (*passOn)(mlir::MLIRContext *, mlir::Diagnostic &);
};

/// Once, before all else.
void usePythonHandlers(const PythonHandlers &handlers);

/// Takes what is reported in a context on the thread that made this. What other threads report goes
/// where it would have gone.
///
/// Passes that MLIR runs on threads of the context's pool report on the thread that waits for them,
/// in the order of the operations (mlir::ParallelDiagnosticHandler). Some reports escape that.
///
/// Upstream defect. Versions: MLIR 22.1.8. Trigger: a pool's thread that waits for work nested in
/// its own takes on more of the latter meanwhile, as it may for isolated operations in isolated
/// ones, and forgets then whom it reports to. Symptom: it calls the context's handlers itself,
/// Python's without the GIL, which ends the process. So what such threads report, and no handler of
/// MLIR's takes, is taken, too: by the first that was made of those in a context, as it is below
/// all of MLIR's. It is theirs if they are alone; see LiveWork::isSharing(). Remove when:
/// eraseOrderIDForThread() restores what was there before.
///
/// Made and destroyed without the GIL, or on a context that no other thread uses: MLIR calls
/// handlers under a lock, and one of the user's in Python may wait for the GIL under it.
class ThreadDiagnostics {
public:
  explicit ThreadDiagnostics(mlir::MLIRContext *context);
  ~ThreadDiagnostics();
  ThreadDiagnostics(const ThreadDiagnostics &) = delete;
  ThreadDiagnostics &operator=(const ThreadDiagnostics &) = delete;

  /// In order; none is left.
  std::vector<Diagnostic> take() { return std::exchange(diagnostics, {}); }

private:
  mlir::LogicalResult handle(mlir::Diagnostic &diagnostic);

  mlir::MLIRContext *context;
  uint64_t thread;
  std::vector<Diagnostic> diagnostics; // guarded by MLIR's lock while the handler is there
  mlir::DiagnosticEngine::HandlerID handler;
};

} // namespace twinjit
