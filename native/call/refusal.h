// The words in which an array is refused.
#pragma once

#include "call/view.h"

namespace twinjit::call {

/// Raise that `object` is no array at all (because of the exception set, if any).
void refuseObject(const Plan &plan, unsigned parameter, PyObject *object);

/// Raise why the view of `object` does not fit.
void refuseView(const Plan &plan, unsigned parameter, PyObject *object, const View &view,
                Misfit misfit);

} // namespace twinjit::call
