// Compiler work, as the bindings do it: counted in at the gate for forks, without the GIL.
#pragma once

#include "common/deep_stack.h"
#include "common/gil.h"
#include "common/raise.h"
#include "forks/gate.h"

#include <optional>

namespace twinjit {

enum class Gil {
  Release,
  Hold, // but for waiting at the gate
};

/// For extensions other than `_llvm`, which makes the gate: use that.
inline void useSharedForkGate() {
  namespace nb = nanobind;
  nb::object gate = nb::module_::import_("twinjit._native._llvm").attr("_fork_gate");
  useForkGate(*static_cast<ForkGate *>(nb::cast<nb::capsule>(gate).data("twinjit.fork_gate")));
}

/// Raise ForkError: a fork left this kind of work unusable.
[[noreturn]] inline void refuse(Work work) {
  const char *name = work == Work::Compile ? "compiling, reading or comparing programs"
                     : work == Work::Link  ? "loading code"
                                           : "importing a part of twinjit";
  raise({Kind::Fork, std::string("this process was forked while another thread was ") + name +
                         ", which did not end in time; what that thread had locked stays locked "
                         "here. Start processes by multiprocessing's method 'spawn' or "
                         "'forkserver', or fork before such work begins or after it has ended"});
}

/// Lives as long as the work, for work that is Python's in part; see compilerWork(). Raises
/// ForkError in a child that cannot do it.
class CompilerWork {
public:
  explicit CompilerWork(Work work = Work::Compile, Gil gil = Gil::Release) {
    released.emplace();
    bool isAllowed = forkGate().enter(work);
    if (isAllowed && gil == Gil::Release)
      return;
    released.reset();
    if (!isAllowed)
      refuse(work);
  }
  ~CompilerWork() { forkGate().leave(); } // before it waits for the GIL: a fork may be waiting
  CompilerWork(const CompilerWork &) = delete;
  CompilerWork &operator=(const CompilerWork &) = delete;

private:
  std::optional<WithoutGil> released;
};

/// Do work that touches no Python, with as much stack as it may need. `work` may run on a thread of
/// its own meanwhile, and must not throw. Raises ForkError in a child that cannot do it.
template <typename Function>
auto compilerWork(Function &&work, Work kind = Work::Compile, Gil gil = Gil::Release) {
  CompilerWork counted(kind, gil);
  size_t bytes = kind == Work::Link ? kStackForLinking : kStackForCompiling;
  if (gil == Gil::Release || hasRoom(bytes))
    return withRoom(bytes, work);
  // The thread that does the work needs the GIL itself: diagnostics handlers ask for it again.
  WithoutGil released;
  return withRoom(bytes, [&] {
    nanobind::gil_scoped_acquire held;
    return work();
  });
}

} // namespace twinjit
