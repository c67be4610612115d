/// What texts of dates and timestamps are made of, as PostgreSQL takes them apart.

#ifndef TWINJIT_SQL_DATES_FIELDS_H
#define TWINJIT_SQL_DATES_FIELDS_H

#include "sql/runtime.h"

#include <string_view>

namespace twinjit::sql {

/// How a field looks, which does not say what it means: numbers may be dates or times.
enum class FieldKind : uint8_t { Number, Date, Time, Zone, Word };

struct TextField {
  FieldKind kind;
  std::string_view text;
};

inline bool isDigit(char byte) { return byte >= '0' && byte <= '9'; }
inline bool isLetter(char byte) { return byte >= 'a' && byte <= 'z'; } // of small ones

/// The fields of a text, with small letters alone.
class TextFields {
public:
  static constexpr int most = 25;
  /// Bytes that PostgreSQL has for the fields of a date or a timestamp, and a byte behind each.
  static constexpr int bytesOfDate = 129, bytesOfTimestamp = 153;

  explicit TextFields(int bytes) : limit(bytes) {}

  /// Takes a text apart; false where it is none of a date.
  bool split(Text text);

  int count() const { return found; }
  const TextField &operator[](int index) const { return fields[index]; }

private:
  char peek() const { return next < end ? *next : '\0'; }
  bool take();
  bool takeDigits();
  template <typename Condition> bool takeWhile(Condition condition);
  bool takeField(FieldKind &kind);
  bool takeNumber(FieldKind &kind);
  bool takeDate(FieldKind &kind);
  bool takeWord(FieldKind &kind);
  bool takeZone();

  const char *next = nullptr;
  const char *end = nullptr;
  char bytes[bytesOfTimestamp];
  int limit;
  int used = 0;
  int start = 0; // of the field that is taken
  TextField fields[most];
  int found = 0;
};

/// What words mean, but names of zones.
enum class WordKind : uint8_t {
  Unknown,
  Month,
  Weekday,
  Era,       // 1 before Christ
  Meridian,  // 1 after noon
  Universal, // time
  TimeMark,
  Julian,
  Epoch,
  Filler,
  Other, // which PostgreSQL knows, and we do not
};

struct Word {
  WordKind kind;
  int value;
};

Word wordOf(std::string_view text);

} // namespace twinjit::sql

#endif // TWINJIT_SQL_DATES_FIELDS_H
