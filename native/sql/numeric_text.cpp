/// Numerics as texts.

#include "sql/numeric.h"
#include "sql/text.h"

#include <algorithm>
#include <charconv>
#include <limits>

using namespace twinjit::sql;

namespace {

// From texts

/// A decimal number as it is written, before it is multiplied by a power of ten.
struct Decimal {
  Text whole;
  Text fraction;
  bool isNegative;
  int64_t exponent;

  int64_t digits() const { return whole.length + fraction.length; }

  /// How many of the digits stand before the point, once the exponent is taken into account.
  int64_t beforePoint() const { return whole.length + exponent; }

  /// How many digits PostgreSQL says that the number has behind the point.
  int64_t scale() const { return fraction.length - exponent; }

  int digit(int64_t place) const {
    char byte = place < whole.length ? whole.data[place] : fraction.data[place - whole.length];
    return byte - '0';
  }
};

Text takeDigits(const char *&next, const char *end) {
  const char *start = next;
  while (next < end && isDigit(*next))
    ++next;
  return {start, next - start};
}

/// From here on, PostgreSQL refuses exponents, whatever they belong to and follows.
constexpr int64_t leastRefused = std::numeric_limits<int32_t>::max() / 2;

/// Reads an exponent, if there is one; 0 for none. There may be white space behind the e.
Failure readExponent(const char *&next, const char *end, int64_t &exponent) {
  exponent = 0;
  if (next == end || lowered(*next) != 'e')
    return Failure::None;
  ++next;
  while (next < end && isWhite(*next))
    ++next;
  bool isNegative = takeSign(next, end);
  Text digits = takeDigits(next, end);
  if (digits.length == 0)
    return Failure::NumericSyntax;
  for (int64_t place = 0; place < digits.length; ++place) {
    exponent = 10 * exponent + (digits.data[place] - '0');
    if (exponent >= leastRefused)
      return Failure::NumericRange;
  }
  exponent = isNegative ? -exponent : exponent;
  return Failure::None;
}

bool isSpecial(Text text, Text magnitude) {
  return isWord(text, "nan") || isWord(magnitude, "infinity") || isWord(magnitude, "inf");
}

Failure readDecimal(Text text, Decimal &decimal) {
  const char *next = text.data, *end = text.data + text.length;
  decimal.isNegative = takeSign(next, end);
  if (isSpecial(text, {next, end - next}))
    return Failure::NumericSpecial;
  decimal.whole = takeDigits(next, end);
  decimal.fraction = {next, 0};
  if (next < end && *next == '.') {
    ++next;
    decimal.fraction = takeDigits(next, end);
  }
  if (decimal.digits() == 0)
    return Failure::NumericSyntax;
  Failure failure = readExponent(next, end, decimal.exponent);
  if (failure == Failure::None && next != end)
    failure = Failure::NumericSyntax;
  return failure;
}

/// Brings a decimal to a scale, rounding half away from zero.
Code scaled(const Decimal &decimal, int32_t scale, Numeric *result) {
  int64_t kept = decimal.beforePoint() + scale; // digits that count
  Numeric value = 0;
  for (int64_t place = 0; place < kept; ++place) {
    bool isWritten = place < decimal.digits();
    if (value == 0 && !isWritten)
      break; // zeros behind zeros
    if (value >= powerOfTen(37))
      return code(Failure::NumericRange);
    value = 10 * value + (isWritten ? decimal.digit(place) : 0);
  }
  bool roundsUp = kept >= 0 && kept < decimal.digits() && decimal.digit(kept) >= 5;
  value += roundsUp;
  if (value >= powerOfTen(38))
    return code(Failure::NumericRange);
  *result = decimal.isNegative ? -value : value;
  return 0;
}

/// How many digits behind the point PostgreSQL's numeric has at most, of which the text is made one
/// before it is brought to a scale.
constexpr int64_t mostScale = (1 << 14) - 1;

Code toNumeric(const char *text, int64_t bytes, int32_t scale, Numeric *result) {
  Decimal decimal{};
  Failure failure = readDecimal(stripped(text, bytes), decimal);
  if (failure != Failure::None)
    return code(failure);
  if (decimal.scale() > mostScale)
    return code(Failure::NumericRange);
  return scaled(decimal, scale, result);
}

// To texts

constexpr int mostDigits = 39;

char *writeWhole(unsigned __int128 value, char *text) {
  auto narrow = static_cast<uint64_t>(value);
  if (narrow == value)
    return std::to_chars(text, text + mostDigits, narrow).ptr;
  return writeDigits(value, text);
}

Code fromNumeric(uint64_t low, int64_t high, int32_t scale, Arena *arena, Text *result) {
  Numeric value = numericOf(low, high);
  bool isNegative = value < 0;
  char digits[mostDigits];
  auto count = static_cast<int>(
      writeWhole(static_cast<unsigned __int128>(isNegative ? -value : value), digits) - digits);
  char text[2 * mostDigits], *next = text;
  if (isNegative)
    *next++ = '-';
  int whole = std::max(count - scale, 0);
  if (whole == 0)
    *next++ = '0';
  next = std::copy(digits, digits + whole, next);
  if (scale > 0) {
    *next++ = '.';
    next = std::fill_n(next, std::max(scale - count, 0), '0');
    next = std::copy(digits + whole, digits + count, next);
  }
  return copied(text, next, arena, result);
}

} // namespace

void twinjit::sql::registerNumericText(Registry &registry) {
  registry.add<toNumeric>("text_to_numeric");
  registry.add<fromNumeric>("numeric_to_text");
}
