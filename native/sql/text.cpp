/// Functions of texts, which are compared by bytes, as in PostgreSQL's locale C.

#include "sql/text.h"

#include <algorithm>
#include <cstring>

using namespace twinjit::sql;

namespace {

int32_t length(const char *text, int64_t bytes) {
  int32_t characters = 0;
  for (int64_t place = 0; place < bytes; ++place)
    characters += startsCharacter(text[place]);
  return characters;
}

int32_t compare(const char *left, int64_t leftBytes, const char *right, int64_t rightBytes) {
  int64_t common = std::min(leftBytes, rightBytes);
  int order = common ? std::memcmp(left, right, common) : 0;
  if (order == 0)
    return leftBytes < rightBytes ? -1 : leftBytes > rightBytes;
  return order < 0 ? -1 : 1;
}

int32_t areEqual(const char *left, int64_t leftBytes, const char *right, int64_t rightBytes) {
  return leftBytes == rightBytes && (!leftBytes || std::memcmp(left, right, leftBytes) == 0);
}

char raised(char byte) {
  return byte >= 'a' && byte <= 'z' ? static_cast<char>(byte - 'a' + 'A') : byte;
}

template <char change(char)>
Code changed(const char *text, int64_t bytes, Arena *arena, Text *result) {
  char *copy = arena->allocate(bytes);
  if (!copy)
    return code(Failure::OutOfMemory);
  for (int64_t place = 0; place < bytes; ++place)
    copy[place] = change(text[place]);
  *result = {copy, bytes};
  return 0;
}

Code concat(const char *left, int64_t leftBytes, const char *right, int64_t rightBytes,
            Arena *arena, Text *result) {
  char *copy = arena->allocate(leftBytes + rightBytes);
  if (!copy)
    return code(Failure::OutOfMemory);
  if (leftBytes)
    std::memcpy(copy, left, leftBytes);
  if (rightBytes)
    std::memcpy(copy + leftBytes, right, rightBytes);
  *result = {copy, leftBytes + rightBytes};
  return 0;
}

Code substring(const char *text, int64_t bytes, int32_t start, Text *result) {
  int64_t begin = placeBehind({text, bytes}, 0, std::max<int64_t>(start, 1) - 1);
  *result = {text + begin, bytes - begin};
  return 0;
}

/// From a start, counted from 1, which may lie before the text, for so many characters.
Code substringFor(const char *text, int64_t bytes, int32_t start, int32_t count, Text *result) {
  if (count < 0)
    return code(Failure::NegativeSubstring);
  int64_t end = static_cast<int64_t>(start) + count;
  int64_t first = std::max<int64_t>(start, 1);
  int64_t begin = placeBehind({text, bytes}, 0, first - 1);
  int64_t until = end > first ? placeBehind({text, bytes}, begin, end - first) : begin;
  *result = {text + begin, until - begin};
  return 0;
}

} // namespace

void twinjit::sql::registerText(Registry &registry) {
  registry.add<length>("length");
  registry.add<compare>("compare");
  registry.add<areEqual>("text_equal");
  registry.add<changed<lowered>>("lower");
  registry.add<changed<raised>>("upper");
  registry.add<concat>("concat");
  registry.add<substring>("substring");
  registry.add<substringFor>("substring_for");
  registerPatterns(registry);
}
