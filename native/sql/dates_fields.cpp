#include "sql/dates_fields.h"

using namespace twinjit::sql;

namespace {

char lowered(char byte) {
  return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
}
bool isWhite(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }
bool isAlphanumeric(char byte) { return isDigit(byte) || isLetter(lowered(byte)); }
bool isPunctuation(char byte) { return byte > ' ' && byte < '\x7f' && !isAlphanumeric(byte); }

struct Known {
  std::string_view text;
  Word word;
};

constexpr Known knownWords[] = {
    {"jan", {WordKind::Month, 1}},       {"january", {WordKind::Month, 1}},
    {"feb", {WordKind::Month, 2}},       {"february", {WordKind::Month, 2}},
    {"mar", {WordKind::Month, 3}},       {"march", {WordKind::Month, 3}},
    {"apr", {WordKind::Month, 4}},       {"april", {WordKind::Month, 4}},
    {"may", {WordKind::Month, 5}},       {"jun", {WordKind::Month, 6}},
    {"june", {WordKind::Month, 6}},      {"jul", {WordKind::Month, 7}},
    {"july", {WordKind::Month, 7}},      {"aug", {WordKind::Month, 8}},
    {"august", {WordKind::Month, 8}},    {"sep", {WordKind::Month, 9}},
    {"sept", {WordKind::Month, 9}},      {"september", {WordKind::Month, 9}},
    {"oct", {WordKind::Month, 10}},      {"october", {WordKind::Month, 10}},
    {"nov", {WordKind::Month, 11}},      {"november", {WordKind::Month, 11}},
    {"dec", {WordKind::Month, 12}},      {"december", {WordKind::Month, 12}},
    {"sun", {WordKind::Weekday, 0}},     {"sunday", {WordKind::Weekday, 0}},
    {"mon", {WordKind::Weekday, 1}},     {"monday", {WordKind::Weekday, 1}},
    {"tue", {WordKind::Weekday, 2}},     {"tues", {WordKind::Weekday, 2}},
    {"tuesday", {WordKind::Weekday, 2}}, {"wed", {WordKind::Weekday, 3}},
    {"weds", {WordKind::Weekday, 3}},    {"wednesday", {WordKind::Weekday, 3}},
    {"thu", {WordKind::Weekday, 4}},     {"thur", {WordKind::Weekday, 4}},
    {"thurs", {WordKind::Weekday, 4}},   {"thursday", {WordKind::Weekday, 4}},
    {"fri", {WordKind::Weekday, 5}},     {"friday", {WordKind::Weekday, 5}},
    {"sat", {WordKind::Weekday, 6}},     {"saturday", {WordKind::Weekday, 6}},
    {"ad", {WordKind::Era, 0}},          {"bc", {WordKind::Era, 1}},
    {"am", {WordKind::Meridian, 0}},     {"pm", {WordKind::Meridian, 1}},
    {"z", {WordKind::Universal, 0}},     {"zulu", {WordKind::Universal, 0}},
    {"utc", {WordKind::Universal, 0}},   {"gmt", {WordKind::Universal, 0}},
    {"t", {WordKind::TimeMark, 0}},      {"j", {WordKind::Julian, 0}},
    {"jd", {WordKind::Julian, 0}},       {"julian", {WordKind::Julian, 0}},
    {"epoch", {WordKind::Epoch, 0}},     {"at", {WordKind::Filler, 0}},
    {"on", {WordKind::Filler, 0}},       {"allballs", {WordKind::Other, 0}},
    {"d", {WordKind::Other, 0}},         {"dow", {WordKind::Other, 0}},
    {"doy", {WordKind::Other, 0}},       {"dst", {WordKind::Other, 0}},
    {"h", {WordKind::Other, 0}},         {"infinity", {WordKind::Other, 0}},
    {"isodow", {WordKind::Other, 0}},    {"isoyear", {WordKind::Other, 0}},
    {"m", {WordKind::Other, 0}},         {"mm", {WordKind::Other, 0}},
    {"now", {WordKind::Other, 0}},       {"s", {WordKind::Other, 0}},
    {"today", {WordKind::Other, 0}},     {"tomorrow", {WordKind::Other, 0}},
    {"y", {WordKind::Other, 0}},         {"yesterday", {WordKind::Other, 0}},
};

} // namespace

