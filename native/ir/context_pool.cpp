#include "ir/context_pool.h"

#include "ir/passes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Location.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

#include <mutex>

namespace twinjit {
namespace {

constexpr unsigned kMaxUses = 256;
constexpr size_t kMaxCharged = size_t(8) << 20; // bytes of programs
constexpr size_t kMaxIdle = 16;

struct Idle {
  std::unique_ptr<mlir::MLIRContext> context;
  unsigned uses;
  size_t charged;
};

/// Guards `idle`. Held for a push or a pop only: contexts are made and destroyed outside it.
std::mutex poolMutex;

/// Never destroyed: a lease may be returned by a thread that outlives static destructors.
std::vector<Idle> &idle() {
  static auto *contexts = new std::vector<Idle>();
  return *contexts;
}

const mlir::DialectRegistry &allDialects() {
  static const auto *registry = [] {
    auto *all = new mlir::DialectRegistry();
    mlir::registerAllDialects(*all);
    mlir::registerAllExtensions(*all);
    mlir::registerBuiltinDialectTranslation(*all);
    mlir::registerLLVMDialectTranslation(*all);
    return all;
  }();
  return *registry;
}

std::unique_ptr<mlir::MLIRContext> makeContext() {
  auto context =
      std::make_unique<mlir::MLIRContext>(allDialects(), mlir::MLIRContext::Threading::DISABLED);
  // The constructor's flag saves the thread pool; only the method also spares the uniquers' locks.
  context->disableMultithreading(true);
  context->loadAllAvailableDialects();
  context->printOpOnDiagnostic(false); // an operation may be a module of megabytes
  return context;
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

void collect(const mlir::Diagnostic &diagnostic, std::vector<Diagnostic> &into) {
  Diagnostic plain{severityName(diagnostic.getSeverity()), diagnostic.str()};
  if (auto place = diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>()) {
    plain.file = place.getFilename().str();
    plain.line = place.getLine();
    plain.column = place.getColumn();
  }
  into.push_back(std::move(plain));
  for (const mlir::Diagnostic &note : diagnostic.getNotes())
    collect(note, into);
}

} // namespace

ContextLease::ContextLease() : diagnostics(std::make_unique<std::vector<Diagnostic>>()) {
  {
    std::lock_guard<std::mutex> lock(poolMutex);
    if (!idle().empty()) {
      context = std::move(idle().back().context);
      uses = idle().back().uses;
      charged = idle().back().charged;
      idle().pop_back();
    }
  }
  if (!context)
    context = makeContext();
  auto *into = diagnostics.get();
  handler = context->getDiagEngine().registerHandler([into](mlir::Diagnostic &diagnostic) {
    collect(diagnostic, *into);
    return mlir::success();
  });
}

ContextLease::~ContextLease() {
  if (!context)
    return; // moved from
  context->getDiagEngine().eraseHandler(handler);
  if (tainted || ++uses >= kMaxUses || charged > kMaxCharged)
    return;
  std::lock_guard<std::mutex> lock(poolMutex);
  if (idle().size() < kMaxIdle)
    idle().push_back({std::move(context), uses, charged});
}

std::vector<Diagnostic> ContextLease::takeDiagnostics() { return std::exchange(*diagnostics, {}); }

void registerPasses() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (!mlir::PassInfo::lookup("canonicalize"))
      mlir::registerAllPasses();
    registerTwinjitPasses();
  });
}

} // namespace twinjit
