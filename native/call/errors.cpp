#include "call/errors.h"

#include <cstring>

namespace twinjit::call {
Ref takeException() {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  if (!type)
    return Ref();
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback)
    PyException_SetTraceback(value, traceback);
  Py_DECREF(type);
  Py_XDECREF(traceback);
  return Ref(value);
}

void restoreException(Ref exception) {
  PyObject *value = exception.get();
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(value)), value);
}

void raiseError(const char *className, const std::string &message) {
  Ref cause = takeException();
  Ref errors(PyImport_ImportModule("twinjit.errors"));
  Ref type(errors ? PyObject_GetAttrString(errors.get(), className) : nullptr);
  Ref text(type ? PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()),
                                       "replace")
                : nullptr);
  if (!text)
    return;
  PyErr_SetObject(type.get(), text.get());
  if (!cause)
    return;
  Ref raised = takeException();
  PyException_SetCause(raised.get(), cause.release());
  restoreException(std::move(raised));
}

void raiseArgument(const char *className, const Plan &plan, unsigned parameter,
                   const std::string &given, const std::string &cure) {
  if (PyErr_Occurred() &&
      (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError)))
    return;
  raiseError(className, plan.name + ": " + plan.where(parameter) + " must be " +
                            plan.parameters[parameter].text + ", but " + given + "; " + cure);
}

std::string typeName(PyObject *object) {
  const char *name = Py_TYPE(object)->tp_name;
  return (std::strchr("aeiou", name[0]) ? "an " : "a ") + std::string(name);
}

std::string shortRepr(PyObject *object) {
  constexpr size_t kLongest = 60;
  Ref text(PyObject_Repr(object));
  const char *utf8 = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  if (!utf8) {
    PyErr_Clear();
    return typeName(object);
  }
  std::string result = utf8;
  if (result.size() <= kLongest)
    return result;
  return result.substr(0, kLongest) + "…";
}

} // namespace twinjit::call
