/// Conversions of texts to and from all other kinds but dates and timestamps.

#include "sql/apply.h"
#include "sql/numeric.h"

#include <cerrno>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <locale.h>

using namespace twinjit::sql;

namespace {

bool isWhite(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }
bool isDigit(char byte) { return byte >= '0' && byte <= '9'; }

Text stripped(const char *text, int64_t bytes) {
  while (bytes > 0 && isWhite(text[bytes - 1]))
    --bytes;
  for (; bytes > 0 && isWhite(*text); --bytes)
    ++text;
  return {text, bytes};
}

char lowered(char byte) {
  return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
}

/// Whether a text is the beginning of a word, of `least` characters or more, whatever the case.
bool begins(Text text, const char *word, int64_t least) {
  auto length = static_cast<int64_t>(std::strlen(word));
  if (text.length < least || text.length > length)
    return false;
  for (int64_t place = 0; place < text.length; ++place)
    if (lowered(text.data[place]) != word[place])
      return false;
  return true;
}

bool isWord(Text text, const char *word) {
  return begins(text, word, static_cast<int64_t>(std::strlen(word)));
}

// From texts

Code toBool(const char *text, int64_t bytes, uint8_t *result) {
  Text word = stripped(text, bytes);
  bool isTrue = begins(word, "true", 1) || begins(word, "yes", 1) || begins(word, "on", 2) ||
                isWord(word, "1");
  bool isFalse = begins(word, "false", 1) || begins(word, "no", 1) || begins(word, "off", 2) ||
                 isWord(word, "0");
  if (!isTrue && !isFalse)
    return code(Failure::BoolSyntax);
  *result = isTrue;
  return 0;
}

template <typename T>
Code toInteger(const char *text, int64_t bytes, T *result, Failure syntax, Failure range) {
  Text number = stripped(text, bytes);
  const char *next = number.data, *end = number.data + number.length;
  bool isNegative = next < end && *next == '-';
  next += next < end && (*next == '-' || *next == '+');
  if (next == end || !isDigit(*next))
    return code(syntax);
  T value = 0;
  for (; next < end && isDigit(*next); ++next) {
    T digit = static_cast<T>(*next - '0');
    // Downwards, where there is one value more.
    if (__builtin_mul_overflow(value, static_cast<T>(10), &value) ||
        __builtin_sub_overflow(value, digit, &value))
      return code(range);
  }
  if (next != end)
    return code(syntax);
  if (!isNegative && value == std::numeric_limits<T>::min())
    return code(range);
  *result = static_cast<T>(isNegative ? value : -value);
  return 0;
}

Code toInt2(const char *text, int64_t bytes, int16_t *result) {
  return toInteger(text, bytes, result, Failure::Int2Syntax, Failure::Int2TextRange);
}

Code toInt4(const char *text, int64_t bytes, int32_t *result) {
  return toInteger(text, bytes, result, Failure::Int4Syntax, Failure::Int4TextRange);
}

Code toInt8(const char *text, int64_t bytes, int64_t *result) {
  return toInteger(text, bytes, result, Failure::Int8Syntax, Failure::Int8TextRange);
}

locale_t plainLocale() {
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  return plain;
}

template <typename T> T parsed(const char *text, char **end) {
  if constexpr (std::is_same_v<T, float>)
    return strtof_l(text, end, plainLocale());
  else
    return strtod_l(text, end, plainLocale());
}

/// Reads what the C library reads, as PostgreSQL does.
template <typename T>
Code toFloat(const char *text, int64_t bytes, T *result, Failure syntax, Failure range) {
  Text number = stripped(text, bytes);
  // Longer ones are copied to the heap: digits without end are allowed.
  char few[64];
  bool isShort = number.length < static_cast<int64_t>(sizeof(few));
  char *copy = isShort ? few : static_cast<char *>(std::malloc(number.length + 1));
  if (!copy)
    return code(Failure::OutOfMemory);
  std::memcpy(copy, number.data, number.length);
  copy[number.length] = '\0';
  char *end = nullptr;
  errno = 0;
  *result = parsed<T>(copy, &end);
  bool isWhole = number.length > 0 && end == copy + number.length && !isWhite(*copy);
  bool isStart = end != copy;
  if (!isShort)
    std::free(copy);
  if (isStart && errno == ERANGE && (*result == 0 || std::isinf(*result)))
    return code(range);
  return isWhole ? 0 : code(syntax);
}

Code toFloat4(const char *text, int64_t bytes, float *result) {
  return toFloat(text, bytes, result, Failure::Float4Syntax, Failure::Float4TextRange);
}

Code toFloat8(const char *text, int64_t bytes, double *result) {
  return toFloat(text, bytes, result, Failure::Float8Syntax, Failure::Float8TextRange);
}

/// A decimal number as it is written: all digits, and how many of them stand before the point once
/// the exponent is taken into account.
struct Decimal {
  Text whole;
  Text fraction;
  bool isNegative;
  int64_t exponent;

