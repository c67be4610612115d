#include "sql/states.h"
#include "sql/numeric.h"
#include "sql/state_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

using namespace twinjit::sql;

namespace {

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
    return makeExtremeTexts(isGreatest);
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
