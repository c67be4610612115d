/// Memory for what expressions make, freed as a whole.

#ifndef TWINJIT_SQL_ARENA_H
#define TWINJIT_SQL_ARENA_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace twinjit::sql {

/// Gives memory out of chunks, of which each is at least as large as all before it together. For
/// one thread at a time.
class Arena {
public:
  Arena() = default;
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;
  ~Arena() { freeChunks(nullptr); }

  /// Gives `bytes` of memory, aligned to 16; null where there is none, or `bytes` is negative.
  char *allocate(int64_t bytes) {
    if (bytes < 0 || bytes > largest)
      return nullptr;
    int64_t rounded = (bytes + 16) & ~int64_t{15}; // never none
    if (end - next < rounded && !grow(rounded))
      return nullptr;
    char *found = next;
    next += rounded;
    return found;
  }

  /// Takes all memory back, and keeps the first chunk for what comes.
  void reset() {
    if (!last)
      return;
    Chunk *first = last;
    while (first->before)
      first = first->before;
    freeChunks(first);
    use(first);
  }

  /// How much memory it holds.
  int64_t bytes() const { return held; }

private:
  struct alignas(16) Chunk {
    Chunk *before;
    int64_t size;
  };

  static constexpr int64_t smallest = int64_t{1} << 16;
  static constexpr int64_t largest = int64_t{1} << 46;

  bool grow(int64_t bytes) {
    int64_t size = bytes > smallest ? bytes : smallest;
    if (size < held)
      size = held;
    auto *chunk = static_cast<Chunk *>(std::malloc(sizeof(Chunk) + size));
    if (!chunk)
      return false;
    *chunk = {last, size};
    held += size;
    use(chunk);
    return true;
  }

  void use(Chunk *chunk) {
    last = chunk;
    next = reinterpret_cast<char *>(chunk + 1);
    end = next + chunk->size;
  }

  /// Frees the chunks behind `kept`, which is one of them, or all for null.
  void freeChunks(Chunk *kept) {
    while (last != kept) {
      Chunk *before = last->before;
      held -= last->size;
      std::free(last);
      last = before;
    }
  }

  Chunk *last = nullptr;
  char *next = nullptr;
  char *end = nullptr;
  int64_t held = 0;
};

} // namespace twinjit::sql

#endif // TWINJIT_SQL_ARENA_H
