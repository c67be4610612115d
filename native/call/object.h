// Ownership of Python objects in code that speaks CPython's C API directly.
//
// Everything in this folder holds the GIL, except the compiled code itself (function.cpp).
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <utility>

namespace twinjit::call {

/// Owns one reference to a Python object, or nothing.
class Ref {
public:
  Ref() = default;
  explicit Ref(PyObject *stolen) : object(stolen) {}
  static Ref borrow(PyObject *object) {
    Py_XINCREF(object);
    return Ref(object);
  }
  Ref(Ref &&other) noexcept : object(other.release()) {}
  Ref &operator=(Ref &&other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Ref() { Py_XDECREF(object); }

  explicit operator bool() const { return object != nullptr; }
  PyObject *get() const { return object; }
  PyObject *release() { return std::exchange(object, nullptr); }

private:
  PyObject *object = nullptr;
};

} // namespace twinjit::call
