#include "call/scalars.h"

#include "call/errors.h"

#include <cmath>
#include <cstring>

namespace twinjit::call {
namespace {

struct Format {
  int exponentBits;
  int fractionBits;
};
constexpr Format kHalf = {5, 10};
constexpr Format kBFloat = {8, 7};

/// Round to nearest even into a 16-bit format.
uint16_t narrow(double value, Format format) {
  unsigned sign = std::signbit(value) ? 0x8000 : 0;
  unsigned infinity = ((1u << format.exponentBits) - 1) << format.fractionBits;
  if (std::isnan(value))
    return sign | infinity | 1u << (format.fractionBits - 1);
  double magnitude = std::fabs(value);
  if (magnitude == 0)
    return sign;
  int bias = (1 << (format.exponentBits - 1)) - 1;
  if (std::isinf(value) || std::ilogb(magnitude) > bias)
    return sign | infinity;
  // In units of the last place the fraction is an integer once rounded; if it rounds up to the next
  // power of two, the addition carries into the exponent, up to infinity.
  int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  auto units =
      static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, format.fractionBits - exponent)));
  return sign | ((static_cast<unsigned>(exponent + bias - 1) << format.fractionBits) + units);
}

double widen(uint16_t bits, Format format) {
  int fraction = bits & ((1 << format.fractionBits) - 1);
  int exponent = (bits & 0x7fff) >> format.fractionBits;
  int bias = (1 << (format.exponentBits - 1)) - 1;
  double magnitude;
  if (exponent == (1 << format.exponentBits) - 1)
    magnitude = fraction ? NAN : INFINITY;
  else if (exponent == 0)
    magnitude = std::ldexp(fraction, 1 - bias - format.fractionBits);
  else
    magnitude =
        std::ldexp(fraction | 1 << format.fractionBits, exponent - bias - format.fractionBits);
  return bits & 0x8000 ? -magnitude : magnitude;
}

template <typename T> void put(uint64_t *slot, T value) { std::memcpy(slot, &value, sizeof value); }

template <typename T> T get(const uint64_t *slot) {
  T value;
  std::memcpy(&value, slot, sizeof value);
  return value;
}

void putFloat(Number number, uint64_t *slot, double value) {
  switch (number) {
  case Number::Half:
    return put(slot, narrow(value, kHalf));
  case Number::BFloat:
    return put(slot, narrow(value, kBFloat));
  case Number::Single:
  case Number::ComplexSingle:
    return put(slot, static_cast<float>(value));
  default:
    return put(slot, value);
  }
}

double getFloat(Number number, const uint64_t *slot) {
  switch (number) {
  case Number::Half:
    return widen(get<uint16_t>(slot), kHalf);
  case Number::BFloat:
    return widen(get<uint16_t>(slot), kBFloat);
  case Number::Single:
  case Number::ComplexSingle:
    return get<float>(slot);
  default:
    return get<double>(slot);
  }
}

bool refuseType(const Plan &plan, unsigned parameter, PyObject *object, const char *cure) {
  raiseArgument(kTypeError, plan, parameter, typeName(object) + " was given", cure);
  return false;
}

/// Whether the object is an array with dimensions: NumPy would convert one of a single element, but
/// that is hardly ever meant. Also true, with an exception set, when NumPy cannot be imported.
bool isArrayWithDimensions(PyObject *object) {
  return !ensureNumPy() || (PyArray_Check(object) && fields(object)->nd != 0);
}

/// NumPy's complex numbers would convert to floats with only a warning.
bool isComplex(PyObject *object) {
  if (PyComplex_Check(object) || PyArray_IsScalar(object, ComplexFloating))
    return true;
  return PyArray_Check(object) && PyTypeNum_ISCOMPLEX(fields(object)->descr->type_num);
}

bool isNumPyBool(PyObject *object) {
  return PyArray_IsScalar(object, Bool) ||
         (PyArray_Check(object) && fields(object)->descr->type_num == NPY_BOOL);
}

struct Range {
  int64_t low;
  uint64_t high;
};

Range rangeOf(const Value &value) {
  unsigned spare = 64 - value.bits;
  int64_t lowSigned = INT64_MIN >> spare;
  uint64_t highSigned = static_cast<uint64_t>(INT64_MAX) >> spare;
  uint64_t highUnsigned = UINT64_MAX >> spare;
  if (value.number == Number::Signed)
    return {lowSigned, highSigned};
  if (value.number == Number::Unsigned || value.bits == 1)
    return {0, highUnsigned};
  return {lowSigned, highUnsigned};
}

bool refuseRange(const Plan &plan, unsigned parameter, PyObject *object) {
  Range range = rangeOf(plan.parameters[parameter]);
  raiseArgument(kValueError, plan, parameter, shortRepr(object) + " was given",
                "pass a number from " + std::to_string(range.low) + " to " +
                    std::to_string(range.high));
  return false;
}

