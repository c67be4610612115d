/// Rows by their keys, for hash joins.

#ifndef TWINJIT_SQL_JOIN_TABLE_H
#define TWINJIT_SQL_JOIN_TABLE_H

#include "sql/groups.h"

#include <vector>

namespace twinjit::sql {

/// The rows of one input of a join. Memory that cannot be had is a std::bad_alloc.
class JoinTable {
public:
  /// Pairs of a row that was looked up, and one that was built in.
  struct Pairs {
    std::vector<int64_t> probed;
    std::vector<int64_t> built;
  };

  explicit JoinTable(std::vector<Kind> kinds) : table(std::move(kinds)) {}

  const std::vector<Kind> &kinds() const { return table.kinds(); }

  /// Adds rows, which are numbered on. Those with a null among their keys match none.
  void build(const int64_t *words, int64_t rows);

  /// Gives all pairs whose keys are equal, by the row that is looked up, then by the other. Any
  /// number of threads can do so at a time, once all is built.
  Pairs probe(const int64_t *words, int64_t rows) const;

  int64_t bytes() const;

private:
  static constexpr int64_t end = -1;

  /// The rows of a key, of which `next` leads from one to the following; `end` where none has it.
  struct Chain {
    int64_t first;
    int64_t last;
  };

  std::vector<Column> columnsOf(const int64_t *words) const;
  bool hasNull(const std::vector<Column> &columns, int64_t row) const;
  void append(uint32_t number, int64_t row);
  void pair(const uint32_t *numbers, int64_t begin, int64_t rows, Pairs &pairs) const;

  GroupTable table;
  std::vector<Chain> chains; // of each key
  std::vector<int64_t> next; // row of the same key, for each row but the last
};

} // namespace twinjit::sql

#endif // TWINJIT_SQL_JOIN_TABLE_H
