/// What kinds of states have in common.

#ifndef TWINJIT_SQL_STATE_COLUMNS_H
#define TWINJIT_SQL_STATE_COLUMNS_H

#include "sql/states.h"

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace twinjit::sql {

inline bool areAllValid(const uint8_t *validity, int64_t rows) {
  uint8_t all = 1;
  for (int64_t row = 0; row < rows; ++row)
    all &= validity[row];
  return all;
}

template <bool areValid, typename Take>
void eachRow(const uint32_t *groups, int64_t rows, const uint8_t *validity, Take take) {
  if (groups) {
    for (int64_t row = 0; row < rows; ++row)
      if (areValid || validity[row])
        take(groups[row], row);
  } else {
    for (int64_t row = 0; row < rows; ++row)
      if (areValid || validity[row])
        take(0, row);
  }
}

/// Calls `take(group, row)` for each row that is valid, in order.
template <typename Take>
void eachValid(const uint32_t *groups, int64_t rows, const uint8_t *validity, Take take) {
  if (areAllValid(validity, rows))
    eachRow<true>(groups, rows, validity, take);
  else
    eachRow<false>(groups, rows, validity, take);
}

template <typename T> int64_t bytesOfAll(const std::vector<T> &values) {
  return values.capacity() * sizeof(T);
}

template <typename T> constexpr Kind kindOfType() {
  if constexpr (std::is_same_v<T, int16_t>)
    return Kind::Int2;
  else if constexpr (std::is_same_v<T, int32_t>)
    return Kind::Int4;
  else if constexpr (std::is_same_v<T, int64_t>)
    return Kind::Int8;
  else if constexpr (std::is_same_v<T, float>)
    return Kind::Float4;
  else if constexpr (std::is_same_v<T, double>)
    return Kind::Float8;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return Kind::Bool;
  else
    return Kind::Numeric;
}

template <typename T> const char *rawOf(const std::vector<T> &values) {
  return reinterpret_cast<const char *>(values.data());
}

/// Adds, and remembers whether a sum was too large.
template <typename T> class Sum {
public:
  static T neutral() {
    if constexpr (std::is_floating_point_v<T>)
      return -T{0}; // zero would make zero of minus zero
    else
      return 0;
  }

  T operator()(T left, T right) {
    if constexpr (std::is_floating_point_v<T>) {
      T sum = left + right;
      isOut |= std::isinf(sum) && !std::isinf(left) && !std::isinf(right);
      return sum;
    } else {
      T sum;
      isOut |= __builtin_add_overflow(left, right, &sum);
      return sum;
    }
  }

  Failure failure() const {
    if (!isOut)
      return Failure::None;
    return std::is_floating_point_v<T>  ? Failure::FloatOverflow
           : std::is_same_v<T, int64_t> ? Failure::Int8Range
                                        : Failure::NumericRange;
  }

private:
  bool isOut = false;
};

/// Makes the states of avg; null for a kind that has none.
std::unique_ptr<States> makeAverage(Kind kind);

/// Makes the states of min and max of texts.
std::unique_ptr<States> makeExtremeTexts(bool isGreatest);

} // namespace twinjit::sql

#endif // TWINJIT_SQL_STATE_COLUMNS_H
