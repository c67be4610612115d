// How MLIR's Python bindings collect errors, and how work without the GIL keeps clear of that.
//
// Upstream defect. Versions: MLIR 22.1.8's bindings. Trigger: whatever parses, verifies or runs
// passes there has a handler in the context for that time, PyMlirContext::ErrorCapture, and MLIR
// gives an error to the latest handler, whichever thread it comes from. The bindings rely on the
// GIL to keep others' errors out. Symptom: an error of a thread that has released the GIL makes
// that handler create Python objects, which ends the process. Remove when: it looks at the thread.
//
// What it does look at is the context's `emit_error_diagnostics`, with which it takes nothing. So
// that is set while work of ours may report errors, and errors of threads with the GIL, which go
// past it then, are given to it by a handler of ours. A handler that a user attaches beside such
// work is out of reach.
#include "ir/bindings.h"
#include "ir/diagnostics.h"

#include "mlir-c/Bindings/Python/Interop.h"
#include "mlir/CAPI/IR.h"

#include <nanobind/nanobind.h>

#include <map>

namespace nb = nanobind;

namespace twinjit {
namespace {

constexpr const char *kFlag = "emit_error_diagnostics";

struct HeldOff {
  nb::object context; // as Python has it
  bool isWished;      // by the user, to have errors emitted
  unsigned times;
};

/// Guarded by the GIL. Never destroyed: the interpreter may be gone then.
std::map<mlir::MLIRContext *, HeldOff> &heldOff() {
  static auto *all = new std::map<mlir::MLIRContext *, HeldOff>();
  return *all;
}

/// The context as Python has it already.
nb::object toPython(mlir::MLIRContext *context) {
  nb::object capsule = nb::steal(mlirPythonContextToCapsule(wrap(context)));
  return nb::module_::import_("mlir.ir").attr("Context").attr(MLIR_PYTHON_CAPI_FACTORY_ATTR)(
      capsule);
}

void holdOff(mlir::MLIRContext *context) {
  nb::gil_scoped_acquire gil;
  auto place = heldOff().find(context);
  if (place != heldOff().end()) {
    ++place->second.times;
    return;
  }
  nb::object python = toPython(context);
  bool isWished = nb::cast<bool>(python.attr(kFlag));
  python.attr(kFlag) = true;
  heldOff().emplace(context, HeldOff{std::move(python), isWished, 1});
}

void letIn(mlir::MLIRContext *context) {
  nb::gil_scoped_acquire gil;
  auto place = heldOff().find(context);
  if (--place->second.times != 0)
    return;
  place->second.context.attr(kFlag) = place->second.isWished;
  heldOff().erase(place);
}

bool isPoolThread() { return PyGILState_GetThisThreadState() == nullptr; }

/// Emits it once more. MLIR's lock, which this thread holds, keeps all others from reporting
/// anything meanwhile.
mlir::LogicalResult passOn(mlir::MLIRContext *context, mlir::Diagnostic &diagnostic) {
  static thread_local bool isPassing = false;
  if (!PyGILState_Check() || isPassing ||
      diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
    return mlir::failure();
  auto place = heldOff().find(context);
  if (place == heldOff().end() || place->second.isWished)
    return mlir::failure();
  nb::object python = place->second.context;
  isPassing = true;
  python.attr(kFlag) = false;
  context->getDiagEngine().emit(std::move(diagnostic));
  python.attr(kFlag) = heldOff().count(context) != 0; // handlers of the user's may take their time
  isPassing = false;
  return mlir::success();
}

} // namespace

void shareHandlers() { usePythonHandlers({holdOff, letIn, isPoolThread, passOn}); }

} // namespace twinjit
