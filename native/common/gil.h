// Working without the GIL. For the bindings only.
#pragma once

#include <Python.h>

#include <unistd.h>

namespace twinjit {

/// Releases the GIL while it lives.
///
/// A daemon thread that wants the GIL back while the interpreter finalises is ended by CPython
/// before 3.14 with pthread_exit, which unwinds: that ends the process at the first function which
/// lets no exception pass, and drops Python objects without the GIL. It sleeps for good instead, as
/// CPython 3.14 has it.
class WithoutGil {
public:
  WithoutGil() : state(PyEval_SaveThread()) {}
  ~WithoutGil() {
    try {
      PyEval_RestoreThread(state);
    } catch (...) {
      for (;;)
        pause();
    }
  }
  WithoutGil(const WithoutGil &) = delete;
  WithoutGil &operator=(const WithoutGil &) = delete;

private:
  PyThreadState *state;
};

} // namespace twinjit