Word twinjit::sql::wordOf(std::string_view text) {
  for (const Known &each : knownWords)
    if (each.text == text)
      return each.word;
  return {WordKind::Unknown, 0};
}

bool TextFields::split(Text text) {
  next = text.data;
  end = text.data + text.length;
  while (next < end) {
    if (isWhite(*next)) {
      ++next;
      continue;
    }
    char first = *next;
    // Other signs are white space. A number that begins with a point is no date.
    if (isPunctuation(first) && first != '+' && first != '-' && first != '.') {
      ++next;
      continue;
    }
    FieldKind kind = FieldKind::Number;
    start = used;
    if (found == most || !takeField(kind))
      return false;
    fields[found++] = {kind, {bytes + start, static_cast<size_t>(used - start)}};
    ++used; // PostgreSQL ends each with a zero
  }
  return true;
}

bool TextFields::take() {
  if (used + 1 >= limit)
    return false;
  bytes[used++] = lowered(*next++);
  return true;
}

template <typename Condition> bool TextFields::takeWhile(Condition condition) {
  while (next < end && condition(*next))
    if (!take())
      return false;
  return true;
}

bool TextFields::takeDigits() { return takeWhile(isDigit); }

bool TextFields::takeField(FieldKind &kind) {
  if (isDigit(*next))
    return takeNumber(kind);
  if (isLetter(lowered(*next)))
    return takeWord(kind);
  kind = FieldKind::Zone;
  return (*next == '+' || *next == '-') && takeZone();
}

bool TextFields::takeNumber(FieldKind &kind) {
  if (!takeDigits())
    return false;
  kind = FieldKind::Number;
  char sign = peek();
  if (sign == '-' || sign == '/' || sign == '.')
    return takeDate(kind);
  if (sign != ':')
    return true;
  kind = FieldKind::Time;
  return takeWhile([](char byte) { return isDigit(byte) || byte == ':' || byte == '.'; });
}

/// Takes what follows the first number of a date: numbers or words between equal signs.
bool TextFields::takeDate(FieldKind &kind) {
  char sign = peek();
  if (!take())
    return false;
  kind = FieldKind::Date;
  if (!isDigit(peek()))
    return takeWhile([sign](char byte) { return isAlphanumeric(byte) || byte == sign; });
  if (!takeDigits())
    return false;
  if (peek() != sign) {
    if (sign == '.')
      kind = FieldKind::Number;
    return true;
  }
  return takeWhile([sign](char byte) { return isDigit(byte) || byte == sign; });
}

/// Takes a word, or a date that begins with one. A zone's name would look like such a date.
bool TextFields::takeWord(FieldKind &kind) {
  if (!takeWhile([](char byte) { return isLetter(lowered(byte)); }))
    return false;
  kind = FieldKind::Word;
  std::string_view text{bytes + start, static_cast<size_t>(used - start)};
  Word word = wordOf(text);
  bool isKeyword = word.kind != WordKind::Unknown && word.kind != WordKind::Universal;
  char sign = peek();
  bool isDate = sign == '-' || sign == '/' || sign == '.';
  if (!isDate && (isKeyword || !(sign == '+' || isDigit(sign))))
    return true;
  kind = FieldKind::Date;
  return takeWhile([](char byte) {
    return isAlphanumeric(byte) || byte == '+' || byte == '-' || byte == '/' || byte == '_' ||
           byte == '.' || byte == ':';
  });
}

bool TextFields::takeZone() {
  if (!take())
    return false;
  while (next < end && isWhite(*next))
    ++next;
  return isDigit(peek()) && takeWhile([](char byte) {
           return isDigit(byte) || byte == ':' || byte == '.' || byte == '-';
         });
}
