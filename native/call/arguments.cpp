#include "call/call.h"
#include "call/dlpack.h"
#include "call/errors.h"
#include "call/refusal.h"
#include "call/scalars.h"

#include <cstring>

namespace twinjit::call {
namespace {

/// ctypes' pointers export the memory that holds the pointer; what is meant is where it points.
bool isPointerBuffer(PyObject *owner) {
  if (!PyMemoryView_Check(owner))
    return false;
  const Py_buffer *buffer = PyMemoryView_GET_BUFFER(owner);
  const char *format = buffer->format;
  if (!format || buffer->ndim != 0 || buffer->itemsize != sizeof(void *))
    return false;
  if (*format == '<' || *format == '@' || *format == '=')
    ++format;
  return *format && std::strchr("P&Xz", *format);
}

} // namespace

void Call::hold(unsigned parameter, Ref owner, bool writable) {
  held.push_back({parameter, writable, std::move(owner)});
}

/// Find an array's memory in an object that is not exactly a NumPy array, and hold it. Buffers are
/// tried before DLPack, being cheaper; DLPack knows more kinds of elements.
bool Call::look(unsigned parameter, PyObject *object, View &view) {
  if (PyArray_Check(object)) {
    view.ofArray(object);
    return true;
  }
  Ref owner;
  if (PyObject_CheckBuffer(object)) {
    owner = viewOfBuffer(object, view);
    PyErr_Clear();
  }
  if (!owner || view.element == Element::Other) {
    Ref better = viewOfDLPack(object, view);
    if (better)
      owner = std::move(better);
    else if (owner)
      PyErr_Clear();
  }
  if (!owner) {
    refuseObject(plan, parameter, object);
    return false;
  }
  hold(parameter, std::move(owner), view.writable);
  return true;
}

/// Pass a contiguous copy of a tensor whose layout compiled code does not expect.
bool Call::bindCopy(unsigned parameter, const View &view) {
  const Value &value = plan.parameters[parameter];
  Ref original = wrapMemory(rawDescr(value.itemSize), view.rank, view.shape, view.strides,
                            view.data, /*writable=*/false);
  Ref copy = original ? copyArray(original) : Ref();
  if (!copy)
    return false;
  View contiguous;
  contiguous.ofArray(copy.get());
  describe(contiguous, value, &slots[value.slot]);
  hold(parameter, std::move(copy), /*writable=*/true);
  return true;
}

bool Call::bindArray(unsigned parameter, PyObject *object) {
  const Value &value = plan.parameters[parameter];
  View view;
  if (PyArray_CheckExact(object))
    view.ofArray(object);
  else if (!look(parameter, object, view))
    return false;
  Misfit misfit = fit(view, value);
  if (misfit == Misfit::None) {
    describe(view, value, &slots[value.slot]);
    return true;
  }
  if (misfit >= Misfit::Layout && value.kind == Kind::Tensor)
    return bindCopy(parameter, view);
  refuseView(plan, parameter, object, view, misfit);
  return false;
}

/// Pass the address of an object's memory.
bool Call::bindMemory(unsigned parameter, PyObject *object) {
  const Value &value = plan.parameters[parameter];
  uint64_t *slot = &slots[value.slot];
  View view;
  if (!look(parameter, object, view))
    return false;
  bool isHeld = !held.empty() && held.back().parameter == parameter;
  if (isHeld && isPointerBuffer(held.back().owner.get())) {
    std::memcpy(slot, view.data, sizeof *slot);
    return true;
  }
  *slot = reinterpret_cast<uint64_t>(view.data);
  Misfit misfit = fitPointed(view, value);
  if (misfit == Misfit::None)
    return true;
  refuseView(plan, parameter, object, view, misfit);
  return false;
}

bool Call::bindPointer(unsigned parameter, PyObject *object) {
  uint64_t *slot = &slots[plan.parameters[parameter].slot];
  if (object == Py_None) {
    *slot = 0;
    return true;
  }
  if (PyLong_Check(object))
    return addressToSlot(plan, parameter, object, slot);
  if (!ensureNumPy())
    return false;
  bool exports = PyObject_CheckBuffer(object) || PyObject_HasAttrString(object, "__dlpack__");
  if (PyArray_IsScalar(object, Integer) || !exports)
    return addressToSlot(plan, parameter, object, slot);
  return bindMemory(parameter, object);
}

bool Call::bindParameter(unsigned parameter, PyObject *object) {
  const Value &value = plan.parameters[parameter];
  switch (value.kind) {
  case Kind::Scalar:
    return scalarToSlots(plan, parameter, object, &slots[value.slot]);
  case Kind::Pointer:
    return bindPointer(parameter, object);
  default:
    return bindArray(parameter, object);
  }
}

bool Call::bind(PyObject *out) {
  if (plan.usesArrays && !ensureNumPy())
    return false;
  for (unsigned i = 0; i != plan.argumentCount; ++i)
    if (!bindParameter(i, arguments[i]))
      return false;
  return bindOuts(out);
}

} // namespace twinjit::call
