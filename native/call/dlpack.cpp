#include "call/dlpack.h"

namespace twinjit::call {
namespace {

// The ABI of DLPack.
struct DLDevice {
  int32_t type;
  int32_t id;
};
constexpr int32_t kDLCPU = 1, kDLCUDAHost = 3, kDLROCMHost = 11;

struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
enum : uint8_t {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLBfloat = 4,
  kDLComplex = 5,
  kDLBool = 6
};

struct DLTensor {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides; // in elements; null: row-major
  uint64_t byteOffset;
};

struct DLManagedTensor { // in a capsule named "dltensor"
  DLTensor tensor;
  void *context;
  void (*deleter)(DLManagedTensor *);
};

struct DLManagedTensorVersioned { // in a capsule named "dltensor_versioned"
  uint32_t majorVersion, minorVersion;
  void *context;
  void (*deleter)(DLManagedTensorVersioned *);
  uint64_t flags;
  DLTensor tensor;
};
constexpr uint64_t kReadOnly = 1, kIsCopied = 2;

constexpr char kUnversioned[] = "dltensor", kUsedUnversioned[] = "used_dltensor";
constexpr char kVersioned[] = "dltensor_versioned", kUsedVersioned[] = "used_dltensor_versioned";
constexpr char kOwner[] = "twinjit.dlpack", kOwnerVersioned[] = "twinjit.dlpack_versioned";

/// The capsule destructor of our owners. The exporter's deleter may run Python code.
template <typename Managed> void deleteManaged(PyObject *capsule) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
  if (managed->deleter)
    managed->deleter(managed);
  PyErr_Restore(type, value, traceback);
}

Element elementOf(DLDataType type) {
  static const Element kSigned[] = {Element::Int8, Element::Int16, Element::Int32, Element::Int64};
  static const Element kUnsigned[] = {Element::UInt8, Element::UInt16, Element::UInt32,
                                      Element::UInt64};
  if (type.lanes != 1)
    return Element::Other;
  int step = type.bits == 8 ? 0 : type.bits == 16 ? 1 : type.bits == 32 ? 2 : 3;
  bool whole = type.bits == 8 << step;
  switch (type.code) {
  case kDLInt:
    return whole ? kSigned[step] : Element::Other;
  case kDLUInt:
    return whole ? kUnsigned[step] : Element::Other;
  case kDLFloat:
    return type.bits == 16   ? Element::Half
           : type.bits == 32 ? Element::Single
           : type.bits == 64 ? Element::Double
                             : Element::Other;
  case kDLBfloat:
    return type.bits == 16 ? Element::BFloat : Element::Other;
  case kDLComplex:
    return type.bits == 64    ? Element::ComplexSingle
           : type.bits == 128 ? Element::ComplexDouble
                              : Element::Other;
  case kDLBool:
    return type.bits == 8 ? Element::Bool : Element::Other;
  default:
    return Element::Other;
  }
}

void fill(View &view, const DLTensor &tensor, uint64_t flags) {
  int64_t itemSize = tensor.dtype.bits / 8;
  view.data = static_cast<char *>(tensor.data) + tensor.byteOffset;
  view.rank = tensor.ndim;
  view.shape = tensor.shape;
  view.strides = view.storage;
  view.element = elementOf(tensor.dtype);
  view.writable = !(flags & kReadOnly);
  view.shared = !(flags & kIsCopied);
  int32_t device = tensor.device.type;
  view.onHost = device == kDLCPU || device == kDLCUDAHost || device == kDLROCMHost;
  view.rowMajor = true;
  if (view.rank > kMaxRank) // fits nothing, so nobody looks at the strides
    return;
  int64_t step = 1;
  for (int i = view.rank; i-- != 0;) {
    view.storage[i] = (tensor.strides ? tensor.strides[i] : step) * itemSize;
    step *= tensor.shape[i];
  }
  view.findLayout(static_cast<unsigned>(itemSize));
}

/// Call method(max_version=(1, 0)), or method() for exporters from before the argument.
Ref exportCapsule(PyObject *method) {
  static PyObject *const names = Py_BuildValue("(s)", "max_version"); // these live for good
  static PyObject *const version = Py_BuildValue("(ii)", 1, 0);
  if (!names || !version)
    return Ref();
  PyObject *arguments[] = {nullptr, version};
  Ref capsule(PyObject_Vectorcall(method, arguments + 1, PY_VECTORCALL_ARGUMENTS_OFFSET, names));
  if (capsule || !PyErr_ExceptionMatches(PyExc_TypeError))
    return capsule;
  PyErr_Clear();
  return Ref(PyObject_CallNoArgs(method));
}

/// Take over what the capsule owns, as the protocol wants it: by renaming the capsule.
template <typename Managed>
Ref takeOver(PyObject *capsule, const char *name, const char *used, const char *ownerName) {
  void *managed = PyCapsule_GetPointer(capsule, name);
  Ref owner(managed ? PyCapsule_New(managed, ownerName, deleteManaged<Managed>) : nullptr);
  if (owner)
    PyCapsule_SetName(capsule, used);
  return owner;
}

} // namespace

Ref viewOfDLPack(PyObject *object, View &view) {
  static PyObject *const name = PyUnicode_InternFromString("__dlpack__"); // lives for good
  Ref method(PyObject_GetAttr(object, name));
  if (!method) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError))
      PyErr_Clear();
    return Ref();
  }
  Ref capsule = exportCapsule(method.get());
  if (!capsule)
    return Ref();
  Ref owner;
  if (PyCapsule_IsValid(capsule.get(), kVersioned)) {
    owner = takeOver<DLManagedTensorVersioned>(capsule.get(), kVersioned, kUsedVersioned,
                                               kOwnerVersioned);
    void *managed = owner ? PyCapsule_GetPointer(owner.get(), kOwnerVersioned) : nullptr;
    auto *versioned = static_cast<DLManagedTensorVersioned *>(managed);
    if (versioned && versioned->majorVersion > 1) { // its layout is unknown but for the deleter
      PyErr_SetString(PyExc_BufferError, "__dlpack__ gave a newer version than was asked for");
      return Ref();
    }
    if (versioned)
      fill(view, versioned->tensor, versioned->flags);
    return owner;
  }
  if (!PyCapsule_IsValid(capsule.get(), kUnversioned)) {
    PyErr_SetString(PyExc_BufferError, "__dlpack__ gave no fresh capsule of a tensor");
    return Ref();
  }
  owner = takeOver<DLManagedTensor>(capsule.get(), kUnversioned, kUsedUnversioned, kOwner);
  if (owner)
    fill(view, static_cast<DLManagedTensor *>(PyCapsule_GetPointer(owner.get(), kOwner))->tensor,
         0);
  return owner;
}

} // namespace twinjit::call
