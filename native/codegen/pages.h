// Pages of the process for linked code and its data.
#pragma once

#include "codegen/arena.h"
#include "common/outcome.h"

#include <optional>
#include <vector>

namespace twinjit {

/// Pages of one image, or of the constants that it is linked to. They are given back when it is
/// destroyed. Never writable and executable at once.
class Pages {
public:
  Pages() = default;
  Pages(Pages &&other) noexcept { swap(other); }
  Pages &operator=(Pages &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Pages();

  /// Zeroed pages that can be written, all within 2 GiB, sizes rounded up. Nothing, with errno set,
  /// where the system has none.
  ///
  /// Any thread may allocate, seal and destroy. One lock keeps the arenas; filling and sealing are
  /// outside of it. A forked child has a copy of all pages, and can do the same with it.
  static std::optional<Pages> allocate(ZoneSizes sizes);

  /// Protect what was filled: code can be run, read-only data no longer be written. False, with
  /// errno set, where the system refuses.
  bool seal();

  char *begin(Zone zone) const { return ranges[static_cast<size_t>(zone)].begin; }
  bool contains(const void *pointer) const;
  size_t size() const; // in bytes

private:
  Pages(Arena *arena, const ZoneRanges &ranges) : arena(arena), ranges(ranges) {}
  void swap(Pages &other) {
    std::swap(arena, other.arena);
    std::swap(ranges, other.ranges);
  }

  Arena *arena = nullptr;
  ZoneRanges ranges;
};

/// Of all `Pages` of the process, in bytes where nothing else is said.
struct PagesInUse {
  size_t bytes = 0;
  size_t owners = 0; // how many `Pages`
  size_t holes = 0;  // see FreePages
  std::vector<PageRange> arenas;
};

PagesInUse pagesInUse();

/// That the system gives no memory for code or constants.
Failure noMemory(const std::string &reason);

} // namespace twinjit
