#include "codegen/pages.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Memory.h"

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <pthread.h>
#include <sys/mman.h>

namespace twinjit {
namespace {

/// Most programs have code and read-only data alone.
constexpr ZoneSizes kArenaSizes = {24u << 20, 24u << 20, 16u << 20};

struct Arenas {
  std::mutex mutex; // guards all below
  size_t holes = 0; // outlives `all`, which counts in it
  std::vector<std::unique_ptr<Arena>> all;
  PagesInUse use;
};

/// Never destroyed: images may outlive static destructors. The thread that forks holds the lock
/// across the fork, so that the child's copy is whole.
Arenas &arenas() {
  static auto *arenas = [] {
    static auto *made = new Arenas();
    pthread_atfork([] { made->mutex.lock(); }, [] { made->mutex.unlock(); },
                   [] { made->mutex.unlock(); });
    return made;
  }();
  return *arenas;
}

/// Whether pages are too many to share an arena: they get one of their own.
bool areLarge(const ZoneSizes &sizes) {
  for (size_t zone = 0; zone != kZones; ++zone)
    if (sizes[zone] > kArenaSizes[zone] / 4)
      return true;
  return false;
}

/// Null, with errno set, where the system refuses.
Arena *addArena(Arenas &arenas, const ZoneSizes &sizes) {
  auto made = Arena::reserve(sizes, arenas.holes);
  if (!made)
    return nullptr;
  arenas.all.push_back(std::move(made));
  return arenas.all.back().get();
}

void removeArena(Arenas &arenas, Arena *arena) {
  arenas.all.erase(std::find_if(arenas.all.begin(), arenas.all.end(),
                                [=](const auto &each) { return each.get() == arena; }));
}

/// Whether an unused arena is to be kept, as the next image would need another.
bool isWorthKeeping(const Arenas &arenas, const Arena *arena) {
  constexpr size_t kSize = kArenaSizes[0] + kArenaSizes[1] + kArenaSizes[2];
  return arena->range().size == kSize &&
         std::none_of(arenas.all.begin(), arenas.all.end(), [=](const auto &each) {
           return each.get() != arena && each->range().size == kSize;
         });
}

/// As below, of an arena that is made for it.
Arena *takeOfNew(Arenas &arenas, const ZoneSizes &arenaSizes, const ZoneSizes &sizes,
                 ZoneRanges &ranges) {
  Arena *arena = addArena(arenas, arenaSizes);
  if (!arena || arena->take(sizes, ranges))
    return arena;
  int error = errno;
  removeArena(arenas, arena);
  errno = error;
  return nullptr;
}

/// The arena that gave `ranges`; null, with errno set, where none can. The oldest that has room is
/// used, so that the others empty.
Arena *take(Arenas &arenas, const ZoneSizes &sizes, ZoneRanges &ranges) {
  if (!areLarge(sizes)) {
    for (const auto &arena : arenas.all)
      if (arena->take(sizes, ranges))
        return arena.get();
    if (Arena *arena = takeOfNew(arenas, kArenaSizes, sizes, ranges))
      return arena;
  }
  // Also where a limit leaves no room for a whole arena.
  return takeOfNew(arenas, sizes, sizes, ranges);
}

} // namespace

std::optional<Pages> Pages::allocate(ZoneSizes sizes) {
  for (size_t &size : sizes)
    size = llvm::alignTo(size, pageSize());
  if (!(sizes[0] | sizes[1] | sizes[2]))
    return Pages();
  ZoneRanges ranges;
  Arenas &arenas = twinjit::arenas();
  std::lock_guard<std::mutex> lock(arenas.mutex);
  Arena *arena = take(arenas, sizes, ranges);
  if (!arena)
    return std::nullopt;
  Pages pages(arena, ranges);
  arenas.use.bytes += pages.size();
  ++arenas.use.owners;
  return pages;
}

Pages::~Pages() {
  if (!arena)
    return;
  Arenas &arenas = twinjit::arenas();
  std::lock_guard<std::mutex> lock(arenas.mutex);
  arenas.use.bytes -= size();
  --arenas.use.owners;
  arena->give(ranges);
  if (arena->isUnused() && !isWorthKeeping(arenas, arena))
    removeArena(arenas, arena);
}

bool Pages::seal() {
  const auto &[code, readOnly, readWrite] = ranges;
  if (readOnly.size && mprotect(readOnly.begin, readOnly.size, PROT_READ) != 0)
    return false;
  if (!code.size)
    return true;
  llvm::sys::Memory::InvalidateInstructionCache(code.begin, code.size);
  return mprotect(code.begin, code.size, PROT_READ | PROT_EXEC) == 0;
}

bool Pages::contains(const void *pointer) const {
  return std::any_of(ranges.begin(), ranges.end(),
                     [=](const PageRange &range) { return range.contains(pointer); });
}

size_t Pages::size() const {
  size_t sum = 0;
  for (const PageRange &range : ranges)
    sum += range.size;
  return sum;
}

PagesInUse pagesInUse() {
  Arenas &arenas = twinjit::arenas();
  std::lock_guard<std::mutex> lock(arenas.mutex);
  PagesInUse use = arenas.use;
  use.holes = arenas.holes;
  for (const auto &arena : arenas.all)
    use.arenas.push_back(arena->range());
  return use;
}

Failure noMemory(const std::string &reason) {
  return Failure{
      Kind::NoMemory,
      "no memory for code: " + reason +
          "; let go of executables, lower memory_max_bytes, or raise the limit that "
          "this process met (ulimit -v or -d, vm.max_map_count, the container's memory)"};
}

} // namespace twinjit
