#include "sql/date_text.h"

#include <charconv>
#include <cmath>
#include <cstring>

using namespace twinjit::sql;

namespace {

constexpr Failure none = Failure::None, syntax = Failure::TimestampSyntax,
                  range = Failure::DatetimeFieldRange;

bool isDigit(char byte) { return byte >= '0' && byte <= '9'; }
bool isWhite(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }
char lowered(char byte) {
  return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
}
bool isLetter(char byte) { return lowered(byte) >= 'a' && lowered(byte) <= 'z'; }

/// A number, and how many digits it was written with.
struct Digits {
  int64_t value = 0;
  int count = 0;
};

/// What is read, from left to right.
class Reader {
public:
  explicit Reader(Text text) : next(text.data), end(text.data + text.length) {}

  char peek() const { return next < end ? *next : '\0'; }
  bool isAtEnd() const { return next == end; }

  bool take(char byte) {
    if (peek() != byte || isAtEnd())
      return false;
    ++next;
    return true;
  }

  void skipWhite() {
    while (next < end && isWhite(*next))
      ++next;
  }

  /// Takes digits, of which more than 18 are not a number.
  Digits digits() {
    Digits found;
    for (; next < end && isDigit(*next); ++next, ++found.count)
      if (found.count < 18)
        found.value = 10 * found.value + (*next - '0');
    return found;
  }

  /// Takes a word of letters, in small ones; empty if it is longer than any that is known.
  Text word() {
    int length = 0;
    for (; next < end && isLetter(*next); ++next, ++length)
      if (length < static_cast<int>(sizeof(letters)))
        letters[length] = lowered(*next);
    return {letters, length <= static_cast<int>(sizeof(letters)) ? length : 0};
  }

private:
  const char *next;
  const char *end;
  char letters[12];
};

bool isWord(Text text, const char *word) {
  return text.length == static_cast<int64_t>(std::strlen(word)) &&
         std::memcmp(text.data, word, text.length) == 0;
}

/// The number of a month by its name, or by the first three letters of it; 0 for none.
int monthNamed(Text word) {
  static constexpr const char *names[] = {"january",   "february", "march",    "april",
                                          "may",       "june",     "july",     "august",
                                          "september", "october",  "november", "december"};
  for (int month = 0; month < 12; ++month) {
    Text shortened{names[month], 3};
    if (isWord(word, names[month]) ||
        (word.length == 3 && std::memcmp(word.data, shortened.data, 3) == 0))
      return month + 1;
  }
  return isWord(word, "sept") ? 9 : 0;
}

/// Parts of a date, as they were read.
struct Parts {
  Digits year;
  int64_t month = 0;
  int64_t day = 0;
  bool isBeforeChrist = false;
};

class MomentReader {
public:
  explicit MomentReader(Text text) : reader(text) {}

