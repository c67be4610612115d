#include "call/signature.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

namespace nb = nanobind;

namespace twinjit::call {
namespace {

constexpr uint32_t bit(Element element) { return 1u << static_cast<unsigned>(element); }

Element shifted(Element first, unsigned steps) {
  return static_cast<Element>(static_cast<unsigned>(first) + steps);
}

unsigned log2(unsigned power) {
  unsigned result = 0;
  while (power >>= 1)
    ++result;
  return result;
}

struct NumberName {
  const char *name;
  Number number;
  Element element;
  uint8_t itemSize;
  uint8_t alignment;
};

const NumberName kFloats[] = {
    {"f16", Number::Half, Element::Half, 2, 2},
    {"bf16", Number::BFloat, Element::BFloat, 2, 2},
    {"f32", Number::Single, Element::Single, 4, 4},
    {"f64", Number::Double, Element::Double, 8, 8},
    {"complex<f32>", Number::ComplexSingle, Element::ComplexSingle, 8, 4},
    {"complex<f64>", Number::ComplexDouble, Element::ComplexDouble, 16, 8},
};

/// Set what an integer's array elements are; `value.bits` and `value.number` are known.
void setIntegerElement(Value &value, bool isIndex) {
  value.itemSize = value.bits == 1 ? 1 : value.bits / 8;
  value.alignment = value.itemSize;
  if (value.bits == 1) {
    value.element = Element::Bool;
    value.accepts = bit(Element::Bool);
    return;
  }
  unsigned steps = log2(value.itemSize);
  Element asSigned = shifted(Element::Int8, steps), asUnsigned = shifted(Element::UInt8, steps);
  value.element = value.number == Number::Unsigned ? asUnsigned : asSigned;
  value.accepts = bit(value.element);
  if (value.number == Number::Signless && !isIndex)
    value.accepts |= bit(asUnsigned);
}

/// Understand "i32", "ui8", "index", "f16", "complex<f64>", ...; false for anything else.
bool setDtype(Value &value, const std::string &dtype) {
  for (const NumberName &known : kFloats)
    if (dtype == known.name) {
      value.number = known.number;
      value.element = known.element;
      value.accepts = bit(known.element);
      value.itemSize = known.itemSize;
      value.alignment = known.alignment;
      return true;
    }
  bool isIndex = dtype == "index";
  size_t digits = dtype.find('i') + 1;
  if (!isIndex) {
    std::string prefix = dtype.substr(0, digits);
    if (prefix != "i" && prefix != "si" && prefix != "ui")
      return false;
    unsigned bits = 0;
    for (size_t i = digits; i != dtype.size(); ++i)
      if (dtype[i] < '0' || dtype[i] > '9' || (bits = bits * 10 + dtype[i] - '0') > 64)
        return false;
    if (bits == 0)
      return false;
    value.bits = static_cast<uint8_t>(bits);
    value.number = prefix == "i"    ? Number::Signless
                   : prefix == "si" ? Number::Signed
                                    : Number::Unsigned;
  }
  setIntegerElement(value, isIndex);
  return true;
}

[[noreturn]] void malformed(const Value &value, const std::string &what) {
  throw std::invalid_argument("'" + value.text + "': " + what);
}

bool isStorable(const Value &value) {
  if (value.number > Number::Unsigned)
    return true;
  return value.bits == 1 || value.bits == 8 || value.bits == 16 || value.bits == 32 ||
         value.bits == 64;
}

void readLayout(Value &value, nb::handle description) {
  auto shape = nb::cast<std::vector<int64_t>>(description["shape"]);
  auto strides = nb::cast<std::optional<std::vector<int64_t>>>(description["strides"]);
  auto offset = nb::cast<std::optional<int64_t>>(description["offset"]);
  if (shape.size() > kMaxRank)
    malformed(value, "more than 8 dimensions");
  if (strides && strides->size() != shape.size())
    malformed(value, "as many strides as dimensions are needed");
  if (!isStorable(value))
    malformed(value, "elements of this width have no place in an array");
  value.rank = static_cast<uint8_t>(shape.size());
  value.itemShift = static_cast<uint8_t>(log2(value.itemSize));
  value.rowMajor = !strides && offset.value_or(0) == 0;
  value.offset = offset && *offset != kDynamic ? *offset : 0;
  std::copy(shape.begin(), shape.end(), value.shape.begin());
  if (value.rowMajor)
    return;
  if (!strides)
    malformed(value, "an offset needs strides");
  if (value.kind == Kind::Tensor)
    malformed(value, "a tensor has no layout");
  std::copy(strides->begin(), strides->end(), value.strides.begin());
}

Value readValue(nb::handle description) {
  Value value;
  value.text = nb::cast<std::string>(description["text"]);
  value.readOnly = nb::cast<bool>(description["read_only"]);
  auto kind = nb::cast<std::string>(description["kind"]);
  if (kind == "pointer") {
    value.kind = Kind::Pointer;
    auto pointed = nb::cast<std::string>(description["dtype"]); // MLIR says the pointer's type
    if (!pointed.empty() && pointed != value.text && !setDtype(value, pointed))
      malformed(value, "unknown dtype '" + pointed + "'");
    return value;
  }
  if (kind == "scalar")
    value.kind = Kind::Scalar;
  else if (kind == "memref")
    value.kind = Kind::MemRef;
  else if (kind == "tensor")
    value.kind = Kind::Tensor;
  else
    malformed(value, "kind '" + kind + "' cannot be called");
  auto dtype = nb::cast<std::string>(description["dtype"]);
  if (!setDtype(value, dtype))
    malformed(value, "unknown dtype '" + dtype + "'");
  if (value.isArray())
    readLayout(value, description);
  if (value.kind == Kind::Tensor) // tensors are values: nobody sees a write to them
    value.readOnly = true;
  return value;
}

bool isOut(const Value &value) {
  if (value.kind != Kind::Tensor)
    return false;
  for (unsigned i = 0; i != value.rank; ++i)
    if (value.shape[i] == kDynamic)
      return false;
  return true;
}

/// An out-parameter is bound as a memref that the function writes.
Value asOut(Value value) {
  value.kind = Kind::MemRef;
  value.readOnly = false;
  value.accepts = bit(value.element);
  return value;
}

std::string describe(const Plan &plan) {
  std::string text = plan.name + "(";
  for (unsigned i = 0; i != plan.argumentCount; ++i)
    text += (i ? ", arg" : "arg") + std::to_string(i) + ": " + plan.parameters[i].text;
  text += ") -> ";
  if (plan.results.empty())
    return text + "None";
  if (plan.results.size() == 1)
    return text + plan.results[0].value.text;
  for (size_t i = 0; i != plan.results.size(); ++i)
    text += (i ? ", " : "(") + plan.results[i].value.text;
  return text + ")";
}

/// Make tensor results of static shape out-parameters.
void moveToOuts(Plan &plan) {
  for (Result &result : plan.results)
    if (isOut(result.value)) {
      result.parameter = static_cast<int>(plan.parameters.size());
      plan.parameters.push_back(asOut(result.value));
    }
}

void placeInSlots(Plan &plan) {
  unsigned next = 0;
  for (Value &value : plan.parameters) {
    value.slot = next;
    next += value.slotCount();
    plan.usesArrays |= value.isArray();
  }
  plan.parameterSlots = next;
  for (Result &result : plan.results)
    if (result.parameter < 0) {
      result.value.slot = next;
      next += result.value.slotCount();
      plan.returnsMemory |= result.value.isArray();
    }
  plan.usesArrays |= plan.returnsMemory;
  plan.resultSlots = next - plan.parameterSlots;
}

} // namespace

unsigned Value::slotCount() const {
  if (isArray())
    return 3 + 2 * rank; // allocated, aligned, offset, sizes, strides
  return number == Number::ComplexSingle || number == Number::ComplexDouble ? 2 : 1;
}

std::string Plan::where(unsigned parameter) const {
  if (parameter < argumentCount)
    return "argument " + std::to_string(parameter);
  return outCount() == 1 ? "out" : "out[" + std::to_string(parameter - argumentCount) + "]";
}

Plan readSignature(const std::string &name, nb::handle arguments, nb::handle results,
                   nb::handle slots) {
  auto taken = nb::cast<unsigned>(slots[0]), given = nb::cast<unsigned>(slots[1]);
  Plan plan;
  plan.name = name;
  for (nb::handle description : arguments)
    plan.parameters.push_back(readValue(description));
  plan.argumentCount = static_cast<unsigned>(plan.parameters.size());
  for (nb::handle description : results)
    plan.results.push_back({readValue(description)});
  plan.text = describe(plan);
  Plan returning = plan;
  moveToOuts(plan);
  for (Plan *candidate : {&plan, &returning}) {
    placeInSlots(*candidate);
    if (candidate->parameterSlots == taken && candidate->resultSlots == given)
      return std::move(*candidate);
  }
  throw std::invalid_argument("its code takes " + std::to_string(taken) + " and gives " +
                              std::to_string(given) + " slots, but " + plan.text + " means " +
                              std::to_string(plan.parameterSlots) + " and " +
                              std::to_string(plan.resultSlots));
}

} // namespace twinjit::call
