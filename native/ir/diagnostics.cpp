#include "ir/diagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"

#include "llvm/Support/Threading.h"

#include <map>
#include <mutex>
#include <set>

namespace twinjit {
namespace {

PythonHandlers python; // constant once this extension is loaded

/// Guards `handlers`. Taken under MLIR's lock, and not held while that is taken.
std::mutex handlersMutex;

/// Those of each context's ThreadDiagnostics, in the order in which they were registered. Never
/// destroyed: threads may outlive static destructors.
std::map<mlir::MLIRContext *, std::set<uint64_t>> &handlers() {
  static auto *all = new std::map<mlir::MLIRContext *, std::set<uint64_t>>();
  return *all;
}

const char *severityName(mlir::DiagnosticSeverity severity) {
  switch (severity) {
  case mlir::DiagnosticSeverity::Note:
    return "note";
  case mlir::DiagnosticSeverity::Warning:
    return "warning";
  case mlir::DiagnosticSeverity::Error:
    return "error";
  case mlir::DiagnosticSeverity::Remark:
    return "remark";
  }
  return "error";
}

void place(mlir::LocationAttr location, Diagnostic &diagnostic) {
  if (auto range = llvm::dyn_cast<mlir::FileLineColRange>(location)) {
    diagnostic.file = range.getFilename().str();
    diagnostic.line = range.getStartLine();
    diagnostic.column = range.getStartColumn();
  } else if (auto name = llvm::dyn_cast<mlir::NameLoc>(location)) {
    if (diagnostic.name.empty())
      diagnostic.name = name.getName().str();
    place(name.getChildLoc(), diagnostic);
  } else if (auto call = llvm::dyn_cast<mlir::CallSiteLoc>(location)) {
    place(call.getCallee(), diagnostic);
    Diagnostic caller{"note", "called from here"};
    place(call.getCaller(), caller);
    diagnostic.notes.push_back(std::move(caller));
  } else if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(location)) {
    for (mlir::Location part : fused.getLocations())
      if (diagnostic.file.empty())
        place(part, diagnostic);
  } else if (auto opaque = llvm::dyn_cast<mlir::OpaqueLoc>(location)) {
    place(opaque.getFallbackLocation(), diagnostic);
  }
}

} // namespace

Diagnostic toDiagnostic(const mlir::Diagnostic &diagnostic) {
  Diagnostic plain{severityName(diagnostic.getSeverity()), diagnostic.str()};
  place(diagnostic.getLocation(), plain);
  for (const mlir::Diagnostic &note : diagnostic.getNotes())
    plain.notes.push_back(toDiagnostic(note));
  return plain;
}

void usePythonHandlers(const PythonHandlers &handlers) { python = handlers; }

mlir::LogicalResult ThreadDiagnostics::handle(mlir::Diagnostic &diagnostic) {
  if (llvm::get_threadid() != thread) {
    if (!python.isPoolThread())
      return python.passOn(context, diagnostic);
    std::lock_guard<std::mutex> lock(handlersMutex);
    if (handlers()[context].begin() != handlers()[context].find(handler))
      return mlir::failure(); // a handler of MLIR's may be below
  }
  diagnostics.push_back(toDiagnostic(diagnostic));
  return mlir::success();
}

ThreadDiagnostics::ThreadDiagnostics(mlir::MLIRContext *context)
    : context(context), thread(llvm::get_threadid()),
      handler(context->getDiagEngine().registerHandler(
          [this](mlir::Diagnostic &diagnostic) { return handle(diagnostic); })) {
  {
    std::lock_guard<std::mutex> lock(handlersMutex);
    handlers()[context].insert(handler);
  }
  python.holdOff(context);
}

ThreadDiagnostics::~ThreadDiagnostics() {
  python.letIn(context);
  context->getDiagEngine().eraseHandler(handler);
  std::lock_guard<std::mutex> lock(handlersMutex);
  std::set<uint64_t> &ours = handlers()[context];
  ours.erase(handler);
  if (ours.empty())
    handlers().erase(context);
}

} // namespace twinjit
