#include "sql/states.h"
#include "sql/arena.h"
#include "sql/numeric.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

using namespace twinjit::sql;

namespace {

bool areAllValid(const uint8_t *validity, int64_t rows) {
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

// count

class Counts final : public States {
public:
  void resize(size_t groups) override {
    counts.resize(groups);
    ones.resize(groups, 1);
  }

  void update(const uint32_t *groups, int64_t rows, Column column) override {
    if (column.validity) {
      eachValid(groups, rows, column.validity, [&](uint32_t group, int64_t) { ++counts[group]; });
    } else if (groups) {
      for (int64_t row = 0; row < rows; ++row)
        ++counts[groups[row]];
    } else {
      counts[0] += rows;
    }
  }

  void merge(const States &others, const uint32_t *groups) override {
    const auto &theirs = static_cast<const Counts &>(others);
    for (size_t group = 0; group < theirs.counts.size(); ++group)
      counts[groups[group]] += theirs.counts[group];
  }

  std::vector<Column> columns() const override { return {{rawOf(counts), ones.data()}}; }
  std::vector<Kind> kinds() const override { return {Kind::Int8}; }
  void save(Packer &packer) const override { packer.putAll(counts); }

  void load(Unpacker &unpacker, size_t groups) override {
    resize(groups);
    counts = unpacker.takeAll<int64_t>(groups);
  }

  int64_t bytes() const override { return bytesOfAll(counts) + bytesOfAll(ones); }

private:
  std::vector<int64_t> counts;
  std::vector<uint8_t> ones; // counts are never null
};

// Values that may be missing

/// States that are a value, or null while there is none.
template <typename T> class Values : public States {
public:
  std::vector<Column> columns() const override { return {{rawOf(values), present.data()}}; }
  std::vector<Kind> kinds() const override { return {kindOfType<T>()}; }

  void save(Packer &packer) const override {
    packer.putAll(values);
    packer.putAll(present);
  }

  void load(Unpacker &unpacker, size_t groups) override {
    values = unpacker.takeAll<T>(groups);
    present = unpacker.takeAll<uint8_t>(groups);
  }

  int64_t bytes() const override { return bytesOfAll(values) + bytesOfAll(present); }

protected:
  std::vector<T> values;
  std::vector<uint8_t> present;
};

/// Values that are combined with an operation: a class with `T operator()(T, T)`, and with a value
/// that changes none, which all groups start with.
template <typename T, typename From, typename Operation> class Combined : public Values<T> {
public:
  void resize(size_t groups) override {
    this->values.resize(groups, Operation::neutral());
    this->present.resize(groups);
  }

  void update(const uint32_t *groups, int64_t rows, Column column) override {
    Operation operation; // which the compiler can keep in registers
    if (groups) {
      T *values = this->values.data();
      uint8_t *present = this->present.data();
      eachValid(groups, rows, column.validity, [&](uint32_t group, int64_t row) {
        values[group] = operation(values[group], static_cast<T>(column.at<From>(row)));
        present[group] = 1;
      });
    } else {
      T value = this->values[0];
      uint8_t isPresent = this->present[0];
      eachValid(groups, rows, column.validity, [&](uint32_t, int64_t row) {
        value = operation(value, static_cast<T>(column.at<From>(row)));
        isPresent = 1;
      });
      this->values[0] = value;
      this->present[0] = isPresent;
    }
    this->fail(operation.failure());
  }

  void merge(const States &others, const uint32_t *groups) override {
    const auto &theirs = static_cast<const Combined &>(others);
    Operation operation;
    for (size_t group = 0; group < theirs.values.size(); ++group) {
      T &value = this->values[groups[group]];
      value = operation(value, theirs.values[group]);
      this->present[groups[group]] |= theirs.present[group];
    }
    this->fail(operation.failure());
  }
};

class NeverFails {
public:
  static constexpr Failure failure() { return Failure::None; }
};

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

/// PostgreSQL's order: NaN is above all else.
template <typename T> bool isLess(T left, T right) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(left))
      return false;
    if (std::isnan(right))
      return true;
  }
  return left < right;
}

/// The last in that order, or the first.
template <typename T, bool isFirst> T outermost() {
  if constexpr (std::is_floating_point_v<T>)
    return isFirst ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::quiet_NaN();
  else if constexpr (std::is_same_v<T, Numeric>)
    return isFirst ? -powerOfTen(38) : powerOfTen(38);
  else
    return isFirst ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
}

