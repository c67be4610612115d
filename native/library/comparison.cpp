#include "library/comparison.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/GVMaterializer.h"
#include "llvm/Linker/IRMover.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <ctime>

namespace twinjit::library {
namespace {

std::string printed(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

/// That this thread has run: of longer work, wall time counts more of what else the machine does.
double threadSeconds() {
  timespec taken{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &taken);
  return static_cast<double>(taken.tv_sec) + 1e-9 * static_cast<double>(taken.tv_nsec);
}

/// Time `work` on an empty program, and dropping that.
template <typename Work> Outcome<Comparison::Sample> timed(llvm::LLVMContext &context, Work work) {
  Comparison::Sample sample;
  double start = threadSeconds();
  auto program = std::make_unique<llvm::Module>("", context);
  if (std::optional<Failure> failure = work(*program))
    return std::move(*failure);
  sample.seconds = threadSeconds() - start;
  sample.text = printed(*program);
  start = threadSeconds();
  program.reset();
  sample.seconds += threadSeconds() - start;
  return sample;
}

std::optional<Failure> move(std::unique_ptr<llvm::Module> source, llvm::StringRef name,
                            llvm::Module &program) {
  llvm::Function *function = source->getFunction(name);
  if (!function)
    return Failure{Kind::Library, "there is no function " + name.str()};
  auto addLocal = [](llvm::GlobalValue &value, llvm::IRMover::ValueAdder add) {
    if (value.hasLocalLinkage())
      add(value);
  };
  llvm::Error error = llvm::IRMover(program).move(std::move(source), {function}, addLocal, true);
  if (error)
    return Failure{Kind::Library, llvm::toString(std::move(error))};
  return std::nullopt;
}

} // namespace

Outcome<Comparison::Sample> Comparison::importOurs(uint32_t file, llvm::StringRef name) {
  return timed(ours.getContext(), [&](llvm::Module &program) -> std::optional<Failure> {
    auto plan = ours.plan(file, name);
    if (!plan)
      return plan.failure();
    Transplant transplant(program, Linkage::Provided);
    transplant.add(**plan);
    transplant.finish();
    return std::nullopt;
  });
}

Outcome<Comparison::Sample> Comparison::reload(uint32_t file, llvm::StringRef name) {
  llvm::MemoryBufferRef buffer = library.bitcode().buffer(file);
  return timed(reloading, [&](llvm::Module &program) -> std::optional<Failure> {
    auto module = llvm::getLazyBitcodeModule(buffer, reloading, true);
    if (!module)
      return unreadable(buffer, llvm::toString(module.takeError()));
    (*module)->getMaterializer()->setStripDebugInfo();
    return move(std::move(*module), name, program);
  });
}

Outcome<llvm::Module *> Comparison::kept(uint32_t file) {
  std::unique_ptr<llvm::Module> &known = modules[file];
  if (!known) {
    auto module = llvm::parseBitcodeFile(library.bitcode().buffer(file), cloning);
    if (!module)
      return unreadable(library.bitcode().buffer(file), llvm::toString(module.takeError()));
    known = std::move(*module);
  }
  return known.get();
}

Outcome<Comparison::Sample> Comparison::clone(uint32_t file, llvm::StringRef name) {
  auto module = kept(file);
  if (!module)
    return module.failure();
  return timed(cloning, [&](llvm::Module &program) {
    return move(llvm::CloneModule(**module), name, program);
  });
}

Outcome<Comparison::Sample> Comparison::import(Way way, const std::string &name) {
  auto file = library.fileOf(name);
  if (!file)
    return file.failure();
  if (!*file)
    return Failure{Kind::Library, "the library does not define " + name};
  switch (way) {
  case Way::Ours:
    return importOurs(**file, name);
  case Way::Reload:
    return reload(**file, name);
  case Way::Clone:
    return clone(**file, name);
  }
  return Failure{Kind::Library, "no such way"};
}

} // namespace twinjit::library
