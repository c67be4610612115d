/// Aggregates' states, one for each group.

#ifndef TWINJIT_SQL_STATES_H
#define TWINJIT_SQL_STATES_H

#include "sql/kinds.h"
#include "sql/packed.h"

#include <memory>
#include <string>
#include <vector>

namespace twinjit::sql {

/// States of one aggregate, in groups that are counted from 0. Memory that cannot be had is a
/// std::bad_alloc.
class States {
public:
  virtual ~States() = default;

  /// Makes states of groups up to `groups`.
  virtual void resize(size_t groups) = 0;

  /// Takes rows in. `groups` are their groups' numbers; null where all are in group 0. The column
  /// has no values for an aggregate without an argument.
  virtual void update(const uint32_t *groups, int64_t rows, Column column) = 0;

  /// Takes states of the same aggregate in, of which each belongs to group `groups[its number]`.
  virtual void merge(const States &others, const uint32_t *groups) = 0;

  /// What a state consists of, as columns.
  virtual std::vector<Column> columns() const = 0;
  virtual std::vector<Kind> kinds() const = 0;

  virtual void save(Packer &packer) const = 0;

  /// Reads states of so many groups.
  virtual void load(Unpacker &unpacker, size_t groups) = 0;

  virtual int64_t bytes() const = 0;

  /// How it failed; once it did, the states are of no use.
  Failure failure() const { return failed; }

  void fail(Failure failure) {
    if (failed == Failure::None)
      failed = failure;
  }

private:
  Failure failed = Failure::None;
};

/// Makes the states of an aggregate; null if there is no such function of such a kind.
std::unique_ptr<States> makeStates(const std::string &function, std::optional<Kind> kind);

} // namespace twinjit::sql

#endif // TWINJIT_SQL_STATES_H
