#include "ir/context_pool.h"

#include "common/clock.h"
#include "common/heap.h"
#include "ir/diagnostics.h"
#include "ir/identity_memo.h"
#include "ir/passes.h"
#include "ir/uniqued_bytes.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

#include <chrono>
#include <mutex>

namespace twinjit {
namespace {

constexpr unsigned kMaxUses = 256;
constexpr size_t kMaxGrowth = size_t(16) << 20;
// Together, so that a process which has gone idle holds no more. There is no timer that would drop
// them: it would need a thread, beside which Python warns of forks.
constexpr size_t kMaxIdle = 16;
constexpr size_t kMaxIdleBytes = size_t(40) << 20;
constexpr auto kMaxIdleTime = std::chrono::seconds(60);
// Of memory that a program took on its way, for each byte of its text or bytecode.
constexpr size_t kFreedPerByte = 16;

/// Of the heap, for so many bytes of attributes and types: these own some more, and there are the
/// tables that find them. It was 1.4 to 1.9 times as much (tensor programs of 1 to 200 operations).
size_t heapBytes(size_t uniqued) { return uniqued * 8 / 5; }

using Context = std::unique_ptr<mlir::MLIRContext>;

struct Idle {
  Context context;
  unsigned uses;
  size_t atFirst; // bytes that were interned in it when it was new
  size_t growth;  // of the heap, since then
  Clock::time_point since;

  size_t bytes() const { return kContextBytes + growth; }
};

/// Guards `idle` and `stats`. Held for moving elements only: contexts are made, measured and
/// destroyed outside of it.
std::mutex poolMutex;

/// The longest idle first. Never destroyed: a lease may be returned by a thread that outlives
/// static destructors.
std::vector<Idle> &idle() {
  static auto *contexts = new std::vector<Idle>();
  return *contexts;
}

PoolStats stats; // but for what poolStats() counts

size_t idleBytes() {
  size_t bytes = 0;
  for (const Idle &each : idle())
    bytes += each.bytes();
  return bytes;
}

/// Take out what is not to be kept, for the caller to destroy. Needs the mutex.
std::vector<Idle> takeSurplus() {
  std::vector<Idle> surplus;
  auto oldest = [] { return idle().begin(); };
  while (!idle().empty() && (idle().size() > kMaxIdle || idleBytes() > kMaxIdleBytes ||
                             Clock::now() - oldest()->since > kMaxIdleTime)) {
    surplus.push_back(std::move(*oldest()));
    idle().erase(oldest());
  }
  stats.surplus += surplus.size();
  return surplus;
}

void destroy(std::vector<Idle> contexts) {
  for (const Idle &each : contexts)
    noteFreed(each.bytes());
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

Context makeContext() {
  auto context =
      std::make_unique<mlir::MLIRContext>(allDialects(), mlir::MLIRContext::Threading::DISABLED);
  // The constructor's flag saves the thread pool; only the method also spares the uniquers' locks.
  context->disableMultithreading(true);
  context->loadAllAvailableDialects();
  context->printOpOnDiagnostic(false); // an operation may be a module of megabytes
  return context;
}

} // namespace

ContextLease::ContextLease() : diagnostics(std::make_unique<std::vector<Diagnostic>>()) {
  {
    std::lock_guard<std::mutex> lock(poolMutex);
    ++stats.leased;
    if (idle().empty()) {
      ++stats.made;
      taken = kContextBytes;
    } else {
      taken = idle().back().bytes();
      context = std::move(idle().back().context);
      uses = idle().back().uses;
      atFirst = idle().back().atFirst;
      idle().pop_back();
    }
    stats.leasedBytes += taken;
  }
  if (!context) {
    context = makeContext();
    atFirst = uniquedBytes(*context);
  }
  auto *into = diagnostics.get();
  handler = context->getDiagEngine().registerHandler([into](mlir::Diagnostic &diagnostic) {
    into->push_back(toDiagnostic(diagnostic));
    return mlir::success();
  });
}

void ContextLease::giveBack() {
  if (!context)
    return; // given back, or moved from
  context->getDiagEngine().eraseHandler(handler);
  size_t growth = heapBytes(uniquedBytes(*context) - atFirst) + DigestMemo::bytesOf(context.get());
  noteFreed(charged * kFreedPerByte);
  std::vector<Idle> gone;
  {
    std::lock_guard<std::mutex> lock(poolMutex);
    --stats.leased;
    stats.leasedBytes -= taken;
    size_t *reason = tainted               ? &stats.tainted
                     : growth > kMaxGrowth ? &stats.recycledByGrowth
                     : ++uses >= kMaxUses  ? &stats.recycledByUses
                                           : nullptr;
    if (reason) {
      ++*reason;
    } else {
      idle().push_back({std::move(context), uses, atFirst, growth, Clock::now()});
      gone = takeSurplus();
    }
  }
  destroy(std::move(gone));
  if (context)
    noteFreed(kContextBytes + growth);
  context.reset();
}

std::vector<Diagnostic> ContextLease::takeDiagnostics() { return std::exchange(*diagnostics, {}); }

PoolStats poolStats() {
  std::lock_guard<std::mutex> lock(poolMutex);
  PoolStats now = stats;
  now.idle = idle().size();
  now.idleBytes = idleBytes();
  now.leasedBytes = now.leased * kContextBytes;
  return now;
}

void releaseIdleContexts() {
  std::vector<Idle> all;
  {
    std::lock_guard<std::mutex> lock(poolMutex);
    all.swap(idle());
  }
  destroy(std::move(all));
}

void registerPasses() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (!mlir::PassInfo::lookup("canonicalize"))
      mlir::registerAllPasses();
    registerTwinjitPasses();
  });
}

} // namespace twinjit