bool fromLong(const Plan &plan, unsigned parameter, PyObject *object, uint64_t *slot) {
  Range range = rangeOf(plan.parameters[parameter]);
  int overflow;
  long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow == 0) {
    if (number < range.low || (number > 0 && static_cast<uint64_t>(number) > range.high))
      return refuseRange(plan, parameter, object);
    *slot = static_cast<uint64_t>(number);
    return true;
  }
  unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(object) : 0;
  bool outside = PyErr_Occurred() != nullptr;
  PyErr_Clear();
  if (overflow < 0 || outside || large > range.high)
    return refuseRange(plan, parameter, object);
  *slot = large;
  return true;
}

bool integerToSlot(const Plan &plan, unsigned parameter, PyObject *object, uint64_t *slot) {
  if (PyLong_Check(object))
    return fromLong(plan, parameter, object, slot);
  const Value &value = plan.parameters[parameter];
  bool isFlag = value.bits == 1 && value.number == Number::Signless;
  const char *cure = isFlag ? "pass a bool" : "pass an int";
  if (isArrayWithDimensions(object))
    return refuseType(plan, parameter, object, cure);
  if (isFlag && isNumPyBool(object)) {
    int truth = PyObject_IsTrue(object);
    *slot = truth == 1;
    return truth >= 0;
  }
  Ref index(PyNumber_Index(object));
  return index ? fromLong(plan, parameter, index.get(), slot)
               : refuseType(plan, parameter, object, cure);
}

/// An int too large for a double, or an object whose conversion raised.
bool refuseConversion(const Plan &plan, unsigned parameter, PyObject *object, const char *cure) {
  if (!PyErr_ExceptionMatches(PyExc_OverflowError))
    return refuseType(plan, parameter, object, cure);
  PyErr_Clear();
  raiseArgument(kValueError, plan, parameter, shortRepr(object) + " was given",
                "pass a number that a float can hold");
  return false;
}

bool floatToSlot(const Plan &plan, unsigned parameter, PyObject *object, uint64_t *slot) {
  const Value &value = plan.parameters[parameter];
  double number;
  if (PyFloat_CheckExact(object)) {
    number = PyFloat_AS_DOUBLE(object);
  } else {
    if (!PyLong_Check(object) && (isArrayWithDimensions(object) || isComplex(object)))
      return refuseType(plan, parameter, object, "pass a float");
    number = PyFloat_AsDouble(object);
    if (number == -1 && PyErr_Occurred())
      return refuseConversion(plan, parameter, object, "pass a float");
  }
  putFloat(value.number, slot, number);
  return true;
}

bool complexToSlots(const Plan &plan, unsigned parameter, PyObject *object, uint64_t *slot) {
  const Value &value = plan.parameters[parameter];
  if (!PyComplex_CheckExact(object) && isArrayWithDimensions(object))
    return refuseType(plan, parameter, object, "pass a complex number");
  Py_complex number = PyComplex_AsCComplex(object);
  if (number.real == -1 && PyErr_Occurred())
    return refuseConversion(plan, parameter, object, "pass a complex number");
  putFloat(value.number, slot, number.real);
  putFloat(value.number, slot + 1, number.imag);
  return true;
}

} // namespace

bool scalarToSlots(const Plan &plan, unsigned parameter, PyObject *object, uint64_t *slot) {
  switch (plan.parameters[parameter].number) {
  case Number::Signless:
  case Number::Signed:
  case Number::Unsigned:
    return integerToSlot(plan, parameter, object, slot);
  case Number::ComplexSingle:
  case Number::ComplexDouble:
    return complexToSlots(plan, parameter, object, slot);
  default:
    return floatToSlot(plan, parameter, object, slot);
  }
}

PyObject *scalarFromSlots(const Value &value, const uint64_t *slot) {
  unsigned spare = 64 - value.bits;
  switch (value.number) {
  case Number::Signless:
    if (value.bits == 1)
      return PyBool_FromLong(*slot & 1);
    [[fallthrough]];
  case Number::Signed:
    return PyLong_FromLongLong(static_cast<int64_t>(*slot << spare) >> spare);
  case Number::Unsigned:
    return PyLong_FromUnsignedLongLong(*slot << spare >> spare);
  case Number::ComplexSingle:
  case Number::ComplexDouble:
    return PyComplex_FromDoubles(getFloat(value.number, slot), getFloat(value.number, slot + 1));
  default:
    return PyFloat_FromDouble(getFloat(value.number, slot));
  }
}

bool addressToSlot(const Plan &plan, unsigned parameter, PyObject *object, uint64_t *slot) {
  const char *cure = "pass an address (an int), None, or an object with a buffer";
  Ref index(PyNumber_Index(object));
  if (!index)
    return refuseType(plan, parameter, object, cure);
  unsigned long long address = PyLong_AsUnsignedLongLong(index.get());
  if (address == static_cast<unsigned long long>(-1) && PyErr_Occurred()) {
    PyErr_Clear();
    raiseArgument(kValueError, plan, parameter, shortRepr(object) + " was given", cure);
    return false;
  }
  *slot = address;
  return true;
}

} // namespace twinjit::call
