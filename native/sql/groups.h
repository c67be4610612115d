/// Numbers for keys, in the order in which they first appear.

#ifndef TWINJIT_SQL_GROUPS_H
#define TWINJIT_SQL_GROUPS_H

#include "sql/arena.h"
#include "sql/keys.h"

#include <array>
#include <vector>

namespace twinjit::sql {

/// A hash table of keys, which keeps each as it first came. Memory that cannot be had is a
/// std::bad_alloc.
class GroupTable {
public:
  explicit GroupTable(std::vector<Kind> kinds);

  static constexpr uint32_t none = ~uint32_t{0};

  const std::vector<Kind> &kinds() const { return writer.kinds(); }
  uint32_t size() const { return count; }
  int64_t bytes() const;

  /// Gives the numbers of the keys of rows, at most a block; new ones are added.
  void find(const Column *columns, int64_t rows, uint32_t *numbers) {
    look<true>(columns, rows, numbers);
  }

  /// The same, but `none` for keys that there are not.
  void lookUp(const Column *columns, int64_t rows, uint32_t *numbers) {
    look<false>(columns, rows, numbers);
  }

  /// A key of all groups.
  Column key(size_t index) const { return {values[index].data(), validities[index].data()}; }

private:
  struct Slot {
    uint32_t number;
    uint32_t tag; // of the hash's upper half
  };

  template <bool adds> void look(const Column *columns, int64_t rows, uint32_t *numbers);
  template <bool adds> uint32_t lookOne(const Column *columns, int64_t row, uint64_t hash);
  bool isEqual(uint32_t number, const Column *columns, int64_t row) const;
  bool haveEqualTexts(uint32_t number, const Column *columns, int64_t row) const;
  uint32_t add(const Column *columns, int64_t row);
  void grow();

  KeyWriter writer;
  std::vector<size_t> texts; // the keys that are texts
  uint64_t seed;
  uint32_t count = 0;
  std::vector<Slot> slots;
  std::vector<uint64_t> rowWords;   // of the block that is looked up
  std::vector<uint64_t> groupWords; // of each group
  std::vector<std::vector<char>> values;
  std::vector<std::vector<uint8_t>> validities;
  Arena arena; // for texts
};

} // namespace twinjit::sql

#endif // TWINJIT_SQL_GROUPS_H
