/// Dates and timestamps as PostgreSQL writes them (DateStyle ISO).

#ifndef TWINJIT_SQL_DATE_TEXT_H
#define TWINJIT_SQL_DATE_TEXT_H

#include "sql/arena.h"
#include "sql/calendar.h"

namespace twinjit::sql {

/// Writes a day; gives where the text ends. At most 32 bytes.
char *writeDay(int64_t days, char *text);

/// Writes a timestamp; gives where the text ends. At most 64 bytes.
char *writeMoment(Moment moment, int unit, char *text);

/// Copies a text into an arena.
Code copiedText(const char *start, const char *end, Arena *arena, Text *result);

} // namespace twinjit::sql

#endif // TWINJIT_SQL_DATE_TEXT_H
