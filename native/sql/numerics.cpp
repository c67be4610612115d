/// Numerics: whole numbers of 128 bits below 10^38, at scales that are known from elsewhere.

#include "sql/apply.h"
#include "sql/numeric.h"
#include "sql/wide.h"

#include <charconv>
#include <cmath>
#include <limits>

using namespace twinjit::sql;

namespace {

constexpr int mostDigits = 38;

Code checked(Numeric value, Numeric *result) {
  if (value >= powerOfTen(mostDigits) || value <= -powerOfTen(mostDigits))
    return code(Failure::NumericRange);
  *result = value;
  return 0;
}

/// Divides by a power of ten, rounding half away from zero.
Numeric roundedDown(Numeric value, int digits) {
  if (digits > mostDigits)
    return 0;
  Numeric divisor = powerOfTen(digits);
  Numeric quotient = value / divisor, rest = value % divisor;
  Numeric magnitude = rest < 0 ? -rest : rest;
  if (magnitude >= divisor - magnitude && digits > 0)
    quotient += value < 0 ? -1 : 1;
  return quotient;
}

// Arithmetic

Code add(uint64_t low, int64_t high, uint64_t otherLow, int64_t otherHigh, Numeric *result) {
  Numeric sum;
  if (__builtin_add_overflow(numericOf(low, high), numericOf(otherLow, otherHigh), &sum))
    return code(Failure::NumericRange);
  return checked(sum, result);
}

Code subtract(uint64_t low, int64_t high, uint64_t otherLow, int64_t otherHigh, Numeric *result) {
  Numeric difference;
  if (__builtin_sub_overflow(numericOf(low, high), numericOf(otherLow, otherHigh), &difference))
    return code(Failure::NumericRange);
  return checked(difference, result);
}

Code multiply(uint64_t low, int64_t high, uint64_t otherLow, int64_t otherHigh, Numeric *result) {
  Numeric product;
  if (__builtin_mul_overflow(numericOf(low, high), numericOf(otherLow, otherHigh), &product))
    return code(Failure::NumericRange);
  return checked(product, result);
}

Numeric negate(uint64_t low, int64_t high) { return -numericOf(low, high); }

Numeric absolute(uint64_t low, int64_t high) {
  Numeric value = numericOf(low, high);
  return value < 0 ? -value : value;
}

Unsigned magnitudeOf(Numeric value) {
  return value < 0 ? -static_cast<Unsigned>(value) : static_cast<Unsigned>(value);
}

/// PostgreSQL keeps numbers in digits of base 10,000: the exponent of the first, and that digit.
struct FirstDigit {
  int weight = 0;
  int digit = 0;
};

FirstDigit firstDigit(Unsigned value, int scale) {
  if (value == 0)
    return {};
  int digits = 0;
  while (digits < mostDigits && value >= static_cast<Unsigned>(powerOfTen(digits + 1)))
    ++digits;
  int exponent = digits - scale; // of the first decimal digit
  int weight = exponent >= 0 ? exponent / 4 : -((3 - exponent) / 4);
  int lowest = scale + 4 * weight; // of the base's digit, from the value's own end
  if (lowest >= 0)
    return {weight, static_cast<int>(value / static_cast<Unsigned>(powerOfTen(lowest)))};
  return {weight, static_cast<int>(value * static_cast<Unsigned>(powerOfTen(-lowest)))};
}

/// How many digits PostgreSQL gives a quotient behind the point: at least 16 significant ones.
int quotientScale(Unsigned left, int leftScale, Unsigned right, int rightScale) {
  FirstDigit above = firstDigit(left, leftScale), below = firstDigit(right, rightScale);
  int weight = above.weight - below.weight;
  if (above.digit <= below.digit)
    --weight;
  int scale = 16 - 4 * weight;
  scale = scale > leftScale ? scale : leftScale;
  scale = scale > rightScale ? scale : rightScale;
  return scale > 0 ? scale : 0;
}

Code divide(uint64_t low, int64_t high, int32_t scale, uint64_t otherLow, int64_t otherHigh,
            int32_t otherScale, int32_t to, Numeric *result) {
  Numeric left = numericOf(low, high), right = numericOf(otherLow, otherHigh);
  if (right == 0)
    return code(Failure::DivisionByZero);
  Unsigned above = magnitudeOf(left), below = magnitudeOf(right);
  int rounded = quotientScale(above, scale, below, otherScale);
  Wide rest(above), divisor(below);
  int digits = rounded + otherScale - scale;
  digits > 0 ? rest.multiplyByTen(digits) : divisor.multiplyByTen(-digits);
  Wide quotient = rest.divide(divisor);
  if (!quotient.fitsUnsigned() || quotient.lowest() >= static_cast<Unsigned>(powerOfTen(38)))
    return code(Failure::NumericRange);
  auto value = static_cast<Numeric>(quotient.lowest());
  if (rest.doubled().compare(divisor) >= 0)
    ++value;
  // Rounded once more where the result's scale is less, as by a cast of what PostgreSQL gives.
  return rescaled((left < 0) != (right < 0) ? -value : value, rounded, to, result);
}

Code modulo(uint64_t low, int64_t high, int32_t scale, uint64_t otherLow, int64_t otherHigh,
            int32_t otherScale, int32_t to, Numeric *result) {
  Numeric left = numericOf(low, high), right = numericOf(otherLow, otherHigh);
  if (right == 0)
    return code(Failure::DivisionByZero);
  Wide rest(magnitudeOf(left)), divisor(magnitudeOf(right));
  rest.multiplyByTen(to - scale);
  divisor.multiplyByTen(to - otherScale);
  rest.divide(divisor);
  if (!rest.fitsUnsigned() || rest.lowest() >= static_cast<Unsigned>(powerOfTen(38)))
    return code(Failure::NumericRange);
  auto value = static_cast<Numeric>(rest.lowest());
  return checked(left < 0 ? -value : value, result);
}

int32_t compare(uint64_t low, int64_t high, int32_t scale, uint64_t otherLow, int64_t otherHigh,
                int32_t otherScale) {
  Numeric left = numericOf(low, high), right = numericOf(otherLow, otherHigh);
  int digits = scale - otherScale;
  Numeric &coarse = digits < 0 ? left : right;
  int sign = digits < 0 ? 1 : -1; // of the order, where only the coarse one decides
  if (__builtin_mul_overflow(coarse, powerOfTen(digits < 0 ? -digits : digits), &coarse))
    return (coarse = digits < 0 ? numericOf(low, high) : numericOf(otherLow, otherHigh)) < 0 ? -sign
                                                                                             : sign;
  return left < right ? -1 : left > right;
}

// Scales

Code rescale(uint64_t low, int64_t high, int32_t from, int32_t to, Numeric *result) {
  return rescaled(numericOf(low, high), from, to, result);
}

Code floorOf(uint64_t low, int64_t high, int32_t scale, Numeric *result) {
  Numeric value = numericOf(low, high), unit = powerOfTen(scale);
  return checked(value / unit - (value % unit < 0), result);
}

Code ceilOf(uint64_t low, int64_t high, int32_t scale, Numeric *result) {
  Numeric value = numericOf(low, high), unit = powerOfTen(scale);
  return checked(value / unit + (value % unit > 0), result);
}

/// Rounds to `digits` behind the point, or before it where negative; the result has scale `to`.
Code roundOf(uint64_t low, int64_t high, int32_t scale, int32_t digits, int32_t to,
             Numeric *result) {
  Numeric value = numericOf(low, high);
  if (digits >= scale)
    return rescaled(value, scale, to, result);
  return rescaled(roundedDown(value, scale - digits), digits, to, result);
}

Code truncOf(uint64_t low, int64_t high, int32_t scale, int32_t digits, int32_t to,
             Numeric *result) {
  Numeric value = numericOf(low, high);
  if (digits >= scale)
    return rescaled(value, scale, to, result);
  int dropped = scale - digits;
  Numeric kept = dropped > mostDigits ? 0 : value / powerOfTen(dropped);
  return rescaled(kept, digits, to, result);
}

Code limit(uint64_t low, int64_t high, int32_t digits, Numeric *result) {
  Numeric value = numericOf(low, high);
  if (value >= powerOfTen(digits) || value <= -powerOfTen(digits))
    return code(Failure::NumericRange);
  *result = value;
  return 0;
}

// Conversions

template <typename T>
Code toInteger(uint64_t low, int64_t high, int32_t scale, T *result, Failure failure) {
  Numeric value = roundedDown(numericOf(low, high), scale);
  if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max())
    return code(failure);
  *result = static_cast<T>(value);
  return 0;
}

