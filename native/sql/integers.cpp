/// Integers, for the interpreter: kernels have these operations inline.

#include "sql/apply.h"

#include <limits>

using namespace twinjit::sql;

namespace {

template <typename T> constexpr Failure outOfRange() {
  return sizeof(T) == 2   ? Failure::Int2Range
         : sizeof(T) == 4 ? Failure::Int4Range
                          : Failure::Int8Range;
}

template <typename T> Code add(T left, T right, T *result) {
  return __builtin_add_overflow(left, right, result) ? code(outOfRange<T>()) : 0;
}

template <typename T> Code subtract(T left, T right, T *result) {
  return __builtin_sub_overflow(left, right, result) ? code(outOfRange<T>()) : 0;
}

template <typename T> Code multiply(T left, T right, T *result) {
  return __builtin_mul_overflow(left, right, result) ? code(outOfRange<T>()) : 0;
}

template <typename T> Code negate(T value, T *result) { return subtract(T{0}, value, result); }

template <typename T> Code absolute(T value, T *result) {
  if (value < 0)
    return negate(value, result);
  *result = value;
  return 0;
}

template <typename T> Code divide(T left, T right, T *result) {
  if (right == 0)
    return code(Failure::DivisionByZero);
  if (right == -1)
    return negate(left, result);
  *result = static_cast<T>(left / right);
  return 0;
}

template <typename T> Code modulo(T left, T right, T *result) {
  if (right == 0)
    return code(Failure::DivisionByZero);
  *result = right == -1 ? T{0} : static_cast<T>(left % right);
  return 0;
}

template <typename T> Code narrow(int64_t value, T *result) {
  if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max())
    return code(outOfRange<T>());
  *result = static_cast<T>(value);
  return 0;
}

int32_t compare(int64_t left, int64_t right) { return left < right ? -1 : left > right; }

} // namespace

void twinjit::sql::registerIntegers(Registry &registry) {
  registry.add<add<int16_t>>("int2_add");
  registry.add<add<int32_t>>("int4_add");
  registry.add<add<int64_t>>("int8_add");
  registry.add<subtract<int16_t>>("int2_subtract");
  registry.add<subtract<int32_t>>("int4_subtract");
  registry.add<subtract<int64_t>>("int8_subtract");
  registry.add<multiply<int16_t>>("int2_multiply");
  registry.add<multiply<int32_t>>("int4_multiply");
  registry.add<multiply<int64_t>>("int8_multiply");
  registry.add<divide<int16_t>>("int2_divide");
  registry.add<divide<int32_t>>("int4_divide");
  registry.add<divide<int64_t>>("int8_divide");
  registry.add<modulo<int16_t>>("int2_modulo");
  registry.add<modulo<int32_t>>("int4_modulo");
  registry.add<modulo<int64_t>>("int8_modulo");
  registry.add<negate<int16_t>>("int2_negate");
  registry.add<negate<int32_t>>("int4_negate");
  registry.add<negate<int64_t>>("int8_negate");
  registry.add<absolute<int16_t>>("int2_abs");
  registry.add<absolute<int32_t>>("int4_abs");
  registry.add<absolute<int64_t>>("int8_abs");
  registry.add<narrow<int16_t>>("int8_to_int2");
  registry.add<narrow<int32_t>>("int8_to_int4");
  registry.add<compare>("int8_compare");
}