/// Of equal ones, such as zero and minus zero, the later; so does PostgreSQL.
template <typename T> struct Least : NeverFails {
  static T neutral() { return outermost<T, false>(); }
  T operator()(T left, T right) const { return isLess(left, right) ? left : right; }
};

template <typename T> struct Greatest : NeverFails {
  static T neutral() { return outermost<T, true>(); }
  T operator()(T left, T right) const { return isLess(right, left) ? left : right; }
};

struct Both : NeverFails {
  static uint8_t neutral() { return 1; }
  uint8_t operator()(uint8_t left, uint8_t right) const { return left & right; }
};

struct Either : NeverFails {
  static uint8_t neutral() { return 0; }
  uint8_t operator()(uint8_t left, uint8_t right) const { return left | right; }
};

// avg

template <typename T> class Averages : public States {
public:
  void resize(size_t groups) override {
    sums.resize(groups);
    counts.resize(groups);
    ones.resize(groups, 1);
  }

  std::vector<Column> columns() const override {
    present.resize(counts.size());
    for (size_t group = 0; group < counts.size(); ++group)
      present[group] = counts[group] != 0;
    return {{rawOf(sums), present.data()}, {rawOf(counts), ones.data()}};
  }
  std::vector<Kind> kinds() const override { return {kindOfType<T>(), Kind::Int8}; }

  void save(Packer &packer) const override {
    packer.putAll(sums);
    packer.putAll(counts);
  }

  void load(Unpacker &unpacker, size_t groups) override {
    resize(groups);
    sums = unpacker.takeAll<T>(groups);
    counts = unpacker.takeAll<int64_t>(groups);
  }

  int64_t bytes() const override {
    return bytesOfAll(sums) + bytesOfAll(counts) + bytesOfAll(present) + bytesOfAll(ones);
  }

protected:
  /// Adds rows up. `add` gives a sum and a value's sum.
  template <typename From, typename Add>
  void accumulate(const uint32_t *groups, int64_t rows, Column column, Add add) {
    if (groups) {
      T *sums = this->sums.data();
      int64_t *counts = this->counts.data();
      eachValid(groups, rows, column.validity, [&](uint32_t group, int64_t row) {
        sums[group] = add(sums[group], static_cast<T>(column.at<From>(row)));
        ++counts[group];
      });
    } else {
      T sum = sums[0];
      int64_t count = counts[0];
      eachValid(groups, rows, column.validity, [&](uint32_t, int64_t row) {
        sum = add(sum, static_cast<T>(column.at<From>(row)));
        ++count;
      });
      sums[0] = sum;
      counts[0] = count;
    }
  }

  std::vector<T> sums;
  std::vector<int64_t> counts;

private:
  mutable std::vector<uint8_t> present; // sums, when columns() was last called
  std::vector<uint8_t> ones;            // counts are never null
};

template <typename From> class ExactAverages final : public Averages<Numeric> {
public:
  void update(const uint32_t *groups, int64_t rows, Column column) override {
    Sum<Numeric> add;
    accumulate<From>(groups, rows, column,
                     [&](Numeric sum, Numeric value) { return add(sum, value); });
    fail(add.failure());
  }

  void merge(const States &others, const uint32_t *groups) override {
    const auto &theirs = static_cast<const ExactAverages &>(others);
    for (size_t group = 0; group < theirs.counts.size(); ++group) {
      Numeric &sum = sums[groups[group]];
      if (__builtin_add_overflow(sum, theirs.sums[group], &sum))
        fail(Failure::NumericRange);
      counts[groups[group]] += theirs.counts[group];
    }
  }
};

