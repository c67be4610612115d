// Numbers between Python and slots.
#pragma once

#include "call/signature.h"

namespace twinjit::call {

/// Write a Python or NumPy number (also a 0-d array) as the scalar or complex `parameter`.
///
/// Integers take what has __index__, within the type's range (a signless iN takes -2^(N-1) to
/// 2^N-1; i1 takes booleans, 0 and 1). Floats take what has __float__ or __index__, rounded to
/// nearest even from double precision; what is too large becomes infinite, as in NumPy. Complex
/// numbers take what has __complex__, too. False with an exception set.
bool scalarToSlots(const Plan &plan, unsigned parameter, PyObject *object, uint64_t *slot);

/// The Python number in a result's slots: bool for i1, a signed int for signless ones.
PyObject *scalarFromSlots(const Value &value, const uint64_t *slot);

/// Write an address: a non-negative int below 2^64. False with an exception set.
bool addressToSlot(const Plan &plan, unsigned parameter, PyObject *object, uint64_t *slot);

} // namespace twinjit::call
