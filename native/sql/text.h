/// What functions of texts have in common.

#ifndef TWINJIT_SQL_TEXT_H
#define TWINJIT_SQL_TEXT_H

#include "sql/apply.h"

#include <cstring>

namespace twinjit::sql {

/// Whether a byte of UTF-8 is the first one of a character.
inline bool startsCharacter(char byte) { return (static_cast<uint8_t>(byte) & 0xc0) != 0x80; }

/// Gives where the text is at, so many characters behind the beginning of one.
inline int64_t placeBehind(Text text, int64_t place, int64_t characters) {
  while (place < text.length && characters > 0) {
    ++place;
    while (place < text.length && !startsCharacter(text.data[place]))
      ++place;
    --characters;
  }
  return place;
}

inline bool isDigit(char byte) { return byte >= '0' && byte <= '9'; }

/// What `isspace` says in the locale C.
inline bool isWhite(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

/// An ASCII letter in lower case; what is none, as it is.
inline char lowered(char byte) {
  return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
}

/// A text without the white space around it.
inline Text stripped(const char *text, int64_t bytes) {
  while (bytes > 0 && isWhite(text[bytes - 1]))
    --bytes;
  for (; bytes > 0 && isWhite(*text); --bytes)
    ++text;
  return {text, bytes};
}

/// Whether a text is the beginning of a word, of `least` characters or more, whatever the case.
inline bool begins(Text text, const char *word, int64_t least) {
  auto length = static_cast<int64_t>(std::strlen(word));
  if (text.length < least || text.length > length)
    return false;
  for (int64_t place = 0; place < text.length; ++place)
    if (lowered(text.data[place]) != word[place])
      return false;
  return true;
}

/// Whether a text is a word, whatever the case.
inline bool isWord(Text text, const char *word) {
  return begins(text, word, static_cast<int64_t>(std::strlen(word)));
}

/// Goes over a sign, and says whether it is a minus.
inline bool takeSign(const char *&next, const char *end) {
  bool isNegative = next < end && *next == '-';
  next += next < end && (*next == '-' || *next == '+');
  return isNegative;
}

/// Makes a result in the arena.
inline Code copied(const char *start, const char *end, Arena *arena, Text *result) {
  char *copy = arena->allocate(end - start);
  if (!copy)
    return code(Failure::OutOfMemory);
  std::memcpy(copy, start, end - start);
  *result = {copy, end - start};
  return 0;
}

void registerPatterns(Registry &registry);
void registerFloatText(Registry &registry);
void registerNumericText(Registry &registry);

} // namespace twinjit::sql

#endif // TWINJIT_SQL_TEXT_H
