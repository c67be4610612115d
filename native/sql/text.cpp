/// Functions of texts, which are compared by bytes, as in PostgreSQL's locale C.

#include "sql/apply.h"

#include <algorithm>
#include <cstring>

using namespace twinjit::sql;

namespace {

bool startsCharacter(char byte) { return (static_cast<uint8_t>(byte) & 0xc0) != 0x80; }

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

char lowered(char byte) {
  return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
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

/// Gives where the character is that so many others come before.
int64_t placeOf(const char *text, int64_t bytes, int64_t from, int64_t characters) {
  int64_t place = from;
  while (place < bytes && characters > 0) {
    ++place;
    while (place < bytes && !startsCharacter(text[place]))
      ++place;
    --characters;
  }
  return place;
}

Code substring(const char *text, int64_t bytes, int32_t start, Text *result) {
  int64_t begin = placeOf(text, bytes, 0, std::max<int64_t>(start, 1) - 1);
  *result = {text + begin, bytes - begin};
  return 0;
}

/// From a start, counted from 1, which may lie before the text, for so many characters.
Code substringFor(const char *text, int64_t bytes, int32_t start, int32_t count, Text *result) {
  if (count < 0)
    return code(Failure::NegativeSubstring);
  int64_t end = static_cast<int64_t>(start) + count;
  int64_t first = std::max<int64_t>(start, 1);
  int64_t begin = placeOf(text, bytes, 0, first - 1);
  int64_t until = end > first ? placeOf(text, bytes, begin, end - first) : begin;
  *result = {text + begin, until - begin};
  return 0;
}

// LIKE

char same(char byte) { return byte; }

/// A pattern, a character at a time.
class Pattern {
public:
  enum class Part : uint8_t { Byte, OneCharacter, AnyCharacters, End, Broken };

  Pattern(Text pattern, Text escape) : pattern(pattern), escape(escape) {}

  /// Gives what stands at a place; and, of a byte, where it is.
  Part at(int64_t place, int64_t &byte) const {
    byte = place;
    if (place >= pattern.length)
      return Part::End;
    if (isEscape(place)) {
      byte = place + escape.length;
      return byte < pattern.length ? Part::Byte : Part::Broken;
    }
    if (pattern.data[place] == '%')
      return Part::AnyCharacters;
    return pattern.data[place] == '_' ? Part::OneCharacter : Part::Byte;
  }

  char operator[](int64_t place) const { return pattern.data[place]; }

private:
  bool isEscape(int64_t place) const {
    return escape.length > 0 && place + escape.length <= pattern.length &&
           std::memcmp(pattern.data + place, escape.data, escape.length) == 0;
  }

  Text pattern;
  Text escape;
};

/// How far a text and a pattern agree: the last `%` takes one character more whenever they do not.
template <char fold(char)> class Matcher {
public:
  Matcher(Text text, Pattern pattern) : text(text), pattern(pattern) {}

  Code match(uint8_t *result) {
    while (true) {
      int64_t byte = 0;
      switch (pattern.at(place, byte)) {
      case Pattern::Part::AnyCharacters:
        if (at >= text.length)
          return decided(onlyAnyFollows(), result);
        if (Code failed = skipAny())
          return failed;
        if (isDecided)
          break;
        continue;
      case Pattern::Part::OneCharacter:
        if (at >= text.length)
          return decided(false, result);
        at = placeOf(text.data, text.length, at, 1);
        ++place;
        continue;
      case Pattern::Part::End:
        if (at >= text.length)
          return decided(true, result);
        break;
      case Pattern::Part::Broken:
        if (at >= text.length)
          return decided(false, result);
        return code(Failure::PatternEndsWithEscape);
      case Pattern::Part::Byte:
        if (at >= text.length)
          return decided(false, result);
        if (fold(pattern[byte]) != fold(text.data[at]))
          break;
        ++at;
        place = byte + 1;
        continue;
      }
      if (isDecided)
        return decided(isTrue, result);
      if (!retry())
        return decided(false, result);
    }
  }

private:
  static Code decided(bool value, uint8_t *result) {
    *result = value;
    return 0;
  }

  bool onlyAnyFollows() const {
    int64_t byte = 0, next = place;
    while (pattern.at(next, byte) == Pattern::Part::AnyCharacters)
      ++next;
    return pattern.at(next, byte) == Pattern::Part::End;
  }

  /// Goes over `%`, and what else of them and of `_` follows.
  Code skipAny() {
    int64_t byte = 0;
    while (true) {
      Pattern::Part part = pattern.at(place, byte);
      if (part == Pattern::Part::OneCharacter) {
        if (at >= text.length) {
          isDecided = true;
          return 0;
        }
        at = placeOf(text.data, text.length, at, 1);
      } else if (part != Pattern::Part::AnyCharacters) {
        isDecided = isTrue = part == Pattern::Part::End;
        // As PostgreSQL says it, whatever of the text is left.
        if (part == Pattern::Part::Broken)
          return code(Failure::PatternEndsWithEscape);
        break;
      }
      ++place;
    }
    behindAny = place;
    retryAt = at;
    return 0;
  }

  bool retry() {
    if (behindAny < 0 || retryAt >= text.length)
      return false;
    retryAt = placeOf(text.data, text.length, retryAt, 1);
    at = retryAt;
    place = behindAny;
    return true;
  }

  Text text;
  Pattern pattern;
  int64_t at = 0;         // in the text
  int64_t place = 0;      // in the pattern
  int64_t behindAny = -1; // behind the last `%`
  int64_t retryAt = 0;    // where in the text what is behind it was tried
  bool isDecided = false;
  bool isTrue = false;
};

template <char fold(char)>
Code like(const char *text, int64_t bytes, const char *pattern, int64_t patternBytes,
          const char *escape, int64_t escapeBytes, uint8_t *result) {
  if (length(escape, escapeBytes) > 1)
    return code(Failure::LongEscape);
  Pattern parts({pattern, patternBytes}, {escape, escapeBytes});
  return Matcher<fold>({text, bytes}, parts).match(result);
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
  registry.add<like<same>>("like");
  registry.add<like<lowered>>("ilike");
}
