// The Python type of callable compiled functions.
#pragma once

#include "call/object.h"

namespace twinjit::call {

/// Make the type `Function`, a heap type that speaks vectorcall. Null with an exception set.
Ref makeFunctionType();

} // namespace twinjit::call
