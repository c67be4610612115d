/// Numbers for keys, in the order in which they first appear.

#ifndef TWINJIT_SQL_GROUPS_H
#define TWINJIT_SQL_GROUPS_H

#include "sql/arena.h"
#include "sql/keys.h"

#include <vector>

namespace twinjit::sql {

/// A hash table of keys, which keeps each as it first came. Memory that cannot be had is a
/// std::bad_alloc, after which the table has the keys that it had.
class GroupTable {
public:
  /// Throws std::invalid_argument where there are no kinds.
  explicit GroupTable(std::vector<Kind> kinds);

  static constexpr uint32_t none = ~uint32_t{0};

  const std::vector<Kind> &kinds() const { return writer.kinds(); }
  uint32_t size() const { return count; }
  int64_t bytes() const;

  /// Gives the numbers of the keys of rows, at most a block; new ones are added.
  void find(const Column *columns, int64_t rows, uint32_t *numbers);

  /// The same, but `none` for keys that there are not. Any number of threads can do so at a time,
  /// each with `words` of its own, which are overwritten.
  void lookUp(const Column *columns, int64_t rows, uint32_t *numbers,
              std::vector<uint64_t> &words) const;

  /// A key of all groups.
  Column key(size_t index) const { return {values[index].data(), validities[index].data()}; }

private:
  /// A group's number, and the hash of its key.
  struct Slot {
    uint32_t number;
    uint32_t hash;
  };

  /// The rows of a block.
  struct Rows {
    const Column *columns;
    int64_t count;
    const uint64_t *words;
    uint32_t hashes[blockRows];
  };

  // `fixed` is the width of keys in words where that is known to the compiler, else 0.
  template <size_t fixed> void hash(Rows &rows) const;
  template <size_t fixed> void fetch(const Rows &rows, int64_t row) const;
  template <size_t fixed> size_t placeOf(const Rows &rows, int64_t row) const;
  template <size_t fixed> bool isEqual(uint32_t number, const Rows &rows, int64_t row) const;
  template <size_t fixed> void findAll(Rows &rows, uint32_t *numbers);
  template <size_t fixed> void lookUpAll(Rows &rows, uint32_t *numbers) const;

  bool haveEqualTexts(uint32_t number, const Rows &rows, int64_t row) const;
  uint32_t add(size_t place, const Rows &rows, int64_t row);
  Text kept(const Column &column, int64_t row);
  void reserve(size_t more);
  void grow();

  KeyWriter writer;
  std::vector<size_t> texts; // the keys that are texts
  bool hasLongTexts = false; // of which a word holds but a hash
  uint64_t seed;
  uint64_t factor;
  uint32_t count = 0;
  std::vector<Slot> slots;          // a power of two
  std::vector<uint64_t> rowWords;   // of the block that is looked up
  std::vector<uint64_t> groupWords; // of each group; like the following, with room for more
  std::vector<std::vector<char>> values;
  std::vector<std::vector<uint8_t>> validities;
  Arena arena; // for texts
};

} // namespace twinjit::sql

#endif // TWINJIT_SQL_GROUPS_H
