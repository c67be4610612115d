// NumPy's C API, imported when a call first needs it: importing Twinjit does not import NumPy.
#pragma once

#include "call/object.h"

#define NPY_NO_DEPRECATED_API NPY_1_23_API_VERSION
#define NPY_TARGET_VERSION NPY_1_23_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL twinjit_numpy_api
#ifndef TWINJIT_NUMPY_OWNER
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include <cstdint>

namespace twinjit::call {

static_assert(sizeof(npy_intp) == sizeof(int64_t), "shapes and strides are shared without copying");

/// What an array's elements are, whoever made the array.
enum class Element : uint8_t {
  Other, // nothing a program can take; also anything of foreign byte order
  Bool,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Half,
  BFloat,
  Single,
  Double,
  ComplexSingle,
  ComplexDouble,
};

/// Its name, as a Python programmer would write the dtype: "np.float32", "ml_dtypes.bfloat16".
const char *dtypeName(Element element);

/// Import NumPy's C API; false with an exception set.
bool importNumPy();

/// True once the PyArray_... functions may be called; else false with an exception set.
inline bool ensureNumPy() { return PyArray_API != nullptr || importNumPy(); }

/// Element of an array whose dtype is not one of NumPy's own numbers.
Element unusualElement(const PyArray_Descr *descr);

extern const Element kElementOfType[NPY_VOID + 4]; // by NumPy's type number, up to NPY_HALF

inline Element elementOf(const PyArray_Descr *descr) {
  auto number = static_cast<unsigned>(descr->type_num);
  if (number >= sizeof(kElementOfType) || descr->byteorder == NPY_OPPBYTE)
    return unusualElement(descr);
  return kElementOfType[number];
}

/// The dtype for arrays of `element`. Imports ml_dtypes for bfloat16. Null with an exception set.
PyArray_Descr *descrOf(Element element);

/// An unsigned integer (or complex) dtype of that many bytes, for moving elements of any kind.
PyArray_Descr *rawDescr(unsigned itemSize);

inline PyArrayObject_fields *fields(PyObject *array) {
  return reinterpret_cast<PyArrayObject_fields *>(array);
}

/// An array over memory that someone else keeps: strides in bytes, no base yet.
/// Steals `descr`, which may be null (an exception is set then).
Ref wrapMemory(PyArray_Descr *descr, int rank, const int64_t *shape, const int64_t *strides,
               void *data, bool writable);

/// A new C-ordered array, not initialised. Steals `descr`, as above.
Ref newArray(PyArray_Descr *descr, int rank, const int64_t *shape);

/// A new C-ordered array with the elements of `array`.
Ref copyArray(const Ref &array);

} // namespace twinjit::call
