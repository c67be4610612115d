#include "sql/dates_times.h"
#include "sql/dates_fields.h"

#include <charconv>
#include <cmath>

using namespace twinjit::sql;

namespace {

constexpr Failure none = Failure::None, syntax = Failure::TimestampSyntax,
                  range = Failure::DatetimeFieldRange;

bool isPoint(std::string_view text) { return !text.empty() && text[0] == '.'; }
bool isColon(std::string_view text) { return !text.empty() && text[0] == ':'; }

/// Reads `.5` or `.`, and nothing else, in microseconds; by way of a float, as PostgreSQL does.
bool readFraction(std::string_view text, int64_t &microseconds) {
  double fraction = 0;
  if (text.size() > 1) {
    // Without a leading zero, too: from_chars reads it as strtod does.
    const char *end = text.data() + text.size();
    auto [last, error] = std::from_chars(text.data(), end, fraction, std::chars_format::fixed);
    if (last != end || error != std::errc())
      return false;
  }
  microseconds = static_cast<int64_t>(std::rint(fraction * 1'000'000));
  return true;
}

Failure takeTime(int64_t hours, int64_t minutes, int64_t seconds, int64_t fraction,
                 TimeOfDay &time) {
  if (hours > 24 || minutes > 59 || seconds > 60)
    return range;
  time = {hours, (minutes * 60 + seconds) * 1'000'000 + fraction};
  return hours * 3'600'000'000 + time.microsecondsOfHour > 86'400'000'000 ? range : none;
}

} // namespace

bool twinjit::sql::takeInteger(std::string_view &text, int64_t &value) {
  value = 0;
  for (; !text.empty() && isDigit(text[0]); text.remove_prefix(1)) {
    value = 10 * value + (text[0] - '0');
    if (value > 0x7fff'ffff)
      return false;
  }
  return true;
}

Failure twinjit::sql::readTime(std::string_view text, TimeOfDay &time) {
  int64_t first = 0, second = 0, third = 0, fraction = 0;
  if (!takeInteger(text, first))
    return range;
  text.remove_prefix(1); // a colon
  if (!takeInteger(text, second))
    return range;
  bool isHour = !isPoint(text);
  if (isColon(text)) {
    text.remove_prefix(1);
    if (!takeInteger(text, third))
      return range;
  }
  if (!text.empty() && !(isPoint(text) && readFraction(text, fraction)))
    return syntax;
  return isHour ? takeTime(first, second, third, fraction, time)
                : takeTime(0, first, second, fraction, time);
}

Failure twinjit::sql::readJoinedTime(std::string_view text, TimeOfDay &time) {
  std::string_view whole = text.substr(0, text.find('.'));
  if (whole.size() != 4 && whole.size() != 6)
    return syntax;
  int64_t fraction = 0;
  if (!readFraction(text.substr(whole.size()), fraction))
    return syntax;
  int64_t parts[3] = {0, 0, 0};
  for (size_t part = 0; 2 * part < whole.size(); ++part) {
    std::string_view digits = whole.substr(2 * part, 2);
    takeInteger(digits, parts[part]);
  }
  Failure failure = takeTime(parts[0], parts[1], parts[2], fraction, time);
  return failure == none ? none : syntax;
}

bool twinjit::sql::isZone(std::string_view text) {
  size_t length = text.size();
  int64_t hours = 0, minutes = 0, seconds = 0;
  text.remove_prefix(1);
  bool isFine = takeInteger(text, hours);
  if (isColon(text)) {
    text.remove_prefix(1);
    isFine = isFine && takeInteger(text, minutes);
    if (isColon(text)) {
      text.remove_prefix(1);
      isFine = isFine && takeInteger(text, seconds);
    }
  } else if (length > 3) {
    minutes = hours % 100;
    hours /= 100;
  }
  return isFine && text.empty() && hours < 16 && minutes < 60 && seconds < 60;
}
