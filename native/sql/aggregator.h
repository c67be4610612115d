/// Aggregation: dense columns to a state for each group.

#ifndef TWINJIT_SQL_AGGREGATOR_H
#define TWINJIT_SQL_AGGREGATOR_H

#include "sql/arena.h"
#include "sql/groups.h"
#include "sql/states.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace twinjit::sql {

/// An aggregate: the function, the kind of its argument, if it has one, and whether only the first
/// of equal values in a group counts.
struct AggregateSpec {
  std::string function;
  std::optional<Kind> kind;
  bool isDistinct;
};

/// Aggregates rows. Groups are numbered as their keys first appear; without keys there is one, even
/// of no rows. Where memory cannot be had for rows or groups, that is the failure; what else there
/// is of an aggregator that failed so is a std::bad_alloc.
class Aggregator {
public:
  using Kernel = int64_t (*)(const int64_t *inputs, const int64_t *slots, const int64_t *outputs,
                             int64_t begin, int64_t end, void *arena);

  /// What a kernel is called with.
  struct Call {
    Kernel kernel;
    const int64_t *inputs;
    const int64_t *slots;
    const int64_t *outputs;
    Arena *arena;
    const int64_t *stop;
  };

  /// Throws std::invalid_argument for what no aggregate is.
  Aggregator(std::vector<Kind> keys, std::vector<AggregateSpec> specs);

  /// Takes rows in. `words` are addresses of values and of validity, for the keys, then for the
  /// arguments of the aggregates that have one.
  void update(const int64_t *words, int64_t rows);

  /// Takes in what a kernel writes for the rows from `begin` on, `step` at a time; gives the first
  /// that was not taken in, since the kernel failed, an aggregate did, or `*stop` is not 0.
  int64_t run(const Call &call, int64_t begin, int64_t end, int64_t step);

  /// Takes the groups of an aggregator of the same in, in their order. Throws std::invalid_argument
  /// for one that aggregates otherwise.
  void merge(const Aggregator &other);

  std::string save() const;
  /// Throws std::invalid_argument for what `save` does not write.
  static std::unique_ptr<Aggregator> load(const char *data, size_t size);

  size_t groups() const { return hasKeys() ? table->size() : 1; }
  const std::vector<Kind> &keys() const { return keyKinds; }
  Column key(size_t index) const;
  size_t aggregates() const { return parts.size(); }
  const States &states(size_t index) const;
  bool hasArgument(size_t index) const { return parts[index].spec.kind.has_value(); }
  Failure failure() const;
  int64_t bytes() const;

private:
  struct Part {
    AggregateSpec spec;
    std::unique_ptr<States> states;
    std::unique_ptr<GroupTable> seen; // groups' numbers and values, where `spec.isDistinct`
  };

  bool hasKeys() const { return !keyKinds.empty(); }
  bool isLike(const Aggregator &other) const;
  template <typename Work> void guard(Work work);
  void requireMemory() const;
  void updateAll(const int64_t *words, int64_t rows);
  void updateBlock(const std::vector<Column> &columns, int64_t rows);
  void updatePart(Part &part, const uint32_t *numbers, int64_t rows, Column column);
  void updateDistinct(Part &part, const uint32_t *numbers, int64_t rows, Column column);
  void mergeAll(const Aggregator &other);
  void mergeSeen(Part &part, const GroupTable &seen, const uint32_t *numbers);
  std::vector<uint32_t> numbersOf(const Aggregator &other);

  std::vector<Kind> keyKinds;
  std::unique_ptr<GroupTable> table; // null without keys
  std::vector<Part> parts;
  bool isOutOfMemory = false; // parts may have fewer groups than the table
};

} // namespace twinjit::sql

#endif // TWINJIT_SQL_AGGREGATOR_H
