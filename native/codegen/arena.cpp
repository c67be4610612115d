#include "codegen/arena.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace twinjit {
namespace {

constexpr size_t kRun = 256; // pages that are made ready at a time

constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

/// Map anew, rather than change the protection and discard: it is one call, the kernel joins the
/// pages with inaccessible neighbours in forked children, too, and no longer counts them as
/// committed.
bool close(PageRange pages) {
  return mmap(pages.begin, pages.size, PROT_NONE, kPrivate | MAP_FIXED, -1, 0) != MAP_FAILED;
}

} // namespace

bool PageRange::contains(const void *pointer) const {
  auto *byte = static_cast<const char *>(pointer);
  return std::less_equal<>()(begin, byte) && std::less<>()(byte, begin + size);
}

size_t pageSize() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

FreePages::FreePages(PageRange all, size_t &holes) : holes(holes), largest(all.size) {
  if (!all.size)
    return;
  extents[all.begin] = {all.size, true, false};
  ++holes;
}

FreePages::~FreePages() {
  for (const auto &[begin, extent] : extents)
    holes -= extent.isClosed;
}

PageRange FreePages::take(size_t bytes) {
  size_t run = kRun * pageSize();
  if (bytes >= run)
    return open(bytes, bytes);
  if (ready.size < bytes) {
    if (ready.size)
      give(std::exchange(ready, {}));
    ready = open(bytes, run);
    if (!ready.size)
      return {};
  }
  PageRange taken{ready.begin, bytes};
  ready = {ready.begin + bytes, ready.size - bytes};
  return taken;
}

/// Take the beginning of the first extent that is large enough, and let it be written.
PageRange FreePages::open(size_t minimum, size_t wanted) {
  errno = ENOMEM;
  if (minimum > largest)
    return {};
  auto found = std::find_if(extents.begin(), extents.end(),
                            [=](const auto &each) { return each.second.size >= minimum; });
  if (found == extents.end()) {
    largest = minimum - 1;
    return {};
  }
  auto [begin, extent] = *found;
  PageRange opened{begin, std::min(extent.size, wanted)};
  if (mprotect(opened.begin, opened.size, PROT_READ | PROT_WRITE) != 0)
    return {};
  if (extent.isDirty)
    std::memset(opened.begin, 0, opened.size);
  extents.erase(found);
  if (opened.size < extent.size)
    extents[begin + opened.size] = {extent.size - opened.size, extent.isClosed, extent.isDirty};
  else
    holes -= extent.isClosed;
  return opened;
}

void FreePages::give(PageRange pages) {
  auto next = extents.lower_bound(pages.begin);
  auto before = next == extents.begin() ? extents.end() : std::prev(next);
  if (before != extents.end() && before->first + before->second.size != pages.begin)
    before = extents.end();
  if (next != extents.end() && pages.begin + pages.size != next->first)
    next = extents.end();
  auto isClosedBeside = [&](Extents::iterator each) {
    return each != extents.end() && each->second.isClosed;
  };
  bool mayClose = holes < kMaxHoles || isClosedBeside(before) || isClosedBeside(next);
  bool isClosed = mayClose && close(pages);
  // It fails where the process has locked its memory: the pages then stay as they are.
  bool isDirty = !isClosed && madvise(pages.begin, pages.size, MADV_DONTNEED) != 0;
  Extent freed = {pages.size, isClosed, isDirty};
  for (auto beside : {before, next})
    if (beside != extents.end())
      absorb(beside, pages.begin, freed);
  extents[pages.begin] = freed;
  holes += isClosed;
  largest = std::max(largest, freed.size);
}

/// Join free pages with an extent beside them, where both are, or can be made, alike.
void FreePages::absorb(Extents::iterator beside, char *&begin, Extent &freed) {
  auto [besideBegin, extent] = *beside;
  if (extent.isClosed != freed.isClosed) {
    if (!freed.isClosed || !close({besideBegin, extent.size}))
      return;
    extent.isDirty = false;
  }
  holes -= extent.isClosed;
  begin = std::min(besideBegin, begin);
  freed.size += extent.size;
  freed.isDirty |= extent.isDirty;
  extents.erase(beside);
}

std::unique_ptr<Arena> Arena::reserve(const ZoneSizes &sizes, size_t &holes) {
  size_t size = 0;
  for (size_t each : sizes)
    size += each;
  void *begin = mmap(nullptr, size, PROT_NONE, kPrivate, -1, 0);
  if (begin == MAP_FAILED)
    return nullptr;
  return std::unique_ptr<Arena>(new Arena({static_cast<char *>(begin), size}, sizes, holes));
}

Arena::Arena(PageRange all, const ZoneSizes &sizes, size_t &holes) : all(all) {
  char *begin = all.begin;
  for (size_t zone = 0; zone != kZones; ++zone) {
    zones[zone] = std::make_unique<FreePages>(PageRange{begin, sizes[zone]}, holes);
    begin += sizes[zone];
  }
}

Arena::~Arena() { munmap(all.begin, all.size); }

bool Arena::take(const ZoneSizes &sizes, ZoneRanges &ranges) {
  ZoneRanges taken;
  for (size_t zone = 0; zone != kZones; ++zone) {
    if (!sizes[zone])
      continue;
    taken[zone] = zones[zone]->take(sizes[zone]);
    if (taken[zone].size)
      continue;
    int error = errno;
    ++users; // which give() takes back
    give(taken);
    errno = error;
    return false;
  }
  ++users;
  ranges = taken;
  return true;
}

void Arena::give(const ZoneRanges &ranges) {
  for (size_t zone = 0; zone != kZones; ++zone)
    if (ranges[zone].size)
      zones[zone]->give(ranges[zone]);
  --users;
}

} // namespace twinjit