/// Averages of floats, which fail in PostgreSQL where the sum of the squares of the deviations
/// overflows (Youngs and Cramer's sum, 1971). That takes values of more than 10^140 in magnitude:
/// from the first one on, that sum is kept. What came before it cannot matter.
template <typename From> class FloatAverages final : public Averages<double> {
public:
  void update(const uint32_t *groups, int64_t rows, Column column) override {
    isWild |= hasWild(rows, column);
    if (!isWild) {
      accumulate<From>(groups, rows, column, [](double sum, double value) { return sum + value; });
      return;
    }
    squares.resize(sums.size());
    eachValid(groups, rows, column.validity, [&](uint32_t group, int64_t row) {
      double value = column.at<From>(row), before = sums[group];
      sums[group] += value;
      ++counts[group];
      check(group, value, before);
    });
  }

  void merge(const States &others, const uint32_t *groups) override {
    const auto &theirs = static_cast<const FloatAverages &>(others);
    isWild |= theirs.isWild;
    if (isWild)
      squares.resize(sums.size());
    for (size_t group = 0; group < theirs.counts.size(); ++group)
      if (theirs.counts[group])
        join(groups[group], theirs, group);
  }

  void save(Packer &packer) const override {
    Averages<double>::save(packer);
    packer.put(static_cast<uint8_t>(isWild));
    std::vector<double> all = squares;
    all.resize(sums.size());
    packer.putAll(all);
  }

  void load(Unpacker &unpacker, size_t groups) override {
    Averages<double>::load(unpacker, groups);
    isWild = unpacker.take<uint8_t>() != 0;
    squares = unpacker.takeAll<double>(groups);
  }

private:
  /// Whether a value is so large; what lies where values are null can seem so.
  static bool hasWild(int64_t rows, Column column) {
    if constexpr (std::is_same_v<From, float>)
      return false;
    uint64_t found = 0;
    for (int64_t row = 0; row < rows; ++row)
      found |= std::fabs(column.at<double>(row)) >= 1e140 ? ~uint64_t{0} : 0;
    return found;
  }

  void check(uint32_t group, double value, double before) {
    double count = static_cast<double>(counts[group]);
    if (count == 1) {
      squares[group] = std::isfinite(value) ? 0.0 : std::nan("");
      return;
    }
    double deviation = value * count - sums[group];
    squares[group] += deviation * deviation / (count * (count - 1));
    settle(group, std::isinf(before) || std::isinf(value));
  }

  /// Fails where a sum has become infinite by finite values.
  void settle(uint32_t group, bool isFromInfinite) {
    if (!std::isinf(sums[group]) && !std::isinf(squares[group]))
      return;
    if (!isFromInfinite)
      fail(Failure::FloatOverflow);
    squares[group] = std::nan("");
  }

  void join(uint32_t group, const FloatAverages &theirs, size_t other) {
    double before = sums[group], added = theirs.sums[other];
    double ours = static_cast<double>(counts[group]);
    double count = static_cast<double>(theirs.counts[other]);
    sums[group] += added;
    counts[group] += theirs.counts[other];
    if (!isWild)
      return;
    double squared = other < theirs.squares.size() ? theirs.squares[other] : 0.0;
    if (ours == 0) {
      squares[group] = squared;
      return;
    }
    double deviation = before / ours - added / count;
    squares[group] += squared + ours * count * deviation * deviation / (ours + count);
    settle(group, std::isinf(before) || std::isinf(added));
  }

  bool isWild = false;
  std::vector<double> squares;
};

// min and max of texts

template <bool isGreatest> class ExtremeTexts final : public States {
public:
  void resize(size_t groups) override {
    texts.resize(groups, Text{"", 0});
    capacities.resize(groups);
    present.resize(groups);
  }

  void update(const uint32_t *groups, int64_t rows, Column column) override {
    eachValid(groups, rows, column.validity,
              [&](uint32_t group, int64_t row) { take(group, column.at<Text>(row)); });
  }

  void merge(const States &others, const uint32_t *groups) override {
    const auto &theirs = static_cast<const ExtremeTexts &>(others);
    for (size_t group = 0; group < theirs.texts.size(); ++group)
      if (theirs.present[group])
        take(groups[group], theirs.texts[group]);
  }

  std::vector<Column> columns() const override { return {{rawOf(texts), present.data()}}; }
  std::vector<Kind> kinds() const override { return {Kind::Text}; }

  void save(Packer &packer) const override {
    packer.putAll(present);
    for (const Text &text : texts)
      packer.putBytes(text.data, text.length);
  }

  void load(Unpacker &unpacker, size_t groups) override {
    resize(groups);
    std::vector<uint8_t> there = unpacker.takeAll<uint8_t>(groups);
    for (size_t group = 0; group < groups; ++group) {
      std::string_view text = unpacker.takeBytes();
      if (there[group])
        take(group, {text.data(), static_cast<int64_t>(text.size())});
    }
  }

  int64_t bytes() const override {
    return arena.bytes() + bytesOfAll(texts) + bytesOfAll(capacities) + bytesOfAll(present);
  }

private:
  void take(size_t group, Text text) {
    if (present[group] && !isBetter(text, texts[group]))
      return;
    present[group] = 1;
    if (text.length > capacities[group] || capacities[group] == 0) {
      // Twice as much each time, so that what is left behind is no more than what is used.
      int64_t capacity = std::max(text.length, 2 * capacities[group]);
      texts[group].data = arena.allocate(capacity);
      if (!texts[group].data)
        throw std::bad_alloc();
      capacities[group] = capacity;
    }
    if (text.length)
      std::memcpy(const_cast<char *>(texts[group].data), text.data, text.length);
    texts[group].length = text.length;
  }

  static bool isBetter(Text text, Text known) {
    int64_t common = std::min(text.length, known.length);
    int order = common ? std::memcmp(text.data, known.data, common) : 0;
    bool isLess = order < 0 || (order == 0 && text.length < known.length);
    bool isGreater = order > 0 || (order == 0 && text.length > known.length);
    return isGreatest ? isGreater : isLess;
  }

  std::vector<Text> texts;
  std::vector<int64_t> capacities;
  std::vector<uint8_t> present;
  Arena arena;
};

