/// Times of day and zones in texts, as PostgreSQL reads them.

#ifndef TWINJIT_SQL_DATES_TIMES_H
#define TWINJIT_SQL_DATES_TIMES_H

#include "sql/runtime.h"

#include <string_view>

namespace twinjit::sql {

/// At most 24:00:00. A minute's last second may be the 60th.
struct TimeOfDay {
  int64_t hour = 0;
  int64_t microsecondsOfHour = 0;
};

/// Takes digits from the front of a text, of which there may be none; false beyond an int4.
bool takeInteger(std::string_view &text, int64_t &value);

/// Reads `12:30:00.5`, of which a colon comes first, and, as PostgreSQL does, `30:00.5`, of minutes
/// and seconds.
Failure readTime(std::string_view text, TimeOfDay &time);

/// Reads `1230` or `123000.5`. PostgreSQL takes hours from 25 to 99 and the like here; we do not.
Failure readJoinedTime(std::string_view text, TimeOfDay &time);

/// Whether a text that begins with a sign is `+05`, `+0530`, `+05:30` or `+05:30:15`, or less of
/// that, and in range.
bool isZone(std::string_view text);

} // namespace twinjit::sql

#endif // TWINJIT_SQL_DATES_TIMES_H
