// What a compiled function takes and gives, read once so that a call only compares numbers.
#pragma once

#include "call/numpy.h"

#include <nanobind/nanobind.h>

#include <array>
#include <string>
#include <vector>

namespace twinjit {
class Image;
}

namespace twinjit::call {

inline constexpr int kMaxRank = 8;
inline constexpr int64_t kDynamic = -1; // as a size or stride: known only at the call

enum class Kind : uint8_t { Scalar, MemRef, Tensor, Pointer };

enum class Number : uint8_t {
  Signless,
  Signed,
  Unsigned,
  Half,
  BFloat,
  Single,
  Double,
  ComplexSingle,
  ComplexDouble,
};

/// One parameter or result.
struct Value {
  Kind kind = Kind::Scalar;
  Number number = Number::Signless;
  uint8_t bits = 64; // of an integer
  bool readOnly = false;

  // Arrays only.
  bool rowMajor = true; // the layout is implied by the sizes; else `strides` and `offset` hold
  uint8_t rank = 0;
  uint8_t itemSize = 0;
  uint8_t itemShift = 0;            // log2 of itemSize
  uint8_t alignment = 1;            // that compiled code assumes
  Element element = Element::Other; // of results
  uint32_t accepts = 0;             // of arguments: bit N stands for the Element N
  int64_t offset = 0;               // where static; a dynamic one is passed as 0
  std::array<int64_t, kMaxRank> shape;
  std::array<int64_t, kMaxRank> strides; // in elements

  unsigned slot = 0; // its first, counted from the start of the call's slots
  std::string text;  // the MLIR type

  bool isArray() const { return kind == Kind::MemRef || kind == Kind::Tensor; }
  unsigned slotCount() const;
};

struct Result {
  Value value;
  int parameter = -1; // the out-parameter that receives it; -1 where it is returned in slots
};

/// A function ready to be called. Immutable.
///
/// A tensor result of static shape is an out-parameter: the compiled function takes it as one more
/// row-major memref after its arguments. Other results are returned in slots after all parameters';
/// a pipeline of the user's own may return those tensors, too.
struct Plan {
  std::string name;
  std::string entryName; // what the image has it as
  std::string text;      // "main(arg0: tensor<4xf32>) -> f32"
  unsigned argumentCount = 0;
  std::vector<Value> parameters; // arguments, then out-parameters
  std::vector<Result> results;
  unsigned parameterSlots = 0;
  unsigned resultSlots = 0;
  bool usesArrays = false;
  bool returnsMemory = false; // some result is a descriptor in slots

  const Image *image = nullptr; // kept alive by the Function that owns the plan
  void (*entry)(uint64_t *slots) = nullptr;
  bool canFail = false; // the code may stop itself, so that a call needs a FailureFrame

  unsigned outCount() const { return static_cast<unsigned>(parameters.size()) - argumentCount; }

  /// "argument 2", or "out" for an out-parameter ("out[1]" where there are several).
  std::string where(unsigned parameter) const;
};

/// Read the descriptions of a function's values: mappings with the keys that
/// `_mlir.Program.signatures()` gives. `slots` is what `emit` reported: the numbers of slots that
/// the code takes and gives, by which out-parameters are told from returned tensors.
///
/// Throws std::invalid_argument saying what is malformed, and nanobind's exceptions.
Plan readSignature(const std::string &name, nanobind::handle arguments, nanobind::handle results,
                   nanobind::handle slots);

} // namespace twinjit::call
