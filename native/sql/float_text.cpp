/// Floats as texts: what C reads, as in PostgreSQL, and the fewest digits that read back the same.

#include "sql/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

using namespace twinjit::sql;

namespace {

// From texts

enum class Read : uint8_t { Fine, Malformed, OutOfRange };

bool isWordByte(char byte) {
  return isDigit(byte) || (lowered(byte) >= 'a' && lowered(byte) <= 'z') || byte == '_';
}

/// Whether a text without a sign is one that C reads as NaN: a payload may stand in parentheses.
bool isNan(Text text) {
  if (text.length < 3 || !isWord({text.data, 3}, "nan"))
    return false;
  if (text.length == 3)
    return true;
  if (text.length < 5 || text.data[3] != '(' || text.data[text.length - 1] != ')')
    return false;
  for (int64_t place = 4; place < text.length - 1; ++place)
    if (!isWordByte(text.data[place]))
      return false;
  return true;
}

/// Whether a minus follows the plus of a binary exponent: libstdc++ reads it as a sign, too.
bool hasTwoSigns(const char *next, const char *end) {
  const char *mark = std::find_if(next, end, [](char byte) { return lowered(byte) == 'p'; });
  return end - mark > 2 && mark[1] == '+' && mark[2] == '-';
}

/// Reads digits, decimal ones or, behind 0x, others.
template <typename T> Read readDigits(const char *next, const char *end, T &value) {
  bool isHex = end - next > 1 && next[0] == '0' && lowered(next[1]) == 'x';
  next += isHex ? 2 : 0;
  // What is no digit may be a sign or a word, which are read elsewhere.
  if (next == end || !(*next == '.' || (isHex ? isWordByte(*next) : isDigit(*next))))
    return Read::Malformed;
  if (isHex && hasTwoSigns(next, end))
    return Read::Malformed;
  auto form = isHex ? std::chars_format::hex : std::chars_format::general;
  auto [stop, error] = std::from_chars(next, end, value, form);
  // Whatever follows.
  if (error == std::errc::result_out_of_range)
    return Read::OutOfRange;
  return error == std::errc() && stop == end ? Read::Fine : Read::Malformed;
}

template <typename T> Read readFloat(Text text, T &value) {
  const char *next = text.data, *end = text.data + text.length;
  bool isNegative = takeSign(next, end);
  Text magnitude{next, end - next};
  Read outcome = Read::Fine;
  if (isNan(magnitude))
    value = std::numeric_limits<T>::quiet_NaN();
  else if (isWord(magnitude, "infinity") || isWord(magnitude, "inf"))
    value = std::numeric_limits<T>::infinity();
  else
    outcome = readDigits(next, end, value);
  value = isNegative ? -value : value;
  return outcome;
}

template <typename T>
Code toFloat(const char *text, int64_t bytes, T *result, Failure syntax, Failure range) {
  T value = 0;
  Read outcome = readFloat(stripped(text, bytes), value);
  if (outcome != Read::Fine)
    return code(outcome == Read::OutOfRange ? range : syntax);
  *result = value;
  return 0;
}

Code toFloat4(const char *text, int64_t bytes, float *result) {
  return toFloat(text, bytes, result, Failure::Float4Syntax, Failure::Float4TextRange);
}

Code toFloat8(const char *text, int64_t bytes, double *result) {
  return toFloat(text, bytes, result, Failure::Float8Syntax, Failure::Float8TextRange);
}

// To texts

/// Digits, with a point behind the first, and an exponent of ten.
struct Scientific {
  char digits[24];
  int count;
  int exponent;
};

/// Takes apart what `std::to_chars` has written, without zeros at the end.
Scientific takenApart(const char *text, const char *end) {
  Scientific found{};
  for (; *text != 'e'; ++text)
    if (*text != '.')
      found.digits[found.count++] = *text;
  while (found.count > 1 && found.digits[found.count - 1] == '0')
    --found.count;
  std::from_chars(text + (text[1] == '+' ? 2 : 1), end, found.exponent);
  return found;
}

/// Whether a decimal lies halfway between two floats: it has one binary digit more than they have.
/// It depends on the reader which of them it is read as.
template <typename T> bool isHalfway(const Scientific &decimal) {
  constexpr int bits = std::numeric_limits<T>::digits + 1;
  uint64_t odd = 0;
  for (int place = 0; place < decimal.count; ++place)
    odd = 10 * odd + static_cast<uint64_t>(decimal.digits[place] - '0');
  if (odd == 0)
    return false;
  odd >>= __builtin_ctzll(odd);
  int exponent = decimal.exponent - (decimal.count - 1);
  for (; exponent < 0; ++exponent, odd /= 5)
    if (odd % 5)
      return false;
  for (; exponent > 0 && odd >> bits == 0; --exponent)
    odd *= 5;
  return odd >> (bits - 1) == 1;
}

/// Gives the fewest digits that every reader reads as the same float.
template <typename T> Scientific shortest(T magnitude) {
  constexpr auto form = std::chars_format::scientific;
  char text[32], *limit = text + sizeof(text);
  Scientific found = takenApart(text, std::to_chars(text, limit, magnitude, form).ptr);
  for (int digits = found.count; isHalfway<T>(found); ++digits)
    found = takenApart(text, std::to_chars(text, limit, magnitude, form, digits).ptr);
  return found;
}

char *writeScientific(const Scientific &number, char *text) {
  *text++ = number.digits[0];
  if (number.count > 1)
    *text++ = '.';
  std::memcpy(text, number.digits + 1, number.count - 1);
  text += number.count - 1;
  *text++ = 'e';
  *text++ = number.exponent < 0 ? '-' : '+';
  int exponent = std::abs(number.exponent);
  if (exponent < 10)
    *text++ = '0';
  return std::to_chars(text, text + 3, exponent).ptr;
}

char *writePlain(const Scientific &number, char *text) {
  if (number.exponent < 0) {
    *text++ = '0';
    *text++ = '.';
    for (int zeros = -number.exponent - 1; zeros > 0; --zeros)
      *text++ = '0';
  }
  for (int place = 0; place < number.count || place <= number.exponent; ++place) {
    if (number.exponent >= 0 && place == number.exponent + 1)
      *text++ = '.';
    *text++ = place < number.count ? number.digits[place] : '0';
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
  // From 10^-4 on, and below 10^15 or 10^6, there is no exponent.
  constexpr int plainBelow = std::is_same_v<T, float> ? 6 : 15;
  char text[32], *next = text;
  if (std::signbit(value))
    *next++ = '-';
  Scientific number = shortest(std::fabs(value));
  bool isPlain = number.exponent >= -4 && number.exponent < plainBelow;
  next = isPlain ? writePlain(number, next) : writeScientific(number, next);
  return copied(text, next, arena, result);
}

} // namespace

void twinjit::sql::registerFloatText(Registry &registry) {
  registry.add<toFloat4>("text_to_float4");
  registry.add<toFloat8>("text_to_float8");
  registry.add<fromFloat<float>>("float4_to_text");
  registry.add<fromFloat<double>>("float8_to_text");
}
