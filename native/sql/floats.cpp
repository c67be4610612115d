/// Floats: arithmetic and conversions, which kernels have inline, and functions, which they call.

#include "sql/apply.h"

#include <cerrno>
#include <cmath>

using namespace twinjit::sql;

namespace {

// Arithmetic

template <typename T> Code add(T left, T right, T *result) {
  *result = left + right;
  bool isOver = std::isinf(*result) && !std::isinf(left) && !std::isinf(right);
  return isOver ? code(Failure::FloatOverflow) : 0;
}

template <typename T> Code subtract(T left, T right, T *result) {
  return add(left, -right, result);
}

template <typename T> Code multiply(T left, T right, T *result) {
  *result = left * right;
  if (std::isinf(*result) && !std::isinf(left) && !std::isinf(right))
    return code(Failure::FloatOverflow);
  bool isUnder = *result == 0 && left != 0 && right != 0;
  return isUnder ? code(Failure::FloatUnderflow) : 0;
}

template <typename T> Code divide(T left, T right, T *result) {
  if (right == 0 && !std::isnan(left))
    return code(Failure::DivisionByZero);
  *result = left / right;
  if (std::isinf(*result) && !std::isinf(left))
    return code(Failure::FloatOverflow);
  bool isUnder = *result == 0 && left != 0 && !std::isinf(right);
  return isUnder ? code(Failure::FloatUnderflow) : 0;
}

double floorOf(double value) { return std::floor(value); }
double ceilOf(double value) { return std::ceil(value); }
double roundOf(double value) { return std::nearbyint(value); }
double truncOf(double value) { return std::trunc(value); }

/// PostgreSQL's order: NaN equals NaN, and is above all else.
int32_t compare(double left, double right) {
  if (std::isnan(left))
    return std::isnan(right) ? 0 : 1;
  if (std::isnan(right))
    return -1;
  return left < right ? -1 : left > right;
}

// Conversions

template <typename From, typename To> Code toInteger(From value, To *result, Failure failure) {
  constexpr int bits = 8 * sizeof(To) - 1;
  From rounded = std::rint(value); // half to even
  From end = std::ldexp(From{1}, bits);
  if (!(rounded >= -end && rounded < end))
    return code(failure);
  *result = static_cast<To>(rounded);
  return 0;
}

template <typename From> Code toInt2(From value, int16_t *result) {
  return toInteger(value, result, Failure::Int2Range);
}

template <typename From> Code toInt4(From value, int32_t *result) {
  return toInteger(value, result, Failure::Int4Range);
}

template <typename From> Code toInt8(From value, int64_t *result) {
  return toInteger(value, result, Failure::Int8Range);
}

Code toFloat4(double value, float *result) {
  *result = static_cast<float>(value);
  if (std::isinf(*result) && !std::isinf(value))
    return code(Failure::FloatOverflow);
  return *result == 0 && value != 0 ? code(Failure::FloatUnderflow) : 0;
}

// Functions

/// Says how a function of the mathematical library failed that was called with errno 0 for finite
/// arguments.
Code checked(double result, bool canBeZero) {
  bool isOut = errno == ERANGE;
  if (std::isinf(result) || (isOut && result != 0))
    return code(Failure::FloatOverflow);
  return result == 0 && (isOut || !canBeZero) ? code(Failure::FloatUnderflow) : 0;
}

Code squareRoot(double value, double *result) {
  if (value < 0)
    return code(Failure::SquareRootOfNegative);
  *result = std::sqrt(value);
  return 0;
}

Code exponential(double value, double *result) {
  if (std::isnan(value) || std::isinf(value)) {
    *result = value < 0 ? 0.0 : value;
    return 0;
  }
  errno = 0;
  *result = std::exp(value);
  return checked(*result, false);
}

Code logarithm(double value, double *result) {
  if (value == 0)
    return code(Failure::LogarithmOfZero);
  if (value < 0)
    return code(Failure::LogarithmOfNegative);
  *result = std::log(value);
  return 0;
}

bool isWhole(double value) { return std::floor(value) == value; }

/// The power where a base or an exponent is infinite, and neither is NaN.
double powerOfInfinite(double base, double exponent) {
  double magnitude = std::fabs(base);
  if (std::isinf(exponent)) {
    if (magnitude == 1)
      return 1;
    bool grows = (magnitude > 1) == (exponent > 0);
    return grows ? std::fabs(exponent) : 0.0;
  }
  if (exponent == 0)
    return 1;
  double result = exponent > 0 ? magnitude : 0.0;
  bool isOdd = isWhole(exponent) && !isWhole(exponent / 2);
  return base < 0 && isOdd ? -result : result;
}

Code power(double base, double exponent, double *result) {
  if (std::isnan(base) || std::isnan(exponent)) {
    *result = exponent == 0 || base == 1 ? 1.0 : std::nan("");
    return 0;
  }
  if (base == 0 && exponent < 0)
    return code(Failure::ZeroToNegativePower);
  if (base < 0 && !isWhole(exponent))
    return code(Failure::ComplexPower);
  if (std::isinf(base) || std::isinf(exponent)) {
    *result = powerOfInfinite(base, exponent);
    return 0;
  }
  errno = 0;
  *result = std::pow(base, exponent);
  return checked(*result, base == 0);
}

} // namespace

void twinjit::sql::registerFloats(Registry &registry) {
  registry.add<add<float>>("float4_add");
  registry.add<add<double>>("float8_add");
  registry.add<subtract<float>>("float4_subtract");
  registry.add<subtract<double>>("float8_subtract");
  registry.add<multiply<float>>("float4_multiply");
  registry.add<multiply<double>>("float8_multiply");
  registry.add<divide<float>>("float4_divide");
  registry.add<divide<double>>("float8_divide");
  registry.add<floorOf>("float8_floor");
  registry.add<ceilOf>("float8_ceil");
  registry.add<roundOf>("float8_round");
  registry.add<truncOf>("float8_trunc");
  registry.add<compare>("float8_compare");
  registry.add<toInt2<float>>("float4_to_int2");
  registry.add<toInt4<float>>("float4_to_int4");
  registry.add<toInt8<float>>("float4_to_int8");
  registry.add<toInt2<double>>("float8_to_int2");
  registry.add<toInt4<double>>("float8_to_int4");
  registry.add<toInt8<double>>("float8_to_int8");
  registry.add<toFloat4>("float8_to_float4");
  registry.add<squareRoot>("sqrt");
  registry.add<exponential>("exp");
  registry.add<logarithm>("ln");
  registry.add<power>("power");
}
