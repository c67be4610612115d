/// States of avg: a sum and a count.

#include "sql/numeric.h"
#include "sql/state_columns.h"

#include <cmath>

using namespace twinjit::sql;

namespace {

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

} // namespace

std::unique_ptr<States> twinjit::sql::makeAverage(Kind kind) {
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
