// Threads that use the whole core at once, without Python: what ThreadSanitizer and
// AddressSanitizer look at (scripts/sanitise).
//
// usage: stress SECONDS THREADS PIPELINE FILE...
//
// PIPELINE is a file with the text of a pass pipeline, and each FILE an MLIR program that it takes.
// Ends with status 1 where anything has another outcome than it should.
#include "codegen/emit.h"
#include "codegen/image.h"
#include "codegen/machine.h"
#include "common/deep_stack.h"
#include "common/symbols.h"
#include "forks/gate.h"
#include "ir/diagnostics.h"
#include "ir/identity.h"
#include "ir/normalise.h"
#include "ir/pipeline.h"
#include "ir/program.h"
#include "llvmir/identity.h"
#include "llvmir/module.h"

#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <random>
#include <thread>

using namespace twinjit;

namespace {

using Random = std::mt19937;

constexpr size_t kKept = 8;                  // images that all threads share
constexpr size_t kSmallStack = 64 << 10;     // bytes
constexpr size_t kThreadStack = 1024 * 1024; // too little for compiling
constexpr char kPolicy[] =
    R"({"commutative":"keep","constants":"content","discardable":"keep",)"
    R"("locations":"ignore","module_name":"keep","private_symbols":"rename",)"
    R"("symbol_order":"ignore"})";
constexpr char kLlvm[] = "%S = type { i32, i64 }\n"
                         "define i64 @f(ptr %p, i64 %x) {\n"
                         "  %a = getelementptr %S, ptr %p, i64 %x, i32 1\n"
                         "  %v = load i64, ptr %a, !tbaa !0\n  ret i64 %v\n}\n"
                         "!0 = !{!1, !1, i64 0}\n!1 = !{!\"long\", !2, i64 0}\n!2 = !{!\"C\"}\n";

[[noreturn]] void fail(const llvm::Twine &what) {
  llvm::errs() << "stress: " << what << "\n";
  std::_Exit(1);
}

template <typename T> T expect(Outcome<T> outcome, const char *what) {
  if (!outcome)
    fail(llvm::Twine(what) + ": " + outcome.failure().message);
  return std::move(*outcome);
}

std::string readFile(const char *path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    fail(llvm::Twine(path) + ": " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

/// A program of which no other number has the code: f(x) = x + number.
std::string adds(uint64_t number) {
  return "func.func @f(%x: i64) -> i64 { %c = arith.constant " + std::to_string(number) +
         " : i64 %y = arith.addi %x, %c : i64 return %y : i64 }";
}

/// What the threads share.
class Stress {
public:
  Stress(std::string pipeline, std::vector<std::string> programs)
      : pipeline(std::move(pipeline)), programs(std::move(programs)),
        policy(expect(Policy::parse(kPolicy), "policy")) {
    mlir::DialectRegistry registry;
    mlir::registerAllDialects(registry);
    shared.appendDialectRegistry(registry);
    shared.loadAllAvailableDialects();
    live = mlir::parseSourceString<mlir::ModuleOp>(adds(1), &shared);
    print = expect(fingerprint(*live, policy), "fingerprint");
  }

  void useAll(unsigned seed) {
    Random random(seed);
    while (!isOver.load()) {
      (this->*kUses[random() % std::size(kUses)])(random);
    }
  }

  /// Fork now and then, as Python does, with the gate closed.
  void forkAll() {
    while (!isOver.load()) {
      forkGate().close(std::chrono::seconds(10));
      pid_t child = fork();
      if (child == 0)
        _exit(0);
      forkGate().open();
      int status = 0;
      if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        fail("a child did not end well");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  /// Cancel whatever is to be cancelled.
  void cancelAll() {
    while (!isOver.load()) {
      std::vector<std::shared_ptr<Stop>> found;
      {
        std::lock_guard<std::mutex> lock(mutex);
        found.swap(stops);
      }
      for (const auto &stop : found)
        stop->cancel();
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
  }

  void end() { isOver.store(true); }

  std::atomic<uint64_t> compiled = 0;

private:
  using Use = void (Stress::*)(Random &);
  static const Use kUses[8];

  /// Compiler work, as the bindings do it.
  template <typename Function> auto work(Work kind, Function &&function) {
    if (!forkGate().enter(kind))
      fail("a fork left work unusable");
    llvm::scope_exit leave([] { forkGate().leave(); });
    return withRoom(kind == Work::Link ? kStackForLinking : kStackForCompiling, function);
  }

  Outcome<std::shared_ptr<Image>> compile(llvm::StringRef text, unsigned level, const Stop &stop) {
    auto emitted = work(Work::Compile, [&]() -> Outcome<Emitted> {
      auto program = Program::parse(text, "stress.mlir", false, stop);
      if (!program)
        return program.failure();
      expect(fingerprint(program->module(), policy), "fingerprint");
      auto normalised = normalise(program->module(), policy, stop);
      if (!normalised)
        return normalised.failure();
      EmitOptions options{hostTarget(), level, {}};
      for (const Signature &signature : expect(program->signatures(), "signatures"))
        options.entries.push_back(signature.name);
      auto lowered = lower(*program, pipeline, true, stop);
      if (!lowered)
        return lowered.failure();
      return emit(lowered->bitcode, options, stop);
    });
    if (!emitted)
      return emitted.failure();
    std::vector<std::string> symbols;
    for (const Entry &entry : emitted->entries)
      symbols.push_back(callSymbol(entry.name));
    ++compiled;
    return work(Work::Link, [&] { return load(emitted->object, {symbols}); });
  }

  void compileFile(Random &random) {
    const std::string &text = programs[random() % programs.size()];
    keep(expect(compile(text, random() % 2, Stop()), "compile"), random);
  }

  static void call(const Image &image, uint64_t number) {
    uint64_t slots[2] = {5, 0};
    auto *function = reinterpret_cast<void (*)(uint64_t *)>(image.address(callSymbol("f")));
    function(slots);
    if (slots[1] != 5 + number)
      fail("f(5) is " + llvm::Twine(slots[1]));
  }

  void compileAndCall(Random &random) {
    uint64_t number = random();
    auto image = expect(compile(adds(number), random() % 4, Stop()), "compile");
    call(*image, number);
  }

  void compileWithSmallStack(Random &random) {
    runWithStack(kSmallStack, [&] { compileAndCall(random); });
  }

  void compileAndStop(Random &random) {
    auto stop = std::make_shared<Stop>();
    {
      std::lock_guard<std::mutex> lock(mutex);
      stops.push_back(stop);
    }
    auto image = compile(programs[random() % programs.size()], 2, *stop);
    if (!image && image.failure().kind != Kind::Cancelled)
      fail("a compilation to be cancelled: " + image.failure().message);
  }

  /// What many threads may do with one module that another package holds.
  void identifyLive(Random &) {
    work(Work::Compile, [&] {
      if (expect(fingerprint(*live, policy), "fingerprint") != print)
        fail("the fingerprint of a live module has changed");
      Program copy = expect(Program::transfer(*live, neverStop), "transfer");
      if (!expect(equivalent(copy.module(), *live, policy), "equivalent"))
        fail("a copy is not the same");
      return true;
    });
  }

  void identifyLlvm(Random &) {
    work(Work::Compile, [&] {
      auto module = expect(llvmir::OwnModule::parse(kLlvm, "stress.ll"), "LLVM IR");
      auto again = expect(llvmir::OwnModule::parse(module->bitcode(), "stress.bc"), "bitcode");
      std::scoped_lock lock(module->mutex, again->mutex);
      if (!expect(llvmir::equivalent(module->get(), again->get(), policy), "equivalent"))
        fail("bitcode is not the same");
      return true;
    });
  }

  void beRefused(Random &) {
    work(Work::Compile, [&] {
      auto text = Program::parse("func.func @f(%x: i64 {", "stress.mlir", false, neverStop);
      if (text || text.failure().diagnostics.empty())
        fail("what is no program was read");
      if (parsePipeline("builtin.module(no-such-pass)"))
        fail("what is no pipeline was read");
      if (llvmir::OwnModule::parse("define i32 @f( {", "stress.ll"))
        fail("what is no LLVM IR was read");
      if (findBackend({"x86_64-unknown-linux-gnu", "no-such-cpu", ""}))
        fail("a CPU that does not exist was found");
      return true;
    });
  }

  void keep(std::shared_ptr<Image> image, Random &random) {
    std::lock_guard<std::mutex> lock(mutex);
    images.resize(kKept);
    images[random() % kKept].swap(image); // the one before it is unmapped after the lock is free
  }

  /// Hold an image that another thread lets go of meanwhile.
  void callShared(Random &random) {
    std::shared_ptr<Image> image;
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (!images.empty())
        image = images[random() % images.size()];
    }
    if (image && image->contains(nullptr))
      fail("an image contains the null pointer");
  }

  const std::string pipeline;
  const std::vector<std::string> programs;
  const Policy policy;
  mlir::MLIRContext shared; // with threads of its own, as MLIR's bindings make it
  mlir::OwningOpRef<mlir::ModuleOp> live;
  Digest print;
  std::atomic<bool> isOver = false;

  std::mutex mutex; // guards `images` and `stops`
  std::vector<std::shared_ptr<Image>> images;
  std::vector<std::shared_ptr<Stop>> stops;
};

const Stress::Use Stress::kUses[8] = {
    &Stress::compileFile,    &Stress::compileAndCall, &Stress::compileWithSmallStack,
    &Stress::compileAndStop, &Stress::identifyLive,   &Stress::identifyLlvm,
    &Stress::beRefused,      &Stress::callShared,
};

/// A thread with less stack than compiling needs, so that the work moves to another.
std::thread inThread(std::function<void()> work, bool isSmall) {
  return std::thread([work = std::move(work), isSmall] {
    if (isSmall)
      runWithStack(kThreadStack, [&] { work(); });
    else
      work();
  });
}

} // namespace

int main(int count, char **arguments) {
  if (count < 5)
    fail("usage: stress SECONDS THREADS PIPELINE FILE...");
  useForkGate(ForkGate::make());
  usePythonHandlers({[](mlir::MLIRContext *) {}, [](mlir::MLIRContext *) {}, [] { return false; },
                     [](mlir::MLIRContext *, mlir::Diagnostic &) { return mlir::failure(); }});
  registerPasses();
  std::vector<std::string> programs;
  for (char **path = arguments + 4; *path; ++path)
    programs.push_back(readFile(*path));
  Stress stress(readFile(arguments[3]), std::move(programs));
  std::vector<std::thread> threads;
  threads.emplace_back([&] { stress.forkAll(); });
  threads.emplace_back([&] { stress.cancelAll(); });
  for (int number = 0; number != std::atoi(arguments[2]); ++number)
    threads.push_back(inThread([&, number] { stress.useAll(number); }, number % 4 == 0));
  std::this_thread::sleep_for(std::chrono::seconds(std::atoi(arguments[1])));
  stress.end();
  for (std::thread &thread : threads)
    thread.join();
  llvm::outs() << "compiled " << stress.compiled.load() << " programs\n";
  return 0;
}
