// The runtime of lazy functions. Where one cannot be compiled,
//  - a call that came from Python through a Function, with native code alone in between, ends there
//    with the exception (FailureFrame in codegen/runtime.h);
//  - any other call returns zero. The exception is told to sys.unraisablehook and noted for the
//    thread; the last one counts.
#pragma once

#include "lazy/cells.h"

#include <Python.h>

namespace twinjit::lazy {

/// Make the runtime known to what is linked from now on. Once.
void setUpResolver();

/// Take what was noted for this thread: an exception, owned by the caller, or null.
PyObject *takeNoted();

} // namespace twinjit::lazy