Code toInt2(uint64_t low, int64_t high, int32_t scale, int16_t *result) {
  return toInteger(low, high, scale, result, Failure::Int2Range);
}

Code toInt4(uint64_t low, int64_t high, int32_t scale, int32_t *result) {
  return toInteger(low, high, scale, result, Failure::Int4Range);
}

Code toInt8(uint64_t low, int64_t high, int32_t scale, int64_t *result) {
  return toInteger(low, high, scale, result, Failure::Int8Range);
}

/// The nearest float: of two exact ones by one division, or of the digits.
template <typename T> T toFloat(uint64_t low, int64_t high, int32_t scale) {
  Numeric value = numericOf(low, high);
  Unsigned magnitude = magnitudeOf(value);
  constexpr int exactPower = std::is_same_v<T, float> ? 10 : 22;
  if (scale <= exactPower && magnitude < (Unsigned{1} << std::numeric_limits<T>::digits))
    return static_cast<T>(value) / static_cast<T>(powerOfTen(scale));
  char text[64];
  char *end = writeDigits(magnitude, text);
  *end++ = 'e';
  *end++ = '-';
  end = std::to_chars(end, text + sizeof(text), scale).ptr;
  T result = 0;
  std::from_chars(text, end, result);
  return value < 0 ? -result : result;
}

