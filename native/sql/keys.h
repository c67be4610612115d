/// Keys of groups and joins as words, which are equal where the keys are.

#ifndef TWINJIT_SQL_KEYS_H
#define TWINJIT_SQL_KEYS_H

#include "sql/kinds.h"

#include <cstddef>
#include <vector>

namespace twinjit::sql {

/// Rows that are handled at a time, so that what lies between steps stays in a core's own cache.
constexpr int64_t blockRows = 1024;

/// Writes keys as words. NaN is one value, and so is zero. Null is a value that there is not, but
/// for integers of 64 bits, which have a word more for that. A text of at most seven bytes is in
/// its word as a whole; of others, a hash is.
class KeyWriter {
public:
  explicit KeyWriter(std::vector<Kind> kinds);

  const std::vector<Kind> &kinds() const { return kindsOfKeys; }

  /// How many words a row takes.
  size_t width() const { return words; }

  /// Writes rows, at most a block, one behind the other.
  void write(const Column *columns, int64_t rows, uint64_t *into) const;

private:
  std::vector<Kind> kindsOfKeys;
  size_t words;
};

/// Hashes the words of a row.
uint64_t hashOf(const uint64_t *words, size_t count, uint64_t seed);

/// Texts of at most so many bytes are in their words as a whole.
constexpr int64_t inlineText = 7;

} // namespace twinjit::sql

#endif // TWINJIT_SQL_KEYS_H
