#include "sql/dates_reader.h"
#include "sql/dates_fields.h"
#include "sql/dates_times.h"

using namespace twinjit::sql;

namespace {

constexpr Failure none = Failure::None, syntax = Failure::TimestampSyntax,
                  range = Failure::DatetimeFieldRange;

/// What is known by now, as bits.
enum : unsigned {
  Year = 1,
  Month = 2,
  DayOfMonth = 4,
  Date = Year | Month | DayOfMonth,
  DayOfYear = 8,
  Time = 16,
  Zone = 32,
  Era = 64,
  Meridian = 128,
  Weekday = 256,
};

/// Gives a field's meaning by what has been read before it.
class Reader {
public:
  explicit Reader(const TextFields &fields) : fields(fields) {}

  Failure read(ReadMoment &moment) {
    for (index = 0; index < fields.count(); ++index)
      if (Failure failure = readField(fields[index]); failure != none)
        return failure;
    if (awaited != WordKind::Unknown)
      return syntax;
    if (Failure failure = settleDate(); failure != none)
      return failure;
    if (Failure failure = settleTime(); failure != none)
      return failure;
    if (!hasAll(Date) || isShortYear)
      return syntax;
    moment.days = daysOf(year, static_cast<int>(month), static_cast<int>(day));
    moment.microseconds = time.hour * 3'600'000'000 + time.microsecondsOfHour;
    return none;
  }

private:
  Failure readField(const TextField &field) {
    switch (field.kind) {
    case FieldKind::Number:
      return readNumber(field.text);
    case FieldKind::Date:
      return hasAll(Month | DayOfMonth) || awaited != WordKind::Unknown ? syntax
                                                                        : readDate(field.text);
    case FieldKind::Time:
      if (awaited == WordKind::Julian)
        return syntax;
      awaited = WordKind::Unknown;
      return takeTime(readTime(field.text, time));
    case FieldKind::Zone:
      return awaited == WordKind::Unknown && isZone(field.text) ? add(Zone) : syntax;
    default:
      return awaited == WordKind::Unknown ? readWord(field.text) : syntax;
    }
  }

  bool has(unsigned bits) const { return known & bits; }
  bool hasAll(unsigned bits) const { return (known & bits) == bits; }

  /// Notes what has been read, which may not have been before.
  Failure add(unsigned bits) {
    if (has(bits))
      return syntax;
    known |= bits;
    return none;
  }

  /// Reads numbers and a month's name between signs.
  Failure readDate(std::string_view text) {
    std::string_view parts[TextFields::most];
    int count = 0;
    bool hasName = false;
    if (!splitDate(text, parts, count))
      return syntax;
    for (int part = 0; part < count; ++part) {
      if (!isLetter(parts[part][0]))
        continue;
      Word word = wordOf(parts[part]);
      if (word.kind != WordKind::Month || add(Month) != none)
        return syntax;
      month = word.value;
      hasName = true;
    }
    for (int part = 0; part < count; ++part)
      if (!isLetter(parts[part][0]))
        if (Failure failure = readPart(parts[part], hasName); failure != none)
          return failure;
    return (known & ~(DayOfYear | Zone)) == Date ? none : syntax; // a time comes after it
  }

  /// False where a part does not end with a sign, or nothing follows one. Of a word and a number
  /// without a sign between them, PostgreSQL drops a letter or digit.
  static bool splitDate(std::string_view text, std::string_view *parts, int &count) {
    auto isPart = [](char byte) { return isDigit(byte) || isLetter(byte); };
    while (!text.empty()) {
      while (!text.empty() && !isPart(text[0]))
        text.remove_prefix(1);
      if (text.empty() || count == TextFields::most)
        return false;
      size_t length = 0;
      while (length < text.size() && isPart(text[length]) &&
             isDigit(text[length]) == isDigit(text[0]))
        ++length;
      if (length < text.size() && isPart(text[length]))
        return false;
      parts[count++] = text.substr(0, length);
      text.remove_prefix(length < text.size() ? length + 1 : length);
    }
    return true;
  }

  /// Reads a number of which only its place says what it is.
  Failure readPart(std::string_view text, bool hasName) {
    int64_t value = 0;
    size_t digits = text.size();
    if (!takeInteger(text, value))
      return range;
    if (!text.empty())
      return syntax;
    if (digits == 3 && (known & Date) == Year && value >= 1 && value <= 366) {
      dayOfYear = value;
      return add(DayOfYear | Month | DayOfMonth);
    }
    switch (known & Date) {
    case 0:
      return digits > 2 ? takeYear(value, digits) : takeMonth(value);
    case Year | Month:
      return takeDay(value);
    case Month:
      return hasName && digits > 2 ? takeYear(value, digits) : takeDay(value);
    case Year:
      return takeMonth(value);
    case Month | DayOfMonth:
      return takeYear(value, digits);
    default: // a day comes after a month, so that all is known
      return syntax;
    }
  }

