/// What the functions have in common that compiled kernels of SQL call.
///
/// They are listed, with what each takes and gives, in src/twinjit/sql/runtime.py. They run in any
/// number of threads without the GIL, throw nothing, and take memory from an `Arena` alone.

#ifndef TWINJIT_SQL_RUNTIME_H
#define TWINJIT_SQL_RUNTIME_H

#include <cstdint>

#define TWINJIT_SQL extern "C" __attribute__((visibility("default")))

namespace twinjit::sql {

/// How an expression fails; the numbers are those of src/twinjit/sql/failures.py.
enum class Failure : int32_t {
  None = 0,
  Int2Range = 1,
  Int4Range = 2,
  Int8Range = 3,
  FloatOverflow = 4,
  FloatUnderflow = 5,
  DivisionByZero = 6,
  NumericRange = 7,
  NumericSpecial = 8,
  DateRange = 9,
  TimestampRange = 10,
  NegativeSubstring = 11,
  SquareRootOfNegative = 12,
  LogarithmOfZero = 13,
  LogarithmOfNegative = 14,
  ZeroToNegativePower = 15,
  ComplexPower = 16,
  PatternEndsWithEscape = 17,
  LongEscape = 18,
  BoolSyntax = 19,
  Int2Syntax = 20,
  Int4Syntax = 21,
  Int8Syntax = 22,
  Float4Syntax = 23,
  Float8Syntax = 24,
  NumericSyntax = 25,
  DateSyntax = 26,
  TimestampSyntax = 27,
  DatetimeFieldRange = 28,
  Int2TextRange = 29,
  Int4TextRange = 30,
  Int8TextRange = 31,
  Float4TextRange = 32,
  Float8TextRange = 33,
  OutOfMemory = 34,
};

/// What a function returns that can fail: 0, or a failure's number.
using Code = int32_t;

inline Code code(Failure failure) { return static_cast<Code>(failure); }

/// A text in UTF-8, not terminated, in memory of somebody else.
struct Text {
  const char *data;
  int64_t length;
};

/// A numeric at a scale that is known from elsewhere.
using Numeric = __int128;

inline Numeric numericOf(uint64_t low, int64_t high) {
  return static_cast<Numeric>((static_cast<unsigned __int128>(high) << 64) | low);
}

} // namespace twinjit::sql

#endif // TWINJIT_SQL_RUNTIME_H
