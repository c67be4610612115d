/// Kinds of values, and columns of them.

#ifndef TWINJIT_SQL_KINDS_H
#define TWINJIT_SQL_KINDS_H

#include "sql/runtime.h"

#include <optional>
#include <string>

namespace twinjit::sql {

/// How SQL's kinds of values lie in dense columns. The numbers are written by Aggregator::save.
enum class Kind : uint8_t {
  Bool = 0, // a byte, 0 or 1
  Int2 = 1,
  Int4 = 2, // also dates
  Int8 = 3, // also timestamps
  Float4 = 4,
  Float8 = 5,
  Numeric = 6,
  Text = 7,
};

/// Reads a kind of src/twinjit/sql/types.py.
std::optional<Kind> kindOf(const std::string &name);

inline int64_t bytesOf(Kind kind) {
  constexpr int64_t bytes[] = {1, 2, 4, 8, 4, 8, 16, 16};
  return bytes[static_cast<int>(kind)];
}

/// A dense column: values one behind the other, and for each a byte that is 0 where it is null.
struct Column {
  const char *values;
  const uint8_t *validity;

  /// The column from a row on.
  Column from(int64_t row, Kind kind) const {
    return {values + row * bytesOf(kind), validity + row};
  }

  template <typename T> T at(int64_t row) const {
    T value;
    __builtin_memcpy(&value, values + row * sizeof(T), sizeof(T));
    return value;
  }
};

} // namespace twinjit::sql

#endif // TWINJIT_SQL_KINDS_H
