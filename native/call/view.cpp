#include "call/view.h"

#include <cstring>

namespace twinjit::call {
namespace {

bool hasStaticStrides(const View &view, const Value &value) {
  if (view.isEmpty())
    return true;
  for (unsigned i = 0; i != value.rank; ++i) {
    if (view.shape[i] == 1)
      continue;
    int64_t steps = view.strides[i] >> value.itemShift;
    if (steps * value.itemSize != view.strides[i])
      return false;
    if (value.strides[i] != kDynamic && value.strides[i] != steps)
      return false;
  }
  return true;
}

constexpr Element kNone = Element::Other;
constexpr Element kSigned[] = {Element::Int8, Element::Int16, Element::Int32, Element::Int64,
                               kNone};
constexpr Element kUnsigned[] = {Element::UInt8, Element::UInt16, Element::UInt32, Element::UInt64,
                                 kNone};
constexpr Element kFloats[] = {kNone, Element::Half, Element::Single, Element::Double, kNone};
constexpr Element kComplexes[] = {kNone, kNone, kNone, Element::ComplexSingle,
                                  Element::ComplexDouble};

/// The element that a struct-module format of one item stands for. Its size is taken from the
/// buffer: exporters disagree about that of 'l'.
Element elementOfFormat(const char *format, Py_ssize_t itemSize) {
  unsigned size = 0; // 1 << size == itemSize
  while (size < 5 && (1 << size) != itemSize)
    ++size;
  if (size == 5)
    return Element::Other;
  if (!format)
    format = "B";
  if (std::strchr("@=<|", *format) && *format) // little-endian, as this machine is
    ++format;
  bool isComplex = *format == 'Z';
  if (isComplex)
    ++format;
  if (!*format || format[1])
    return Element::Other;
  if (isComplex)
    return std::strchr("fd", *format) ? kComplexes[size] : Element::Other;
  if (std::strchr("bhilqn", *format))
    return kSigned[size];
  if (std::strchr("BHILQN", *format))
    return kUnsigned[size];
  if (std::strchr("efd", *format))
    return kFloats[size];
  return *format == '?' && size == 0 ? Element::Bool : Element::Other;
}

} // namespace

bool View::isEmpty() const {
  for (int i = 0; i != rank; ++i)
    if (shape[i] == 0)
      return true;
  return false;
}

void View::findLayout(unsigned itemSize) {
  rowMajor = true;
  int64_t expected = itemSize;
  for (int i = rank; i-- != 0;) {
    if (shape[i] != 1 && strides[i] != expected)
      rowMajor = false;
    expected *= shape[i];
  }
  rowMajor |= isEmpty();
}

Misfit fitAccess(const View &view, const Value &value) {
  if (!view.onHost)
    return Misfit::Device;
  if (value.readOnly)
    return Misfit::None;
  if (!view.writable)
    return Misfit::ReadOnly;
  return view.shared ? Misfit::None : Misfit::Unshared;
}

Misfit fitPointed(const View &view, const Value &value) {
  if (value.accepts && !(value.accepts >> static_cast<unsigned>(view.element) & 1))
    return Misfit::Element;
  if (Misfit misfit = fitAccess(view, value); misfit != Misfit::None)
    return misfit;
  return value.accepts && !view.rowMajor ? Misfit::Layout : Misfit::None;
}

Misfit fit(const View &view, const Value &value) {
  if (!(value.accepts >> static_cast<unsigned>(view.element) & 1))
    return Misfit::Element;
  if (view.rank != value.rank)
    return Misfit::Rank;
  for (unsigned i = 0; i != value.rank; ++i)
    if (value.shape[i] != view.shape[i] && value.shape[i] != kDynamic)
      return Misfit::Size;
  if (Misfit misfit = fitAccess(view, value); misfit != Misfit::None)
    return misfit;
  if (value.rowMajor ? !view.rowMajor : !hasStaticStrides(view, value))
    return Misfit::Layout;
  if (reinterpret_cast<uintptr_t>(view.data) & (value.alignment - 1) && !view.isEmpty())
    return Misfit::Alignment;
  return Misfit::None;
}

void describe(const View &view, const Value &value, uint64_t *slots) {
  auto address = reinterpret_cast<uint64_t>(view.data);
  uint64_t *sizes = slots + 3, *strides = sizes + value.rank;
  slots[0] = address;
  slots[1] = address - static_cast<uint64_t>(value.offset) * value.itemSize;
  slots[2] = static_cast<uint64_t>(value.offset);
  if (value.rowMajor) {
    uint64_t step = 1;
    for (unsigned i = value.rank; i-- != 0;) {
      sizes[i] = static_cast<uint64_t>(view.shape[i]);
      strides[i] = step;
      step *= sizes[i];
    }
    return;
  }
  for (unsigned i = 0; i != value.rank; ++i) {
    sizes[i] = static_cast<uint64_t>(view.shape[i]);
    int64_t step = value.strides[i];
    if (step == kDynamic)
      step = view.strides[i] >> value.itemShift;
    strides[i] = static_cast<uint64_t>(step);
  }
}

Ref viewOfBuffer(PyObject *object, View &view) {
  Ref owner(PyMemoryView_FromObject(object));
  if (!owner)
    return owner;
  const Py_buffer *buffer = PyMemoryView_GET_BUFFER(owner.get());
  if (buffer->suboffsets)
    return Ref();
  view.data = static_cast<char *>(buffer->buf);
  view.rank = buffer->ndim;
  view.shape = buffer->shape;
  view.strides = buffer->strides;
  view.element = elementOfFormat(buffer->format, buffer->itemsize);
  view.writable = !buffer->readonly;
  view.findLayout(static_cast<unsigned>(buffer->itemsize));
  return owner;
}

} // namespace twinjit::call
