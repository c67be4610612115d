#include "call/refusal.h"

#include "call/errors.h"

namespace twinjit::call {
namespace {

std::string tuple(const int64_t *numbers, int count) {
  std::string text = "(";
  for (int i = 0; i != count; ++i)
    text += (i ? ", " : "") + std::to_string(numbers[i]);
  return text + (count == 1 ? ",)" : ")");
}

/// "(8, ?)"
std::string wantedShape(const Value &value) {
  std::string text = "(";
  for (unsigned i = 0; i != value.rank; ++i)
    text += (i ? ", " : "") + (value.shape[i] == kDynamic ? "?" : std::to_string(value.shape[i]));
  return text + (value.rank == 1 ? ",)" : ")");
}

/// "np.int32 or np.uint32"
std::string wantedDtype(const Value &value) {
  std::string text;
  for (unsigned i = 0; i != 32; ++i)
    if (value.accepts >> i & 1)
      text += (text.empty() ? "" : " or ") + std::string(dtypeName(static_cast<Element>(i)));
  return text;
}

/// str(array.dtype), where our own names do not reach.
std::string dtypeOf(PyObject *object, Element element) {
  if (element != Element::Other || !PyArray_Check(object))
    return dtypeName(element);
  Ref text(PyObject_Str(reinterpret_cast<PyObject *>(fields(object)->descr)));
  const char *utf8 = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  if (!utf8)
    PyErr_Clear();
  return std::string("dtype ") + (utf8 ? utf8 : "unknown");
}

std::string describe(PyObject *object, const View &view) {
  return typeName(object) + " of " + dtypeOf(object, view.element) + " and shape " +
         tuple(view.shape, view.rank);
}

/// The type of a row-major memref, but taking any strides.
std::string stridedType(const Value &value) {
  std::string strides;
  for (unsigned i = 0; i != value.rank; ++i)
    strides += i ? ", ?" : "?";
  return value.text.substr(0, value.text.size() - 1) + ", strided<[" + strides + "], offset: ?>>";
}

std::string stridesText(const Value &value) {
  std::string text = "(";
  for (unsigned i = 0; i != value.rank; ++i)
    text +=
        (i ? ", " : "") + (value.strides[i] == kDynamic ? "?" : std::to_string(value.strides[i]));
  return text + (value.rank == 1 ? ",)" : ")");
}

struct Words {
  std::string given;
  std::string cure;
};

Words layoutWords(const Plan &plan, unsigned parameter, const View &view) {
  const Value &value = plan.parameters[parameter];
  std::string given =
      "an array with strides of " + tuple(view.strides, view.rank) + " bytes was given";
  if (!value.rowMajor)
    return {given, "its strides must be " + stridesText(value) + " elements of " +
                       std::to_string(value.itemSize) + " bytes"};
  if (parameter >= plan.argumentCount || value.kind == Kind::Pointer)
    return {given, "pass an array in C order"};
  return {given + ", which is not row-major",
          "pass np.ascontiguousarray(x), whose elements the function then sees and writes in place "
          "of x's, or declare the parameter " +
              stridedType(value)};
}

Words words(const Plan &plan, unsigned parameter, PyObject *object, const View &view,
            Misfit misfit) {
  const Value &value = plan.parameters[parameter];
  std::string given = describe(object, view);
  switch (misfit) {
  case Misfit::Device:
    return {typeName(object) + " in the memory of a device was given", "copy it to the CPU first"};
  case Misfit::Element:
    return {given + " was given", "no dtype is converted: pass an array of " + wantedDtype(value)};
  case Misfit::Rank:
    return {given + " was given", "pass an array of " + std::to_string(value.rank) +
                                      " dimensions, of shape " + wantedShape(value)};
  case Misfit::Size:
    return {given + " was given", "pass an array of shape " + wantedShape(value)};
  case Misfit::ReadOnly:
    if (parameter >= plan.argumentCount)
      return {given + " is read-only", "pass a writable array"};
    return {
        given + " is read-only",
        "the function may write it: pass a copy, or promise in the program that it does not "
        "(llvm.readonly, bufferization.access = \"read\"; in LLVM IR, readonly, or const in the "
        "function's signature)"};
  case Misfit::Unshared:
    return {typeName(object) + " that exports only a copy of its elements was given",
            "what the function writes would be lost: pass a NumPy array"};
  case Misfit::Alignment:
    return {given + " is not aligned to " + std::to_string(value.alignment) + " bytes",
            "pass a copy of it, which will be"};
  default:
    return layoutWords(plan, parameter, view);
  }
}

} // namespace

void refuseObject(const Plan &plan, unsigned parameter, PyObject *object) {
  const Value &value = plan.parameters[parameter];
  std::string cure = "pass a NumPy array, or an object with a buffer or __dlpack__";
  if (value.isArray())
    cure += ", of " + wantedDtype(value) + " and shape " + wantedShape(value);
  raiseArgument(kTypeError, plan, parameter, typeName(object) + " was given", cure);
}

void refuseView(const Plan &plan, unsigned parameter, PyObject *object, const View &view,
                Misfit misfit) {
  Words said = words(plan, parameter, object, view, misfit);
  bool isType = misfit == Misfit::Element || misfit == Misfit::Device;
  raiseArgument(isType ? kTypeError : kValueError, plan, parameter, said.given, said.cure);
}

} // namespace twinjit::call
