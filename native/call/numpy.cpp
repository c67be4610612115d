#define TWINJIT_NUMPY_OWNER
#include "call/numpy.h"

#include "forks/work.h"

namespace twinjit::call {

static_assert(NPY_HALF == NPY_VOID + 3, "NumPy's numbering of types is part of its ABI");
static_assert(sizeof(long) == 8 && sizeof(long long) == 8, "an LP64 platform");

const Element kElementOfType[NPY_VOID + 4] = {
    Element::Bool,          // NPY_BOOL
    Element::Int8,          // NPY_BYTE
    Element::UInt8,         // NPY_UBYTE
    Element::Int16,         // NPY_SHORT
    Element::UInt16,        // NPY_USHORT
    Element::Int32,         // NPY_INT
    Element::UInt32,        // NPY_UINT
    Element::Int64,         // NPY_LONG
    Element::UInt64,        // NPY_ULONG
    Element::Int64,         // NPY_LONGLONG
    Element::UInt64,        // NPY_ULONGLONG
    Element::Single,        // NPY_FLOAT
    Element::Double,        // NPY_DOUBLE
    Element::Other,         // NPY_LONGDOUBLE
    Element::ComplexSingle, // NPY_CFLOAT
    Element::ComplexDouble, // NPY_CDOUBLE
    Element::Other,         // NPY_CLONGDOUBLE
    Element::Other,         // NPY_OBJECT
    Element::Other,         // NPY_STRING
    Element::Other,         // NPY_UNICODE
    Element::Other,         // NPY_VOID
    Element::Other,         // NPY_DATETIME
    Element::Other,         // NPY_TIMEDELTA
    Element::Half,          // NPY_HALF
};

namespace {

struct ElementFacts {
  const char *name;
  int typeNumber;
};

const ElementFacts kFacts[] = {
    {"another dtype", NPY_NOTYPE}, {"np.bool_", NPY_BOOL},     {"np.int8", NPY_INT8},
    {"np.int16", NPY_INT16},       {"np.int32", NPY_INT32},    {"np.int64", NPY_INT64},
    {"np.uint8", NPY_UINT8},       {"np.uint16", NPY_UINT16},  {"np.uint32", NPY_UINT32},
    {"np.uint64", NPY_UINT64},     {"np.float16", NPY_HALF},   {"ml_dtypes.bfloat16", NPY_NOTYPE},
    {"np.float32", NPY_FLOAT},     {"np.float64", NPY_DOUBLE}, {"np.complex64", NPY_CFLOAT},
    {"np.complex128", NPY_CDOUBLE}};

const ElementFacts &factsOf(Element element) { return kFacts[static_cast<unsigned>(element)]; }

/// Run `load`, which imports a module, while forks are held off. What it returns, or with an
/// exception set `failed`, where a fork came between such an import and its end.
template <typename Load, typename Result> Result heldOff(Load load, Result failed) {
  try {
    CompilerWork work(Work::Import, Gil::Hold);
    return load();
  } catch (nanobind::python_error &error) {
    error.restore();
    return failed;
  }
}

/// ml_dtypes' scalar type, which its dtype names; a borrowed reference that stays valid for good.
/// Null where the package is not imported, or (with an exception set) cannot be.
PyObject *bfloat16Type(bool import) {
  static PyObject *type = nullptr;
  if (type)
    return type;
  Ref module;
  if (import)
    module = heldOff([] { return Ref(PyImport_ImportModule("ml_dtypes")); }, Ref());
  else
    module = Ref::borrow(PyDict_GetItemString(PyImport_GetModuleDict(), "ml_dtypes"));
  if (!module)
    return nullptr;
  type = PyObject_GetAttrString(module.get(), "bfloat16");
  if (!type && !import)
    PyErr_Clear(); // half imported, by another thread
  return type;
}

} // namespace

const char *dtypeName(Element element) { return factsOf(element).name; }

bool importNumPy() {
  return heldOff([] { return PyArray_ImportNumPyAPI() == 0; }, false);
}

Element unusualElement(const PyArray_Descr *descr) {
  if (descr->type_num < NPY_USERDEF || descr->byteorder == NPY_OPPBYTE)
    return Element::Other;
  auto *type = reinterpret_cast<PyObject *>(descr->typeobj);
  return type == bfloat16Type(/*import=*/false) ? Element::BFloat : Element::Other;
}

PyArray_Descr *descrOf(Element element) {
  if (element != Element::BFloat)
    return PyArray_DescrFromType(factsOf(element).typeNumber);
  PyArray_Descr *descr = nullptr;
  PyObject *type = bfloat16Type(/*import=*/true);
  if (!type || !PyArray_DescrConverter(type, &descr))
    return nullptr;
  return descr;
}

PyArray_Descr *rawDescr(unsigned itemSize) {
  switch (itemSize) {
  case 1:
    return PyArray_DescrFromType(NPY_UINT8);
  case 2:
    return PyArray_DescrFromType(NPY_UINT16);
  case 4:
    return PyArray_DescrFromType(NPY_UINT32);
  case 8:
    return PyArray_DescrFromType(NPY_UINT64);
  default:
    return PyArray_DescrFromType(NPY_CDOUBLE);
  }
}

Ref wrapMemory(PyArray_Descr *descr, int rank, const int64_t *shape, const int64_t *strides,
               void *data, bool writable) {
  if (!descr)
    return Ref();
  if (!data) // NumPy would take the strides for those of memory that it allocates
    strides = nullptr;
  return Ref(PyArray_NewFromDescr(&PyArray_Type, descr, rank, shape, strides, data,
                                  writable ? NPY_ARRAY_WRITEABLE : 0, nullptr));
}

Ref newArray(PyArray_Descr *descr, int rank, const int64_t *shape) {
  if (!descr)
    return Ref();
  return Ref(PyArray_NewFromDescr(&PyArray_Type, descr, rank, shape, nullptr, nullptr, 0, nullptr));
}

Ref copyArray(const Ref &array) {
  return Ref(PyArray_NewCopy(reinterpret_cast<PyArrayObject *>(array.get()), NPY_CORDER));
}

} // namespace twinjit::call
