// Python face of passes over modules that users hold. Every entry point says what it does with the
// GIL.
#include "ir/bindings.h"
#include "ir/handed_python.h"
#include "ir/module_run.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <thread>

namespace nb = nanobind;
using namespace nb::literals;

namespace twinjit {
namespace {

/// Wait until the run may begin, without the GIL. It polls: what it waits for is rare, and a
/// condition variable would have to survive forks.
void beginOnceFree(ModuleRun &run, const Stop &stop) {
  while (!unwrap(run.begin())) {
    if (stop.isRequested())
      raise(stop.failure());
    WithoutGil released;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

nb::tuple runPassesToPython(const nb::object &capsule, const std::string &pipeline,
                            const Stop &stop) {
  loadPasses();
  CompilerWork work(Work::Compile, Gil::Hold);
  ModuleRun run = unwrap(ModuleRun::make(fromCapsule(capsule), pipeline));
  beginOnceFree(run, stop);
  auto said = [&] {
    WithoutGil released;
    return withRoom(kStackForCompiling, [&] { return run.run(stop); });
  }();
  return toPython(unwrap(std::move(said)));
}

} // namespace

void bindLive(nb::module_ &m) {
  m.def("run_passes", &runPassesToPython, "capsule"_a, "pipeline"_a, "stop"_a,
        nb::sig("def run_passes(capsule: object, pipeline: str, stop: "
                "twinjit._native._llvm.Stop) -> tuple[twinjit.errors.Diagnostic, ...]"),
        "Run a pass pipeline over a live module, given its ``_CAPIPtr``, and return what the "
        "passes said. Releases the GIL but for the beginning.");
}

} // namespace twinjit