  Failure takeYear(int64_t value, size_t digits) {
    year = value;
    isShortYear = digits < 3;
    return add(Year);
  }

  Failure takeMonth(int64_t value) {
    month = value;
    return add(Month);
  }

  Failure takeDay(int64_t value) {
    day = value;
    return add(DayOfMonth);
  }

  Failure readNumber(std::string_view text) {
    if (awaited == WordKind::Julian)
      return readJulian(text);
    if (awaited == WordKind::TimeMark) {
      awaited = WordKind::Unknown;
      return takeJoinedTime(text);
    }
    size_t point = text.find('.');
    bool hasPoint = point != std::string_view::npos;
    if (hasPoint && !has(Date))
      return readDate(text);
    if (hasPoint)
      return point > 2 ? takeJoinedTime(text) : syntax;
    if (text.size() >= 6 && !(has(Date) && has(Time)))
      return hasAll(Date) ? takeJoinedTime(text) : readJoinedDate(text);
    return hasAll(Date) ? takeJoinedTime(text) : readPart(text, hasNamedMonth);
  }

  Failure readJulian(std::string_view text) {
    int64_t value = 0;
    awaited = WordKind::Unknown;
    if (!takeInteger(text, value))
      return range;
    if (!text.empty())
      return syntax;
    setDay(value - julianOf1970);
    isJulian = true;
    return add(Date);
  }

  /// Reads `20240229`.
  Failure readJoinedDate(std::string_view text) {
    std::string_view days = text.substr(text.size() - 2), months = text.substr(text.size() - 4, 2),
                     years = text.substr(0, text.size() - 4);
    isShortYear = years.size() < 3;
    if (!takeInteger(years, year)) // which PostgreSQL takes modulo 2^32
      return syntax;
    takeInteger(months, month);
    takeInteger(days, day);
    return add(Date);
  }

  Failure takeTime(Failure failure) { return failure == none ? add(Time) : failure; }

  Failure takeJoinedTime(std::string_view text) {
    return hasAll(Date) ? takeTime(readJoinedTime(text, time)) : syntax;
  }

  Failure readWord(std::string_view text) {
    Word word = wordOf(text);
    switch (word.kind) {
    case WordKind::Month:
      return readMonth(word.value);
    case WordKind::Weekday:
      return add(Weekday);
    case WordKind::Era:
      isBeforeChrist = word.value;
      return add(Era);
    case WordKind::Meridian:
      isAfternoon = word.value;
      return add(Meridian);
    case WordKind::Universal:
      return add(Zone);
    case WordKind::TimeMark:
      awaited = word.kind;
      return hasAll(Date) && index + 1 < fields.count() ? none : syntax;
    case WordKind::Julian:
      awaited = word.kind;
      return none;
    case WordKind::Filler:
      return none;
    default:
      return syntax;
    }
  }

  /// Takes a number before it for the day, which without a name would have been the month.
  Failure readMonth(int value) {
    Failure failure = none;
    if (has(Month) && !hasNamedMonth && !has(DayOfMonth) && month >= 1 && month <= 31)
      failure = takeDay(month);
    else
      failure = add(Month);
    hasNamedMonth = true;
    month = value;
    return failure;
  }

  /// Checks what is known of a date, and gives its place among all days.
  Failure settleDate() {
    if (has(Year) && !isJulian) {
      if (year == 0 && !isShortYear)
        return range;
      if (isBeforeChrist)
        year = 1 - year;
    }
    if (has(DayOfYear))
      setDay(daysOf(year, 1, 1) + dayOfYear - 1);
    if (has(Month) && (month < 1 || month > 12))
      return range;
    if (has(DayOfMonth) && (day < 1 || day > 31))
      return range;
    if (!hasAll(Date))
      return none;
    return day > daysOfMonth(year, static_cast<int>(month)) ? range : none;
  }

  Failure settleTime() {
    if (!has(Meridian))
      return none;
    if (time.hour > 12)
      return range;
    time.hour = time.hour % 12 + (isAfternoon ? 12 : 0);
    return none;
  }

  void setDay(int64_t days) {
    Day found = dayOf(days);
    year = found.year;
    month = found.month;
    day = found.day;
  }

  const TextFields &fields;
  int index = 0;
  unsigned known = 0;
  WordKind awaited = WordKind::Unknown; // a word that the next field belongs to
  int64_t year = 0;
  int64_t month = 0;
  int64_t day = 0;
  int64_t dayOfYear = 0;
  TimeOfDay time;
  bool hasNamedMonth = false;
  bool isShortYear = false;
  bool isJulian = false;
  bool isBeforeChrist = false;
  bool isAfternoon = false;
};

} // namespace

Failure twinjit::sql::readMoment(Text text, int bytes, ReadMoment &moment) {
  TextFields fields(bytes);
  if (!fields.split(text))
    return syntax;
  if (fields.count() == 1 && fields[0].kind == FieldKind::Word && fields[0].text == "epoch") {
    moment = {0, 0};
    return none;
  }
  return Reader(fields).read(moment);
}
