/// Dates and timestamps as PostgreSQL reads them (DateStyle ISO, MDY).

#ifndef TWINJIT_SQL_DATES_READER_H
#define TWINJIT_SQL_DATES_READER_H

#include "sql/calendar.h"

namespace twinjit::sql {

/// What a text says: days since 1970, and microseconds since the day began, which may be all of it
/// and, where the last second is the 60th, more.
struct ReadMoment {
  int64_t days;
  int64_t microseconds;
};

/// Reads a date, and a time if there is one, in any order:
///
/// - `2024-02-29`, `2024-2-29`, `2024/02/29`, `2/29/2024`, `20240229`; `2024.060` and `2024-060`,
///   of the year's days; `J2460370`, of Julian days; `epoch`, alone;
/// - `29 Feb 2024`, `Feb 29, 2024`, `29-Feb-2024`, `2024-Feb-29`, with the day of the week or
///   without;
/// - `12:30`, `12:30:00.5`, `00:30 PM`, `24:00:00`, and behind a date `123000` and `T12:30`;
/// - AD and BC, and a zone, which does not count: `Z`, `UTC`, `+05:30`.
///
/// All else, of which PostgreSQL reads some, is TimestampSyntax: years of two digits, names of
/// zones, infinities, and words that depend on the clock. So are zones that are out of range.
Failure readMoment(Text text, int bytes, ReadMoment &moment);

} // namespace twinjit::sql

#endif // TWINJIT_SQL_DATES_READER_H
