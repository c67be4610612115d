/// Conversions of texts to and from booleans and integers.

#include "sql/text.h"

#include <charconv>
#include <limits>

using namespace twinjit::sql;

namespace {

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
  bool isNegative = takeSign(next, end);
  if (next == end || !isDigit(*next))
    return code(syntax);
  T value = 0;
  for (; next < end && isDigit(*next); ++next) {
    T digit = static_cast<T>(*next - '0');
    // Downwards, where there is one value more; before what follows is looked at.
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

Code fromBool(int32_t value, Text *result) {
  *result = value ? Text{"true", 4} : Text{"false", 5};
  return 0;
}

Code fromInt8(int64_t value, Arena *arena, Text *result) {
  char text[32];
  return copied(text, std::to_chars(text, text + sizeof(text), value).ptr, arena, result);
}

} // namespace

void twinjit::sql::registerTextConversions(Registry &registry) {
  registry.add<toBool>("text_to_bool");
  registry.add<toInt2>("text_to_int2");
  registry.add<toInt4>("text_to_int4");
  registry.add<toInt8>("text_to_int8");
  registry.add<fromBool>("bool_to_text");
  registry.add<fromInt8>("int8_to_text");
  registerFloatText(registry);
  registerNumericText(registry);
}
