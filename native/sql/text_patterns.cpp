/// LIKE and ILIKE.

#include "sql/text.h"

#include <algorithm>
#include <cstring>

using namespace twinjit::sql;

namespace {

char same(char byte) { return byte; }

template <char fold(char)> bool areEqual(const char *left, const char *right, int64_t bytes) {
  return std::equal(left, left + bytes, right,
                    [](char one, char other) { return fold(one) == fold(other); });
}

/// Finds a word by a hash of as many bytes of the text, which rolls over it; -1 where there is
/// none.
template <char fold(char)> int64_t rollTo(Text text, Text word) {
  constexpr uint64_t factor = 0x9e3779b97f4a7c15;
  auto value = [](char byte) { return static_cast<uint64_t>(static_cast<uint8_t>(fold(byte))); };
  if (word.length > text.length)
    return -1;
  uint64_t wanted = 0, seen = 0, leaving = 1;
  for (int64_t place = 0; place < word.length; ++place) {
    wanted = wanted * factor + value(word.data[place]);
    seen = seen * factor + value(text.data[place]);
    leaving *= factor;
  }
  for (int64_t place = 0;; ++place) {
    const char *first = text.data + place;
    if (seen == wanted && areEqual<fold>(first, word.data, word.length))
      return place;
    if (place + word.length == text.length)
      return -1;
    seen = seen * factor + value(first[word.length]) - leaving * value(*first);
  }
}

/// Finds a word, in time that is linear in both; -1 where there is none.
template <char fold(char)> int64_t find(Text text, Text word) {
  if constexpr (fold != same)
    return rollTo<fold>(text, word);
  const void *found = memmem(text.data, text.length, word.data, word.length);
  return found ? static_cast<const char *>(found) - text.data : -1;
}

/// A pattern, a part at a time.
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

  /// Gives a byte, and those behind it that stand for themselves.
  Text literalAt(int64_t byte) const {
    int64_t end = byte + 1, next = end;
    while (at(end, next) == Part::Byte && next == end)
      ++end;
    return {pattern.data + byte, end - byte};
  }

  char operator[](int64_t place) const { return pattern.data[place]; }

private:
  bool isEscape(int64_t place) const {
    return escape.length > 0 && pattern.data[place] == *escape.data &&
           place + escape.length <= pattern.length &&
           std::memcmp(pattern.data + place, escape.data, escape.length) == 0;
  }

  Text pattern;
  Text escape;
};

/// How far a text and a pattern agree. What is behind a `%` is tried where its first bytes are next
/// in the text, until it agrees; another `%` behind it ends the trying.
template <char fold(char)> class Matcher {
public:
  Matcher(Text text, Pattern pattern) : text(text), pattern(pattern) {}

  Code match(uint8_t *result) {
    Step step = Step::On;
    while (step == Step::On) {
      step = matchPart();
      if (step == Step::Differs)
        step = retry();
    }
    if (step == Step::Broken)
      return code(Failure::PatternEndsWithEscape);
    *result = step == Step::True;
    return 0;
  }

private:
  using Part = Pattern::Part;
  enum class Step : uint8_t { On, Differs, True, False, Broken };

  Step matchPart() {
    // Only a text that is left lets PostgreSQL see that a pattern is broken.
    if (at >= text.length)
      return onlyAnyFollows() ? Step::True : Step::False;
    int64_t byte = 0;
    switch (pattern.at(place, byte)) {
    case Part::AnyCharacters:
      return skipAny();
    case Part::OneCharacter:
      at = placeBehind(text, at, 1);
      ++place;
      return Step::On;
    case Part::Byte:
      if (fold(pattern[byte]) != fold(text.data[at]))
        return Step::Differs;
      ++at;
      place = byte + 1;
      return Step::On;
    case Part::End:
      return Step::Differs;
    default:
      return Step::Broken;
    }
  }

  bool onlyAnyFollows() const {
    int64_t byte = 0, next = place;
    while (pattern.at(next, byte) == Part::AnyCharacters)
      ++next;
    return pattern.at(next, byte) == Part::End;
  }

  /// Goes over `%`, and what else of them and of `_` follows.
  Step skipAny() {
    int64_t byte = 0;
    Part part = pattern.at(place, byte);
    for (; part == Part::AnyCharacters || part == Part::OneCharacter;
         part = pattern.at(++place, byte)) {
      if (part == Part::AnyCharacters)
        continue;
      if (at >= text.length)
        return Step::False;
      at = placeBehind(text, at, 1);
    }
    // As PostgreSQL says it, whatever of the text is left.
    if (part == Part::Broken)
      return Step::Broken;
    if (part == Part::End)
      return Step::True;
    literal = pattern.literalAt(byte);
    behindLiteral = byte + literal.length;
    isLast = pattern.at(behindLiteral, byte) == Part::End;
    tryAt = at;
    return seek();
  }

  /// Goes behind the literal where it is next.
  Step seek() {
    int64_t lastPlace = text.length - literal.length;
    if (lastPlace < tryAt)
      return Step::False;
    if (isLast)
      return areEqual<fold>(text.data + lastPlace, literal.data, literal.length) ? Step::True
                                                                                 : Step::False;
    int64_t found = find<fold>({text.data + tryAt, text.length - tryAt}, literal);
    if (found < 0)
      return Step::False;
    tryAt += found;
    at = tryAt + literal.length;
    place = behindLiteral;
    return Step::On;
  }

  Step retry() {
    if (literal.length == 0)
      return Step::False;
    tryAt = placeBehind(text, tryAt, 1);
    return seek();
  }

  Text text;
  Pattern pattern;
  int64_t at = 0;            // in the text
  int64_t place = 0;         // in the pattern
  Text literal{nullptr, 0};  // behind the last `%`; none before there is one
  int64_t behindLiteral = 0; // in the pattern
  bool isLast = false;       // whether nothing follows the literal
  int64_t tryAt = 0;         // where in the text the literal is tried
};

template <char fold(char)>
Code like(const char *text, int64_t bytes, const char *pattern, int64_t patternBytes,
          const char *escape, int64_t escapeBytes, uint8_t *result) {
  Text one{escape, escapeBytes};
  if (placeBehind(one, 0, 1) < escapeBytes)
    return code(Failure::LongEscape);
  return Matcher<fold>({text, bytes}, Pattern({pattern, patternBytes}, one)).match(result);
}

} // namespace

void twinjit::sql::registerPatterns(Registry &registry) {
  registry.add<like<same>>("like");
  registry.add<like<lowered>>("ilike");
}
