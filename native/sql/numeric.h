/// What numerics have in common with texts and dates.

#ifndef TWINJIT_SQL_NUMERIC_H
#define TWINJIT_SQL_NUMERIC_H

#include "sql/runtime.h"

namespace twinjit::sql {

/// A power of ten, of at most 38 digits behind the first.
inline Numeric powerOfTen(int digits) {
  struct Table {
    Numeric powers[39];
    constexpr Table() : powers() {
      powers[0] = 1;
      for (int index = 1; index < 39; ++index)
        powers[index] = powers[index - 1] * 10;
    }
  };
  static constexpr Table table;
  return table.powers[digits];
}

/// Brings a value to another scale, rounding half away from zero.
Code rescaled(Numeric value, int from, int to, Numeric *result);

/// Writes decimal digits, of which there are at most 39; gives where they end.
char *writeDigits(unsigned __int128 value, char *text);

} // namespace twinjit::sql

#endif // TWINJIT_SQL_NUMERIC_H
