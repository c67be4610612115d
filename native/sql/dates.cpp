/// Dates, which are days since 1970, and timestamps, which are ticks of a unit since then.

#include "sql/apply.h"
#include "sql/calendar.h"
#include "sql/date_text.h"
#include "sql/dates_fields.h"
#include "sql/dates_reader.h"
#include "sql/numeric.h"

#include <algorithm>

using namespace twinjit::sql;

namespace {

// Arithmetic

Code addDays(int32_t date, int32_t days, int32_t *result) {
  return checkedDate(static_cast<int64_t>(date) + days, result);
}

Code subtractDays(int32_t date, int32_t days, int32_t *result) {
  return checkedDate(static_cast<int64_t>(date) - days, result);
}

/// Ticks in a unit of microseconds; those that a coarser unit does not have are not there.
Numeric ticksOf(int64_t microseconds, int unit) {
  Numeric value = microseconds;
  return unit >= 6 ? value * ticksOfSecond(unit - 6) : value / ticksOfSecond(6 - unit);
}

/// Adds months, and brings the day back to the month's last; then days; then microseconds. On the
/// way, days may be later than what 64 bits hold since 1970, but not than PostgreSQL's.
Code addInterval(int64_t value, int32_t unit, int32_t months, int32_t days, int64_t microseconds,
                 int64_t *result) {
  Moment moment = momentOf(value, unit);
  if (months != 0) {
    Day day = dayOf(moment.days);
    int64_t month = day.year * 12 + day.month - 1 + months;
    int64_t year = floorDivide(month, 12);
    int ofYear = static_cast<int>(floorModulo(month, 12)) + 1;
    moment.days = daysOf(year, ofYear, std::min(day.day, daysOfMonth(year, ofYear)));
    if (!hasTimestamps(moment.days))
      return code(Failure::TimestampRange);
  }
  moment.days += days;
  if (days != 0 && !hasTimestamps(moment.days))
    return code(Failure::TimestampRange);
  return checkedTimestamp(moment.days, moment.ticks + ticksOf(microseconds, unit), unit, result);
}

// Conversions

Code dateToTimestamp(int32_t date, int32_t unit, int64_t *result) {
  if (checkedTimestamp(date, 0, unit, result))
    return code(Failure::DateRange);
  return 0;
}

Code timestampToDate(int64_t value, int32_t unit, int32_t *result) {
  return checkedDate(momentOf(value, unit).days, result);
}

/// Rounds half away from the year 2000, which PostgreSQL counts from.
Numeric rounded(Numeric value, int from, int to) {
  Numeric origin = static_cast<Numeric>(daysOf2000) * ticksOfDay(from);
  Numeric since = value - origin, by = ticksOfSecond(from - to);
  Numeric found = since < 0 ? -((-since + by / 2) / by) : (since + by / 2) / by;
  return found + origin / by;
}

Code rescale(int64_t value, int32_t from, int32_t to, int64_t *result) {
  if (to < from)
    *result = static_cast<int64_t>(rounded(value, from, to));
  else if (__builtin_mul_overflow(value, ticksOfSecond(to - from), result))
    return code(Failure::TimestampRange);
  return 0;
}

int32_t compare(int64_t left, int32_t unit, int64_t right, int32_t otherUnit) {
  int finest = std::max(unit, otherUnit);
  Numeric ours = static_cast<Numeric>(left) * ticksOfSecond(finest - unit);
  Numeric theirs = static_cast<Numeric>(right) * ticksOfSecond(finest - otherUnit);
  return ours < theirs ? -1 : ours > theirs;
}

// extract and date_trunc

/// Numbered as in src/twinjit/sql/runtime.py.
enum class Field : int32_t {
  Microseconds = 0,
  Milliseconds = 1,
  Second = 2,
  Minute = 3,
  Hour = 4,
  Day = 5,
  Week = 6,
  Month = 7,
  Quarter = 8,
  Year = 9,
  Decade = 10,
  Century = 11,
  Millennium = 12,
  IsoYear = 13,
  DayOfWeek = 14,
  IsoDayOfWeek = 15,
  DayOfYear = 16,
  Epoch = 17,
  Julian = 18,
};

/// The Thursday of a week says which year it belongs to.
int64_t isoYearOf(int64_t days) { return dayOf(days - isoDayOfWeek(days) + 4).year; }

int64_t isoWeekOf(int64_t days) {
  int64_t thursday = days - isoDayOfWeek(days) + 4;
  return (thursday - daysOf(dayOf(thursday).year, 1, 1)) / 7 + 1;
}

/// Centuries and millennia begin with the year 1, and there is no year 0.
int64_t periodOf(int64_t year, int64_t length) {
  return year > 0 ? (year + length - 1) / length : -((length - year) / length);
}

/// There is no year 0.
int64_t named(int64_t year) { return year > 0 ? year : year - 1; }

int64_t fieldOfDay(int64_t days, Field field) {
  Day day = dayOf(days);
  switch (field) {
  case Field::Day:
    return day.day;
  case Field::Week:
    return isoWeekOf(days);
  case Field::Month:
    return day.month;
  case Field::Quarter:
    return (day.month - 1) / 3 + 1;
  case Field::Year:
    return named(day.year);
  case Field::Decade:
    return floorDivide(day.year, 10);
  case Field::Century:
    return periodOf(day.year, 100);
  case Field::Millennium:
    return periodOf(day.year, 1'000);
  case Field::IsoYear:
    return named(isoYearOf(days));
  case Field::DayOfWeek:
    return isoDayOfWeek(days) % 7;
  case Field::IsoDayOfWeek:
    return isoDayOfWeek(days);
  case Field::DayOfYear:
    return days - daysOf(day.year, 1, 1) + 1;
  case Field::Julian:
    return days + julianOf1970;
  default:
    return days * secondsOfDay; // the epoch
  }
}

Code extractDate(int32_t date, int32_t field, int32_t scale, Numeric *result) {
  return rescaled(fieldOfDay(date, static_cast<Field>(field)), 0, scale, result);
}

/// A field of the time of day, at the scale `digits`.
Numeric fieldOfTime(int64_t ticks, int unit, Field field, int &digits) {
  int64_t perSecond = ticksOfSecond(unit), perMinute = 60 * perSecond, perHour = 60 * perMinute;
  digits = 0;
  switch (field) {
  case Field::Hour:
    return ticks / perHour;
  case Field::Minute:
    return ticks % perHour / perMinute;
  case Field::Second:
    digits = unit;
    return ticks % perMinute;
  case Field::Milliseconds:
    digits = unit - 3; // 1,000 of them are a second
    return ticks % perMinute;
  default:
    digits = unit - 6;
    return ticks % perMinute;
  }
}

/// Days since 4714-11-24 BC, and the part of a day; rounded half up.
Code extractJulian(Moment moment, int unit, int scale, Numeric *result) {
  Numeric whole = 0;
  if (Code failed = rescaled(moment.days + julianOf1970, 0, scale, &whole))
    return failed;
  int64_t perDay = ticksOfDay(unit), rest = moment.ticks;
  Numeric part = 0;
  for (int digit = 0; digit < scale; ++digit, rest = rest * 10 % perDay)
    part = part * 10 + rest * 10 / perDay;
  *result = whole + part + (rest >= perDay - rest);
  return 0;
}

/// Brings ticks to a scale. What it does not hold is left out, so that no second becomes 60.
Code extractTicks(Numeric ticks, int digits, int scale, Numeric *result) {
  if (digits <= scale)
    return rescaled(ticks, digits, scale, result);
  Numeric by = powerOfTen(digits - scale);
  *result = ticks / by - (ticks % by < 0);
  return 0;
}

Code extractTimestamp(int64_t value, int32_t unit, int32_t number, int32_t scale, Numeric *result) {
  auto field = static_cast<Field>(number);
  if (field == Field::Epoch)
    return extractTicks(value, unit, scale, result);
  Moment moment = momentOf(value, unit);
  if (field == Field::Julian)
    return extractJulian(moment, unit, scale, result);
  if (field > Field::Hour)
    return rescaled(fieldOfDay(moment.days, field), 0, scale, result);
  int digits = 0;
  Numeric found = fieldOfTime(moment.ticks, unit, field, digits);
  return extractTicks(found, digits, scale, result);
}

int64_t startOfPeriod(int64_t year, int64_t length) {
  return year > 0 ? (year + length - 1) / length * length - (length - 1)
                  : -((length - year) / length) * length + 1;
}

int64_t truncatedDay(int64_t days, Field field) {
  Day day = dayOf(days);
  switch (field) {
  case Field::Week:
    return days - isoDayOfWeek(days) + 1;
  case Field::Month:
    return daysOf(day.year, day.month, 1);
  case Field::Quarter:
    return daysOf(day.year, (day.month - 1) / 3 * 3 + 1, 1);
  case Field::Year:
    return daysOf(day.year, 1, 1);
  case Field::Decade:
    return daysOf(floorDivide(day.year, 10) * 10, 1, 1);
  case Field::Century:
    return daysOf(startOfPeriod(day.year, 100), 1, 1);
  case Field::Millennium:
    return daysOf(startOfPeriod(day.year, 1'000), 1, 1);
  default:
    return days;
  }
}

/// The ticks that are kept of a time of day come in multiples of this.
int64_t ticksOfField(Field field, int unit) {
  int64_t perSecond = ticksOfSecond(unit);
  switch (field) {
  case Field::Microseconds:
    return unit > 6 ? ticksOfSecond(unit - 6) : 1;
  case Field::Milliseconds:
    return unit > 3 ? ticksOfSecond(unit - 3) : 1;
  case Field::Second:
    return perSecond;
  case Field::Minute:
    return 60 * perSecond;
  case Field::Hour:
    return 3'600 * perSecond;
  default:
    return ticksOfDay(unit);
  }
}

Code truncate(int64_t value, int32_t unit, int32_t number, int64_t *result) {
  auto field = static_cast<Field>(number);
  Moment moment = momentOf(value, unit);
  moment.ticks -= moment.ticks % ticksOfField(field, unit);
  return checkedTimestamp(truncatedDay(moment.days, field), moment.ticks, unit, result);
}

// Texts

Code textToDate(const char *text, int64_t bytes, int32_t *result) {
  ReadMoment read{};
  Failure failure = readMoment({text, bytes}, TextFields::bytesOfDate, read);
  if (failure != Failure::None)
    return code(failure == Failure::TimestampSyntax ? Failure::DateSyntax : failure);
  return checkedDate(read.days, result);
}

/// PostgreSQL rounds to microseconds as it reads; a coarser unit then rounds once more.
Code textToTimestamp(const char *text, int64_t bytes, int32_t unit, int64_t *result) {
  ReadMoment read{};
  Failure failure = readMoment({text, bytes}, TextFields::bytesOfTimestamp, read);
  if (failure != Failure::None)
    return code(failure);
  int64_t days = read.days + floorDivide(read.microseconds, ticksOfDay(6));
  if (!hasTimestamps(days))
    return code(Failure::TimestampRange);
  int64_t microseconds = floorModulo(read.microseconds, ticksOfDay(6));
  if (unit >= 6)
    return checkedTimestamp(days, ticksOf(microseconds, unit), unit, result);
  Numeric value = static_cast<Numeric>(days) * ticksOfDay(6) + microseconds;
  return checkedTimestamp(0, rounded(value, 6, unit), unit, result);
}

Code dateToText(int32_t date, Arena *arena, Text *result) {
  char text[64];
  return copiedText(text, writeDay(date, text), arena, result);
}

Code timestampToText(int64_t value, int32_t unit, Arena *arena, Text *result) {
  Moment moment = momentOf(value, unit);
  char text[96];
  return copiedText(text, writeMoment(moment, unit, text), arena, result);
}

} // namespace

void twinjit::sql::registerDates(Registry &registry) {
  registry.add<addDays>("add_days");
  registry.add<subtractDays>("subtract_days");
  registry.add<addInterval>("add_interval");
  registry.add<extractDate>("extract_date");
  registry.add<extractTimestamp>("extract_timestamp");
  registry.add<truncate>("date_trunc");
  registry.add<dateToTimestamp>("date_to_timestamp");
  registry.add<timestampToDate>("timestamp_to_date");
  registry.add<rescale>("timestamp_rescale");
  registry.add<compare>("timestamp_compare");
  registry.add<textToDate>("text_to_date");
  registry.add<textToTimestamp>("text_to_timestamp");
  registry.add<dateToText>("date_to_text");
  registry.add<timestampToText>("timestamp_to_text");
}
