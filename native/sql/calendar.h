/// The Gregorian calendar, also before it was, as PostgreSQL has it.

#ifndef TWINJIT_SQL_CALENDAR_H
#define TWINJIT_SQL_CALENDAR_H

#include "sql/runtime.h"

namespace twinjit::sql {

/// A day. Years are counted through: 0 is 1 BC.
struct Day {
  int64_t year;
  int month; // from 1
  int day;   // from 1
};

inline int64_t floorDivide(int64_t value, int64_t by) {
  int64_t quotient = value / by;
  return quotient - ((value % by != 0) && ((value < 0) != (by < 0)));
}

inline int64_t floorModulo(int64_t value, int64_t by) {
  int64_t rest = value % by;
  return rest != 0 && ((rest < 0) != (by < 0)) ? rest + by : rest;
}

inline bool isLeap(int64_t year) {
  return floorModulo(year, 4) == 0 && (floorModulo(year, 100) != 0 || floorModulo(year, 400) == 0);
}

inline int daysOfMonth(int64_t year, int month) {
  constexpr int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return days[month - 1] + (month == 2 && isLeap(year));
}

/// Days since 1970. The year is taken to begin in March, so that its last day is the leap day.
inline int64_t daysOf(int64_t year, int month, int day) {
  int64_t shifted = month > 2 ? year : year - 1;
  int64_t era = floorDivide(shifted, 400), yearOfEra = floorModulo(shifted, 400);
  int64_t dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  int64_t dayOfEra = 365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
  return era * 146'097 + dayOfEra - 719'468;
}

/// The reverse.
inline Day dayOf(int64_t days) {
  int64_t shifted = days + 719'468;
  int64_t era = floorDivide(shifted, 146'097), dayOfEra = floorModulo(shifted, 146'097);
  int64_t yearOfEra = (dayOfEra - dayOfEra / 1'460 + dayOfEra / 36'524 - dayOfEra / 146'096) / 365;
  int64_t dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
  auto month = static_cast<int>((5 * dayOfYear + 2) / 153); // from March on
  auto day = static_cast<int>(dayOfYear - (153 * month + 2) / 5 + 1);
  month = month < 10 ? month + 3 : month - 9;
  return {era * 400 + yearOfEra + (month <= 2), month, day};
}

/// Monday is 1, Sunday 7.
inline int isoDayOfWeek(int64_t days) { return static_cast<int>(floorModulo(days + 3, 7)) + 1; }

constexpr int64_t secondsOfDay = 86'400;

/// Ticks of a unit, which is given in decimal digits of a second: 0, 3, 6 or 9.
inline int64_t ticksOfSecond(int unit) {
  constexpr int64_t ticks[] = {1, 0, 0, 1'000, 0, 0, 1'000'000, 0, 0, 1'000'000'000};
  return ticks[unit];
}

inline int64_t ticksOfDay(int unit) { return secondsOfDay * ticksOfSecond(unit); }

/// A timestamp's day, and the ticks since it began.
struct Moment {
  int64_t days;
  int64_t ticks;
};

inline Moment momentOf(int64_t value, int unit) {
  int64_t perDay = ticksOfDay(unit);
  return {floorDivide(value, perDay), floorModulo(value, perDay)};
}

// PostgreSQL's dates are from 4714-11-24 BC, which is the Julian day 0, to 5874897-12-31.
constexpr int64_t julianOf1970 = 2'440'588, daysOf2000 = 10'957;
constexpr int64_t firstDay = -julianOf1970, endOfDays = 2'147'483'494 - julianOf1970;

inline Code checkedDate(int64_t days, int32_t *result) {
  if (days < firstDay || days >= endOfDays)
    return code(Failure::DateRange);
  *result = static_cast<int32_t>(days);
  return 0;
}

/// Whether PostgreSQL has timestamps on a day: they end with the year 294276.
inline bool hasTimestamps(int64_t days) {
  constexpr int64_t endOfTimestamps = 106'751'983 + daysOf2000;
  return days >= firstDay && days < endOfTimestamps;
}

/// Makes a timestamp that PostgreSQL has and 64 bits hold. Ticks may be of later days.
inline Code checkedTimestamp(int64_t days, Numeric ticks, int unit, int64_t *result) {
  Numeric value = static_cast<Numeric>(days) * ticksOfDay(unit) + ticks;
  auto narrow = static_cast<int64_t>(value);
  if (narrow != value || !hasTimestamps(momentOf(narrow, unit).days))
    return code(Failure::TimestampRange);
  *result = narrow;
  return 0;
}

} // namespace twinjit::sql

#endif // TWINJIT_SQL_CALENDAR_H
