// Address space for linked code and its data, handed out in pages.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>

namespace twinjit {

/// What pages hold; how they are protected once they are filled goes by it.
enum class Zone { Code, ReadOnly, ReadWrite };

inline constexpr size_t kZones = 3;

using ZoneSizes = std::array<size_t, kZones>; // bytes, by zone

struct PageRange {
  char *begin = nullptr;
  size_t size = 0; // in bytes

  bool contains(const void *pointer) const;
};

using ZoneRanges = std::array<PageRange, kZones>;

size_t pageSize();

/// The pages of one zone that nobody has.
///
/// Pages lie next to others of their kind, so that the kernel keeps neighbours of equal protection
/// in one mapping. What is given back becomes inaccessible again, which makes a hole in the mapping
/// of its neighbours. Of these a process has no more than kMaxHoles: where images come and go
/// beyond that, freed pages keep their protection, and only what they held is gone.
class FreePages {
public:
  static constexpr size_t kMaxHoles = 4096; // each adds up to two mappings

  /// `all` must be inaccessible. `holes` counts those of all zones of the process.
  FreePages(PageRange all, size_t &holes);
  ~FreePages();
  FreePages(const FreePages &) = delete;
  FreePages &operator=(const FreePages &) = delete;

  /// Zeroed pages that can be written. Null, with errno set, where there are none.
  PageRange take(size_t bytes);

  /// Have pages back, whatever their protection. What they hold is gone, their memory the system's.
  void give(PageRange pages);

private:
  struct Extent {
    size_t size;
    bool isClosed; // inaccessible
    bool isDirty;  // still has what it held
  };
  using Extents = std::map<char *, Extent>; // by their first byte

  PageRange open(size_t minimum, size_t wanted);
  void absorb(Extents::iterator beside, char *&begin, Extent &freed);

  size_t &holes;
  Extents extents;
  PageRange ready;    // zeroed, can be written: spares most of the pages that follow a system call
  size_t largest = 0; // no extent is larger
};

/// A reservation of address space with its zones, close enough to each other for code of the small
/// code model. It takes no memory by itself.
///
/// Not safe to use from several threads at once. A forked child has a copy, as of all memory.
class Arena {
public:
  /// Null, with errno set, where there is no address space. Sizes are whole pages.
  static std::unique_ptr<Arena> reserve(const ZoneSizes &sizes, size_t &holes);
  ~Arena();

  /// All that is wanted, or nothing and false, with errno set.
  bool take(const ZoneSizes &sizes, ZoneRanges &ranges);
  void give(const ZoneRanges &ranges);

  bool isUnused() const { return users == 0; }
  PageRange range() const { return all; }

private:
  Arena(PageRange all, const ZoneSizes &sizes, size_t &holes);

  PageRange all;
  std::array<std::unique_ptr<FreePages>, kZones> zones;
  size_t users = 0;
};

} // namespace twinjit
