// Out-parameters: fresh arrays, or the caller's.
#include "call/call.h"
#include "call/errors.h"
#include "call/refusal.h"

#include <cstring>

namespace twinjit::call {
namespace {

struct Extent {
  uint64_t begin = 0;
  uint64_t end = 0;

  bool overlaps(const Extent &other) const { return begin < other.end && other.begin < end; }
};

/// The addresses between the first and the last byte that a described array may touch.
Extent extentOf(const Value &value, const uint64_t *slots) {
  const uint64_t *sizes = slots + 3, *strides = sizes + value.rank;
  Extent extent{slots[0], slots[0] + value.itemSize};
  for (unsigned i = 0; i != value.rank; ++i) {
    if (sizes[i] == 0)
      return {};
    uint64_t reach = (sizes[i] - 1) * strides[i] * value.itemSize; // two's complement
    (static_cast<int64_t>(strides[i]) < 0 ? extent.begin : extent.end) += reach;
  }
  return extent;
}

Ref newArrayOf(const Value &value) {
  return newArray(descrOf(value.element), value.rank, value.shape.data());
}

bool refuseOuts(const Plan &plan, const std::string &what) {
  raiseError(kTypeError, plan.name + ": " + what + " (" + plan.text + ")");
  return false;
}

} // namespace

/// Bind one out-parameter to the array given for it, or (null or None) to a fresh one.
bool Call::bindOut(unsigned parameter, PyObject *given) {
  if (given && given != Py_None) {
    outs.push_back(Ref::borrow(given));
    return bindArray(parameter, given);
  }
  const Value &value = plan.parameters[parameter];
  Ref array = newArrayOf(value);
  if (!array)
    return false;
  View view;
  view.ofArray(array.get());
  describe(view, value, &slots[value.slot]);
  outs.push_back(std::move(array));
  return true;
}

/// Compiled code may write an out-parameter before it has read all arguments, so one that shares
/// memory with an argument is written to a stand-in first. Two that share memory are refused.
bool Call::detach(unsigned parameter) {
  const Value &value = plan.parameters[parameter];
  uint64_t *own = &slots[value.slot];
  Extent extent = extentOf(value, own);
  bool shares = false;
  for (unsigned i = 0; i != parameter; ++i) {
    const Value &other = plan.parameters[i];
    if (!other.isArray() || !extent.overlaps(extentOf(other, &slots[other.slot])))
      continue;
    if (i >= plan.argumentCount) {
      raiseArgument(kValueError, plan, parameter, "it shares memory with " + plan.where(i),
                    "pass arrays that do not overlap");
      return false;
    }
    shares = true;
  }
  if (!shares)
    return true;
  Ref standIn = newArrayOf(value);
  if (!standIn)
    return false;
  View view;
  view.ofArray(standIn.get());
  detached.push_back({reinterpret_cast<void *>(own[0]), view.data, extent.end - extent.begin});
  describe(view, value, own);
  hold(parameter, std::move(standIn), /*writable=*/true);
  return true;
}

bool Call::bindOuts(PyObject *out) {
  unsigned count = plan.outCount();
  if (out == Py_None)
    out = nullptr;
  if (out && count == 0)
    return refuseOuts(plan, "it has no tensor result of static shape, which out= could receive");
  bool isTuple = out && PyTuple_Check(out);
  if (out && !isTuple && count > 1)
    return refuseOuts(plan, "out= must be a tuple of " + std::to_string(count) +
                                " arrays (or None), but " + typeName(out) + " was given");
  if (isTuple && PyTuple_GET_SIZE(out) != static_cast<Py_ssize_t>(count))
    return refuseOuts(plan, "out= must have " + std::to_string(count) + " entries, but " +
                                std::to_string(PyTuple_GET_SIZE(out)) + " were given");
  for (unsigned i = 0; i != count; ++i)
    if (!bindOut(plan.argumentCount + i, isTuple ? PyTuple_GET_ITEM(out, i) : out))
      return false;
  if (out)
    for (unsigned i = 0; i != count; ++i)
      if (!detach(plan.argumentCount + i))
        return false;
  return true;
}

void Call::writeBack() {
  for (const Detached &entry : detached)
    std::memcpy(entry.target, entry.source, entry.bytes);
}

} // namespace twinjit::call
