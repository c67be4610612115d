// Arrays through DLPack (https://dmlc.github.io/dlpack/latest/), its version 1 and the unversioned
// form before it.
#pragma once

#include "call/view.h"

namespace twinjit::call {

/// Look at what object.__dlpack__() exports. Returns the owner that keeps the memory and calls the
/// exporter's deleter when it goes; null where the object has no __dlpack__, or with an exception
/// set where exporting failed.
Ref viewOfDLPack(PyObject *object, View &view);

} // namespace twinjit::call