// By name

using Made = std::unique_ptr<States>;

template <typename T, typename From> Made sumOf() {
  return std::make_unique<Combined<T, From, Sum<T>>>();
}

Made makeSum(Kind kind) {
  switch (kind) {
  case Kind::Int2:
    return sumOf<int64_t, int16_t>();
  case Kind::Int4:
    return sumOf<int64_t, int32_t>();
  case Kind::Int8:
    return sumOf<Numeric, int64_t>();
  case Kind::Numeric:
    return sumOf<Numeric, Numeric>();
  case Kind::Float4:
    return sumOf<float, float>();
  case Kind::Float8:
    return sumOf<double, double>();
  default:
    return nullptr;
  }
}

Made makeAverage(Kind kind) {
  switch (kind) {
  case Kind::Int2:
    return std::make_unique<ExactAverages<int16_t>>();
  case Kind::Int4:
    return std::make_unique<ExactAverages<int32_t>>();
  case Kind::Int8:
    return std::make_unique<ExactAverages<int64_t>>();
  case Kind::Numeric:
    return std::make_unique<ExactAverages<Numeric>>();
  case Kind::Float4:
    return std::make_unique<FloatAverages<float>>();
  case Kind::Float8:
    return std::make_unique<FloatAverages<double>>();
  default:
    return nullptr;
  }
}

template <template <typename> class Operation, bool isGreatest> Made makeExtreme(Kind kind) {
  switch (kind) {
  case Kind::Bool:
    return nullptr;
  case Kind::Int2:
    return std::make_unique<Combined<int16_t, int16_t, Operation<int16_t>>>();
  case Kind::Int4:
    return std::make_unique<Combined<int32_t, int32_t, Operation<int32_t>>>();
  case Kind::Int8:
    return std::make_unique<Combined<int64_t, int64_t, Operation<int64_t>>>();
  case Kind::Float4:
    return std::make_unique<Combined<float, float, Operation<float>>>();
  case Kind::Float8:
    return std::make_unique<Combined<double, double, Operation<double>>>();
  case Kind::Numeric:
    return std::make_unique<Combined<Numeric, Numeric, Operation<Numeric>>>();
  case Kind::Text:
    return std::make_unique<ExtremeTexts<isGreatest>>();
  }
  return nullptr;
}

} // namespace

std::unique_ptr<States> twinjit::sql::makeStates(const std::string &function,
                                                 std::optional<Kind> kind) {
  if (function == "count")
    return std::make_unique<Counts>();
  if (!kind)
    return nullptr;
  if (function == "sum")
    return makeSum(*kind);
  if (function == "avg")
    return makeAverage(*kind);
  if (function == "min")
    return makeExtreme<Least, false>(*kind);
  if (function == "max")
    return makeExtreme<Greatest, true>(*kind);
  if (*kind != Kind::Bool)
    return nullptr;
  if (function == "bool_and")
    return std::make_unique<Combined<uint8_t, uint8_t, Both>>();
  if (function == "bool_or")
    return std::make_unique<Combined<uint8_t, uint8_t, Either>>();
  return nullptr;
}