Code fromInt8(int64_t value, int32_t to, Numeric *result) { return rescaled(value, 0, to, result); }

/// By the decimal digits that a type surely has, as PostgreSQL does.
template <typename T> Code fromFloat(T value, int32_t to, Numeric *result) {
  if (!std::isfinite(value))
    return code(Failure::NumericSpecial);
  constexpr int digits = std::is_same_v<T, float> ? 6 : 15;
  char text[64];
  auto written = std::to_chars(text, text + sizeof(text), std::fabs(value),
                               std::chars_format::scientific, digits - 1);
  int64_t mantissa = 0;
  const char *next = text;
  for (; *next != 'e'; ++next)
    if (*next != '.')
      mantissa = 10 * mantissa + (*next - '0');
  int exponent = 0;
  std::from_chars(next + (next[1] == '+' ? 2 : 1), written.ptr, exponent);
  Numeric signedMantissa = value < 0 ? -mantissa : mantissa;
  return rescaled(signedMantissa, digits - 1 - exponent, to, result);
}

} // namespace

Code twinjit::sql::rescaled(Numeric value, int from, int to, Numeric *result) {
  int digits = to - from;
  if (digits < 0)
    return checked(roundedDown(value, -digits), result);
  if (value == 0 || digits == 0)
    return checked(value, result);
  if (digits > mostDigits || __builtin_mul_overflow(value, powerOfTen(digits), &value))
    return code(Failure::NumericRange);
  return checked(value, result);
}

char *twinjit::sql::writeDigits(unsigned __int128 value, char *text) {
  char digits[40];
  int count = 0;
  do {
    digits[count++] = static_cast<char>('0' + static_cast<int>(value % 10));
    value /= 10;
  } while (value);
  while (count)
    *text++ = digits[--count];
  return text;
}

void twinjit::sql::registerNumerics(Registry &registry) {
  registry.add<add>("numeric_add");
  registry.add<subtract>("numeric_subtract");
  registry.add<multiply>("numeric_multiply");
  registry.add<negate>("numeric_negate");
  registry.add<absolute>("numeric_abs");
  registry.add<divide>("numeric_divide");
  registry.add<modulo>("numeric_modulo");
  registry.add<compare>("numeric_compare");
  registry.add<rescale>("numeric_rescale");
  registry.add<floorOf>("numeric_floor");
  registry.add<ceilOf>("numeric_ceil");
  registry.add<roundOf>("numeric_round");
  registry.add<truncOf>("numeric_trunc");
  registry.add<limit>("numeric_limit");
  registry.add<toInt2>("numeric_to_int2");
  registry.add<toInt4>("numeric_to_int4");
  registry.add<toInt8>("numeric_to_int8");
  registry.add<toFloat<float>>("numeric_to_float4");
  registry.add<toFloat<double>>("numeric_to_float8");
  registry.add<fromInt8>("int8_to_numeric");
  registry.add<fromFloat<float>>("float4_to_numeric");
  registry.add<fromFloat<double>>("float8_to_numeric");
}