  int64_t digits() const { return whole.length + fraction.length; }
  int64_t beforePoint() const { return whole.length + exponent; }
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

constexpr int64_t mostExponent = std::numeric_limits<int32_t>::max() / 2;

/// Reads an exponent, if there is one; 0 for none.
Failure readExponent(const char *&next, const char *end, int64_t &exponent) {
  exponent = 0;
  if (next == end || (*next != 'e' && *next != 'E'))
    return Failure::None;
  ++next;
  bool isNegative = next < end && *next == '-';
  next += next < end && (*next == '-' || *next == '+');
  Text digits = takeDigits(next, end);
  if (digits.length == 0)
    return Failure::NumericSyntax;
  for (int64_t place = 0; place < digits.length; ++place) {
    exponent = 10 * exponent + (digits.data[place] - '0');
    if (exponent >= mostExponent)
      return Failure::NumericRange;
  }
  exponent = isNegative ? -exponent : exponent;
  return Failure::None;
}

Failure readDecimal(Text text, Decimal &decimal) {
  const char *next = text.data, *end = text.data + text.length;
  decimal.isNegative = next < end && *next == '-';
  next += next < end && (*next == '-' || *next == '+');
  Text unsignedPart{next, end - next};
  if (isWord(text, "nan") || isWord(unsignedPart, "infinity") || isWord(unsignedPart, "inf"))
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

Code toNumeric(const char *text, int64_t bytes, int32_t scale, Numeric *result) {
  Decimal decimal;
  Failure failure = readDecimal(stripped(text, bytes), decimal);
  if (failure != Failure::None)
    return code(failure);
  return scaled(decimal, scale, result);
}

// To texts

Code copied(const char *start, const char *end, Arena *arena, Text *result) {
  char *copy = arena->allocate(end - start);
  if (!copy)
    return code(Failure::OutOfMemory);
  std::memcpy(copy, start, end - start);
  *result = {copy, end - start};
  return 0;
}

Code fromBool(int32_t value, Text *result) {
  *result = value ? Text{"true", 4} : Text{"false", 5};
  return 0;
}

Code fromInt8(int64_t value, Arena *arena, Text *result) {
  char text[32];
  return copied(text, std::to_chars(text, text + sizeof(text), value).ptr, arena, result);
}

/// Whether a decimal lies just between a float and the next: it may read back as either.
template <typename T> bool isBetween(T value, const char *text, const char *end) {
  char copy[64] = {};
  std::memcpy(copy, text, end - text);
  long double written = strtold_l(copy, nullptr, plainLocale()), exact = value;
  for (T limit : {T{0}, std::numeric_limits<T>::infinity()}) {
    T next = std::nextafter(value, limit);
    if (next != value && std::isfinite(next) && written == (exact + next) / 2)
      return true;
  }
  return false;
}

/// Writes the fewest digits that surely read back the same, with an exponent.
template <typename T> char *writeShortest(T magnitude, char *text, char *limit) {
  constexpr auto form = std::chars_format::scientific;
  char *end = std::to_chars(text, limit, magnitude, form).ptr;
  auto digits = static_cast<int>(static_cast<char *>(std::memchr(text, 'e', end - text)) - text);
  if (digits > 1)
    --digits; // the point
  while (isBetween(magnitude, text, end))
    end = std::to_chars(text, limit, magnitude, form, digits++).ptr;
  return end;
}

/// Writes a float as PostgreSQL does: with an exponent below 10^-4, and from 10^15 on (10^6 for
/// float4).
template <typename T> char *writeFloat(T value, char *text) {
  constexpr int mostPlain = std::is_same_v<T, float> ? 6 : 15;
  char digits[64];
  char *end = writeShortest(std::fabs(value), digits, digits + sizeof(digits));
  char *mark = static_cast<char *>(std::memchr(digits, 'e', end - digits));
  int exponent = 0;
  std::from_chars(mark + (mark[1] == '+' ? 2 : 1), end, exponent);
  if (std::signbit(value))
    *text++ = '-';
  if (exponent < -4 || exponent >= mostPlain) {
    std::memcpy(text, digits, end - digits);
    return text + (end - digits);
  }
  auto count = static_cast<int>(mark - digits);
  if (count > 1) { // without the point
    std::memmove(digits + 1, digits + 2, count - 2);
    --count;
  }
  if (exponent < 0) {
    *text++ = '0';
    *text++ = '.';
    for (int zeros = -exponent - 1; zeros > 0; --zeros)
      *text++ = '0';
  }
  for (int place = 0; place < count || place <= exponent; ++place) {
    if (exponent >= 0 && place == exponent + 1)
      *text++ = '.';
    *text++ = place < count ? digits[place] : '0';
  }
  return text;
}

template <typename T> Code fromFloat(T value, Arena *arena, Text *result) {
  if (std::isnan(value)) {
    *result = {"NaN", 3};
    return 0;
  }
  if (std::isinf(value)) {
    *result = value < 0 ? Text{"-Infinity", 9} : Text{"Infinity", 8};
    return 0;
  }
  char text[64];
  return copied(text, writeFloat(value, text), arena, result);
}

Code fromNumeric(uint64_t low, int64_t high, int32_t scale, Arena *arena, Text *result) {
  Numeric value = numericOf(low, high);
  char text[96];
  char *next = text;
  if (value < 0)
    *next++ = '-';
  Numeric magnitude = value < 0 ? -value : value, unit = powerOfTen(scale);
  next = writeDigits(magnitude / unit, next);
  if (scale > 0) {
    *next++ = '.';
    char fraction[40];
    char *end = writeDigits(magnitude % unit, fraction);
    for (auto zeros = scale - (end - fraction); zeros > 0; --zeros)
      *next++ = '0';
    std::memcpy(next, fraction, end - fraction);
    next += end - fraction;
  }
  return copied(text, next, arena, result);
}

} // namespace

void twinjit::sql::registerTextConversions(Registry &registry) {
  registry.add<toBool>("text_to_bool");
  registry.add<toInt2>("text_to_int2");
  registry.add<toInt4>("text_to_int4");
  registry.add<toInt8>("text_to_int8");
  registry.add<toFloat4>("text_to_float4");
  registry.add<toFloat8>("text_to_float8");
  registry.add<toNumeric>("text_to_numeric");
  registry.add<fromBool>("bool_to_text");
  registry.add<fromInt8>("int8_to_text");
  registry.add<fromFloat<float>>("float4_to_text");
  registry.add<fromFloat<double>>("float8_to_text");
  registry.add<fromNumeric>("numeric_to_text");
}
