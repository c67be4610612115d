// Results that the function returns as descriptors: whose memory is it, and who frees it.
#include "call/call.h"
#include "call/scalars.h"
#include "codegen/image.h"

#include <algorithm>
#include <cstdlib>

namespace twinjit::call {
namespace {

/// What MLIR's lowering of memref.get_global puts in place of the allocated pointer.
constexpr uint64_t kGlobalMarker = 0xdeadbeef;

constexpr char kMalloced[] = "twinjit.malloc";

void freeMalloced(PyObject *capsule) { std::free(PyCapsule_GetPointer(capsule, kMalloced)); }

/// Take ownership of a block that the function allocated with malloc: null, and the block freed,
/// with an exception set.
Ref claim(uint64_t allocated) {
  auto *block = reinterpret_cast<void *>(allocated);
  Ref owner(PyCapsule_New(block, kMalloced, freeMalloced));
  if (!owner)
    std::free(block);
  return owner;
}

bool isEmpty(const Value &value, const uint64_t *descriptor) {
  for (unsigned i = 0; i != value.rank; ++i)
    if (descriptor[3 + i] == 0)
      return true;
  return false;
}

} // namespace

/// The parameter whose memory starts at `allocated`, or -1. An array without elements may have the
/// address of its neighbour.
int Call::parameterAt(uint64_t allocated, bool resultIsEmpty) const {
  for (unsigned i = 0; i != plan.parameters.size(); ++i) {
    const Value &value = plan.parameters[i];
    if (value.kind == Kind::Scalar || slots[value.slot] != allocated)
      continue;
    if (value.isArray() && isEmpty(value, &slots[value.slot]) && !resultIsEmpty)
      continue;
    return static_cast<int>(i);
  }
  return -1;
}

Call::Memory Call::memoryOfParameter(unsigned parameter) {
  for (size_t i = held.size(); i-- != 0;)
    if (held[i].parameter == parameter)
      return {Ref::borrow(held[i].owner.get()), held[i].writable};
  PyObject *object = parameter < plan.argumentCount ? arguments[parameter]
                                                    : outs[parameter - plan.argumentCount].get();
  if (!PyArray_Check(object)) // the address given for a pointer
    return {};
  return {Ref::borrow(object), (fields(object)->flags & NPY_ARRAY_WRITEABLE) != 0};
}

bool Call::isConstant(const uint64_t *descriptor) const {
  return descriptor[0] == kGlobalMarker ||
         plan.image->contains(reinterpret_cast<void *>(descriptor[0]));
}

/// Find out what keeps the memory of each returned array. Afterwards every block that the function
/// allocated has exactly one owner, or was freed. False with an exception set.
bool Call::claimMemories(llvm::SmallVectorImpl<Memory> &memories) {
  bool succeeded = true;
  for (size_t i = 0; i != plan.results.size(); ++i) {
    Memory &memory = memories[i];
    const Value &value = plan.results[i].value;
    if (plan.results[i].parameter >= 0 || !value.isArray())
      continue;
    const uint64_t *descriptor = &slots[value.slot];
    memory.allocated = descriptor[0];
    if (memory.allocated == 0 || isConstant(descriptor))
      continue;
    int parameter = parameterAt(memory.allocated, isEmpty(value, descriptor));
    if (parameter >= 0) {
      memory = memoryOfParameter(static_cast<unsigned>(parameter));
      memory.allocated = descriptor[0];
      memory.shared = true;
      continue;
    }
    auto *earlier = std::find_if(memories.begin(), &memory, [&](const Memory &other) {
      return other.allocated == memory.allocated;
    });
    if (earlier != &memory) {
      earlier->shared = memory.shared = true;
      memory.owner = Ref::borrow(earlier->owner.get());
      continue;
    }
    memory.owner = claim(memory.allocated);
    succeeded &= static_cast<bool>(memory.owner);
  }
  return succeeded;
}

/// Make the array of a returned descriptor. It is a copy where nothing keeps the memory (a constant
/// of the program), and where it is a tensor, a value, and others see the memory too.
Ref Call::arrayFromSlots(const Value &value, const Memory &memory) {
  const uint64_t *descriptor = &slots[value.slot];
  int64_t shape[kMaxRank], strides[kMaxRank];
  for (unsigned i = 0; i != value.rank; ++i) {
    shape[i] = static_cast<int64_t>(descriptor[3 + i]);
    strides[i] = static_cast<int64_t>(descriptor[3 + value.rank + i]) * value.itemSize;
  }
  if (isEmpty(value, descriptor))
    return newArray(descrOf(value.element), value.rank, shape);
  auto *data = reinterpret_cast<char *>(descriptor[1] + descriptor[2] * value.itemSize);
  Ref array = wrapMemory(descrOf(value.element), value.rank, shape, strides, data, memory.writable);
  bool copies = !memory.owner || (memory.shared && value.kind == Kind::Tensor);
  if (!array || copies)
    return array ? copyArray(array) : Ref();
  Py_INCREF(memory.owner.get());
  auto *object = reinterpret_cast<PyArrayObject *>(array.get());
  bool based = PyArray_SetBaseObject(object, memory.owner.get()) == 0;
  return based ? std::move(array) : Ref();
}

Ref Call::takeResult(size_t index, const Memory &memory) {
  const Result &result = plan.results[index];
  if (result.parameter >= 0)
    return std::move(outs[static_cast<unsigned>(result.parameter) - plan.argumentCount]);
  const Value &value = result.value;
  if (value.isArray())
    return arrayFromSlots(value, memory);
  if (value.kind == Kind::Pointer)
    return Ref(PyLong_FromUnsignedLongLong(slots[value.slot]));
  return Ref(scalarFromSlots(value, &slots[value.slot]));
}

Ref Call::takeResults() {
  writeBack();
  size_t count = plan.results.size();
  llvm::SmallVector<Memory, 2> memories(count);
  if (plan.returnsMemory && !claimMemories(memories))
    return Ref();
  if (count == 0)
    return Ref::borrow(Py_None);
  if (count == 1)
    return takeResult(0, memories[0]);
  Ref all(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; all && i != count; ++i) {
    Ref one = takeResult(i, memories[i]);
    if (!one)
      return Ref();
    PyTuple_SET_ITEM(all.get(), static_cast<Py_ssize_t>(i), one.release());
  }
  return all;
}

} // namespace twinjit::call
