// Python face of the gate for forks; twinjit.forks uses it. Every entry point says what it does
// with the GIL.
#include "forks/work.h"

#include <nanobind/nanobind.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace twinjit::forks {

void bind(nb::module_ &module) {
  useForkGate(ForkGate::make());
  module.attr("_fork_gate") = nb::capsule(&forkGate(), "twinjit.fork_gate");
  module.def(
      "hold_work",
      [](double seconds) {
        WithoutGil released;
        forkGate().close(std::chrono::duration<double>(seconds));
      },
      "seconds"_a,
      "Hold back new compiler work of other threads, and wait for what is under way, not longer "
      "than so many seconds. Nothing where this thread has done so already. Releases the GIL.");
  module.def(
      "resume_work", [] { forkGate().open(); },
      "Undo ``hold_work`` of this thread. Holds the GIL.");
  module.def(
      "begin_import",
      [] {
        bool isAllowed = [] {
          WithoutGil released;
          return forkGate().enter(Work::Import);
        }();
        if (!isAllowed)
          refuse(Work::Import);
      },
      "Hold forks off until ``end_import``. Raises ForkError where one came between an import and "
      "its end. Releases the GIL while it waits for a fork.");
  module.def(
      "end_import", [] { forkGate().leave(); }, "End what ``begin_import`` began. Holds the GIL.");
}

} // namespace twinjit::forks
