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

/// Finds the place of a diagnostic in a location, and the callers that lead there. Locations share
/// parts, so that a few may have more callers than there is memory for.
class Places {
public:
  explicit Places(mlir::LocationAttr location) : callers({location}) {}

  /// Whether there are further callers.
  bool isMore() const { return !callers.empty() && left && calls < kMaxCalls; }

  /// Place a diagnostic where the call before it comes from; the first where its location says.
  void placeNext(Diagnostic &diagnostic) {
    ++calls;
    parts.assign(1, callers.pop_back_val());
    while (!parts.empty() && diagnostic.file.empty() && left) {
      --left;
      enter(parts.pop_back_val(), diagnostic);
    }
  }

private:
  static constexpr unsigned kMaxCalls = 1000; // deeper than stacks of front ends

  void enter(mlir::LocationAttr location, Diagnostic &diagnostic) {
    if (auto range = llvm::dyn_cast<mlir::FileLineColRange>(location)) {
      diagnostic.file = range.getFilename().str();
      diagnostic.line = range.getStartLine();
      diagnostic.column = range.getStartColumn();
    } else if (auto name = llvm::dyn_cast<mlir::NameLoc>(location)) {
      if (diagnostic.name.empty())
        diagnostic.name = name.getName().str();
      parts.push_back(name.getChildLoc());
    } else if (auto call = llvm::dyn_cast<mlir::CallSiteLoc>(location)) {
      callers.push_back(call.getCaller());
      parts.push_back(call.getCallee());
    } else if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(location)) {
      llvm::append_range(parts, llvm::reverse(fused.getLocations()));
    } else if (auto opaque = llvm::dyn_cast<mlir::OpaqueLoc>(location)) {
      parts.push_back(opaque.getFallbackLocation());
    }
  }

  unsigned calls = 0;
  unsigned left = 1'000'000;                     // locations to look at
  llvm::SmallVector<mlir::LocationAttr> callers; // the next last
  llvm::SmallVector<mlir::LocationAttr> parts;   // of the place that is looked for, the next last
};

void place(mlir::LocationAttr location, Diagnostic &diagnostic) {
  Places places(location);
  places.placeNext(diagnostic);
  while (places.isMore()) {
    Diagnostic caller{"note", "called from here"};
    places.placeNext(caller);
    diagnostic.notes.push_back(std::move(caller));
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
