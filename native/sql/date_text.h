/// Dates and timestamps as PostgreSQL writes and reads them (DateStyle ISO, MDY).

#ifndef TWINJIT_SQL_DATE_TEXT_H
#define TWINJIT_SQL_DATE_TEXT_H

#include "sql/arena.h"
#include "sql/calendar.h"

namespace twinjit::sql {

/// What was read: days since 1970, and microseconds since the day began, which may be all of it.
struct WrittenMoment {
  int64_t days;
  int64_t microseconds;
};

/// Reads a date, and a time if there is one: `2024-02-29 12:30:00.5`, `20240229`, `2/29/2024`,
/// `29 Feb 2024`, `Feb 29, 2024`, with BC, `T` and a zone, which does not count. What depends on
/// the clock, infinities, and other forms, of which PostgreSQL reads some, are TimestampSyntax.
Failure readMoment(Text text, WrittenMoment &written);

/// Writes a day; gives where the text ends. At most 32 bytes.
char *writeDay(int64_t days, char *text);

/// Writes a timestamp; gives where the text ends. At most 64 bytes.
char *writeMoment(Moment moment, int unit, char *text);

/// Copies a text into an arena.
Code copiedText(const char *start, const char *end, Arena *arena, Text *result);

} // namespace twinjit::sql

#endif // TWINJIT_SQL_DATE_TEXT_H
