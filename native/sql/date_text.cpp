#include "sql/date_text.h"

#include <charconv>
#include <cstring>

using namespace twinjit::sql;

namespace {

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
