// What stubs call when a function is not compiled yet: it asks Python. For the bindings only.
#include "lazy/resolver.h"

#include "call/errors.h"
#include "codegen/runtime.h"
#include "common/deep_stack.h"
#include "common/gil.h"

#include <cerrno>
#include <optional>
#include <sys/syscall.h>
#include <unistd.h>

namespace twinjit::lazy {
namespace {

using call::Ref;

/// A user's code runs on it.
constexpr size_t kStackForPython = size_t(1) << 20;

bool isEnding() {
#if PY_VERSION_HEX >= 0x030d0000
  return Py_IsFinalizing();
#else
  return !Py_IsInitialized() || _Py_IsFinalizing();
#endif
}

/// Whether this thread can run Python. While the interpreter ends, the main thread can, which as a
/// rule is who ends it: objects that go then may call functions.
bool canAskPython() {
  return !isEnding() ||
         (syscall(SYS_gettid) == getpid() && PyGILState_GetThisThreadState() != nullptr);
}

/// Do what may want the GIL while the interpreter ends, which then ends the thread, or has it sleep
/// for good, here: see WithoutGil. Nothing that has a destructor may be in between.
template <typename Function> auto orSleep(Function &&work) {
  try {
    return work();
  } catch (...) {
    for (;;)
      pause();
  }
}

/// Holds the GIL, of a thread that may not be Python's, while it lives.
class WithGil {
public:
  WithGil() : state(orSleep(PyGILState_Ensure)) {}
  ~WithGil() { PyGILState_Release(state); }
  WithGil(const WithGil &) = delete;
  WithGil &operator=(const WithGil &) = delete;

private:
  PyGILState_STATE state;
};

/// What became of a cell's function. Plain, so that a jump may skip it.
struct Resolution {
  void *address;
  PyObject *exception; // owned; null where there is an address
};

void report(PyObject *exception, size_t index) {
  call::restoreException(Ref::borrow(exception));
  Ref where(PyUnicode_FromFormat("lazy function %zu, called by native code", index));
  orSleep([&] { PyErr_WriteUnraisable(where.get()); });
}

/// Have Python compile the function. `isReported`: nobody can be told of a failure but
/// sys.unraisablehook.
void askPython(const Cell &cell, bool isReported, Resolution &resolution) {
  WithGil held;
  Ref resolver = Ref::borrow(static_cast<PyObject *>(cell.owner.resolver));
  Ref address(orSleep([&] {
    return PyObject_CallFunction(resolver.get(), "n", static_cast<Py_ssize_t>(cell.index));
  }));
  resolution.address = address ? PyLong_AsVoidPtr(address.get()) : nullptr;
  if (!resolution.address && !PyErr_Occurred())
    PyErr_SetString(PyExc_SystemError, "a lazy function was resolved to no address");
  if (!PyErr_Occurred())
    return;
  resolution = {nullptr, call::takeException().release()};
  if (isReported)
    report(resolution.exception, cell.index);
}

/// The same, with as much stack as Python may need.
void askPythonSomewhere(const Cell &cell, bool isReported, Resolution &resolution) {
  std::optional<WithoutGil> released; // which the other thread needs
  if (!hasRoom(kStackForPython) && PyGILState_Check())
    released.emplace();
  runWithRoom(kStackForPython, [&] { askPython(cell, isReported, resolution); });
}

int dropLater(void *exception) {
  Py_DECREF(static_cast<PyObject *>(exception));
  return 0;
}

/// The last error that nobody could be told. Threads end without the GIL, so that Python is asked
/// to drop what they have; where it has too much to do, that leaks.
class Noted {
public:
  ~Noted() { put(nullptr); }
  void put(PyObject *next) {
    PyObject *last = std::exchange(exception, next);
    if (last && !isEnding())
      (void)Py_AddPendingCall(dropLater, last);
  }
  PyObject *take() { return std::exchange(exception, nullptr); }

private:
  PyObject *exception = nullptr; // owned
};

thread_local Noted noted;

/// Nothing here may have a destructor: the jump skips it.
void *resolve(Cell *cell) {
  if (void *address = cell->target.load(std::memory_order_acquire))
    return address;
  if (!canAskPython())
    return nullptr;
  int error = errno; // the program's
  FailureFrame *frame = FailureFrame::landing();
  Resolution resolution = {};
  askPythonSomewhere(*cell, !frame, resolution);
  errno = error;
  if (!resolution.exception)
    return resolution.address;
  if (!frame) {
    noted.put(resolution.exception);
    return nullptr;
  }
  frame->exception = resolution.exception;
  std::longjmp(frame->jump, 1);
}

int callbackDepth() {
  PyThreadState *state = PyGILState_GetThisThreadState();
  return state ? state->gilstate_counter : 0;
}

} // namespace

PyObject *takeNoted() { return noted.take(); }

void setUpResolver() {
  provideResolver(reinterpret_cast<void *>(resolve));
  countCallbacks(callbackDepth);
}

} // namespace twinjit::lazy