  Failure read(WrittenMoment &written) {
    reader.skipWhite();
    Failure failure = readDate();
    if (failure != none)
      return failure;
    // PostgreSQL reads no T behind `29-Feb-2024`.
    if (!isNamedBetween && (reader.take('T') || reader.take('t')))
      if (!isDigit(reader.peek()))
        return syntax;
    reader.skipWhite();
    if (isDigit(reader.peek()) && (failure = readTime(written.microseconds)) != none)
      return failure;
    if ((failure = readTail()) != none)
      return failure;
    return settle(written.days);
  }

private:
  Failure readDate() {
    if (isLetter(reader.peek()))
      return readMonthFirst();
    Digits first = reader.digits();
    if (first.count >= 8 && !isSeparator(reader.peek())) {
      parts.year = {first.value / 10'000, first.count - 4};
      parts.month = first.value / 100 % 100;
      parts.day = first.value % 100;
      return none;
    }
    char separator = reader.peek();
    if (first.count == 0 || !(separator == '-' || separator == '/' || isWhite(separator)))
      return syntax;
    return isWhite(separator) ? readDayFirst(first) : readSeparated(first, separator);
  }

  static bool isSeparator(char byte) { return byte == '-' || byte == '/' || byte == '.'; }

  /// `2024-2-29`, or `2/29/2024`, as the number of digits says.
  Failure readSeparated(Digits first, char separator) {
    reader.take(separator);
    if (isLetter(reader.peek()))
      return readNamedBetween(first, separator);
    Digits second = reader.digits();
    if (!reader.take(separator))
      return syntax;
    Digits third = reader.digits();
    if (second.count == 0 || second.count > 2 || third.count == 0)
      return syntax;
    if (first.count > 2) {
      if (third.count > 2)
        return syntax;
      parts.year = first;
      parts.month = second.value;
      parts.day = third.value;
      return none;
    }
    if (third.count < 3)
      return syntax; // years of two digits could be anything
    parts.month = first.value;
    parts.day = second.value;
    parts.year = third;
    return none;
  }

  /// `29-Feb-2024`, or `2024-Feb-29`.
  Failure readNamedBetween(Digits first, char separator) {
    isNamedBetween = true;
    parts.month = monthNamed(reader.word());
    if (!parts.month || !reader.take(separator))
      return syntax;
    Digits last = reader.digits();
    bool isYearFirst = first.count > 2;
    parts.year = isYearFirst ? first : last;
    Digits day = isYearFirst ? last : first;
    parts.day = day.value;
    return parts.year.count < 4 || day.count == 0 || day.count > 2 ? syntax : none;
  }

  /// `29 Feb 2024`.
  Failure readDayFirst(Digits day) {
    reader.skipWhite();
    parts.day = day.value;
    parts.month = monthNamed(reader.word());
    reader.skipWhite();
    parts.year = reader.digits();
    bool isDay = day.value >= 1 && day.value <= 31;
    return parts.month && isDay && isPlain(parts.year, day) ? none : syntax;
  }

  /// Beside a month's name, longer numbers are something else to PostgreSQL.
  static bool isPlain(Digits year, Digits day) {
    return (year.count == 4 || year.count == 5) && (day.count == 1 || day.count == 2);
  }

  /// `Feb 29, 2024`, or `epoch`.
  Failure readMonthFirst() {
    Text word = reader.word();
    if (isWord(word, "epoch")) {
      parts = {{1970, 4}, 1, 1, false};
      return none;
    }
    parts.month = monthNamed(word);
    reader.skipWhite();
    Digits day = reader.digits();
    reader.take(',');
    reader.skipWhite();
    parts.day = day.value;
    parts.year = reader.digits();
    return parts.month && isPlain(parts.year, day) ? none : syntax;
  }

  Failure readTime(int64_t &microseconds) {
    hasTime = true;
    Digits hour = reader.digits();
    if (hour.count > 2 || !reader.take(':'))
      return syntax;
    Digits minute = reader.digits(), second;
    int64_t fraction = 0;
    if (minute.count == 0 || minute.count > 2)
      return syntax;
    if (reader.take(':')) {
      second = reader.digits();
      if (second.count == 0 || second.count > 2)
        return syntax;
      if (reader.take('.'))
        fraction = readFraction();
    }
    int64_t total = (hour.value * 60 + minute.value) * 60 + second.value;
    microseconds = total * 1'000'000 + fraction;
    bool isIn = minute.value < 60 && second.value <= 60 && hour.value <= 24;
    return isIn && microseconds <= secondsOfDay * 1'000'000 ? none : range;
  }

  /// Gives microseconds, by way of a float, as PostgreSQL does.
  int64_t readFraction() {
    char text[48] = "0.";
    size_t length = 2;
    for (; isDigit(reader.peek()); reader.take(reader.peek()))
      if (length < sizeof(text)) // more digits than a float tells apart
        text[length++] = reader.peek();
    double fraction = 0;
    std::from_chars(text, text + length, fraction);
    return static_cast<int64_t>(std::rint(fraction * 1'000'000));
  }

  /// A zone, and what says before or after Christ.
  Failure readTail() {
    reader.skipWhite();
    // A minus behind a date would be part of it.
    if (reader.take('+') || (hasTime && reader.take('-'))) {
      Digits zone = reader.digits();
      while (reader.take(':'))
        reader.digits();
      if (zone.count == 0)
        return syntax;
      reader.skipWhite();
    }
    while (isLetter(reader.peek())) {
      Text word = reader.word();
      if (isWord(word, "bc"))
        parts.isBeforeChrist = true;
      else if (!isWord(word, "ad") && !isWord(word, "z") && !isWord(word, "utc"))
        return syntax;
      reader.skipWhite();
    }
    return reader.isAtEnd() ? none : syntax;
  }

  Failure settle(int64_t &days) {
    int64_t year = parts.year.value;
    if (parts.year.count > 9 || year == 0)
      return range;
    year = parts.isBeforeChrist ? 1 - year : year;
    if (parts.month < 1 || parts.month > 12 || parts.day < 1)
      return range;
    auto month = static_cast<int>(parts.month);
    if (parts.day > daysOfMonth(year, month))
      return range;
    days = daysOf(year, month, static_cast<int>(parts.day));
    return none;
  }

  Reader reader;
  Parts parts;
  bool hasTime = false;
  bool isNamedBetween = false; // the month, between signs
};

char *writePadded(int64_t value, int digits, char *text) {
  char written[24];
  char *end = std::to_chars(written, written + sizeof(written), value).ptr;
  for (auto zeros = digits - (end - written); zeros > 0; --zeros)
    *text++ = '0';
  std::memcpy(text, written, end - written);
  return text + (end - written);
}

/// Writes a day without what says before Christ, which comes last.
char *writeDayAlone(Day day, char *text) {
  text = writePadded(day.year > 0 ? day.year : 1 - day.year, 4, text);
  *text++ = '-';
  text = writePadded(day.month, 2, text);
  *text++ = '-';
  return writePadded(day.day, 2, text);
}

char *writeEra(Day day, char *text) {
  if (day.year > 0)
    return text;
  std::memcpy(text, " BC", 3);
  return text + 3;
}

} // namespace

Failure twinjit::sql::readMoment(Text text, WrittenMoment &written) {
  written = {0, 0};
  return MomentReader(text).read(written);
}

char *twinjit::sql::writeDay(int64_t days, char *text) {
  Day day = dayOf(days);
  return writeEra(day, writeDayAlone(day, text));
}

char *twinjit::sql::writeMoment(Moment moment, int unit, char *text) {
  Day day = dayOf(moment.days);
  text = writeDayAlone(day, text);
  int64_t seconds = moment.ticks / ticksOfSecond(unit);
  const int64_t fields[] = {seconds / 3'600, seconds / 60 % 60, seconds % 60};
  for (int place = 0; place < 3; ++place) {
    *text++ = place == 0 ? ' ' : ':';
    text = writePadded(fields[place], 2, text);
  }
  if (int64_t fraction = moment.ticks % ticksOfSecond(unit)) {
    *text++ = '.';
    text = writePadded(fraction, unit, text);
    while (text[-1] == '0')
      --text;
  }
  return writeEra(day, text);
}

Code twinjit::sql::copiedText(const char *start, const char *end, Arena *arena, Text *result) {
  char *copy = arena->allocate(end - start);
  if (!copy)
    return code(Failure::OutOfMemory);
  std::memcpy(copy, start, end - start);
  *result = {copy, end - start};
  return 0;
}
