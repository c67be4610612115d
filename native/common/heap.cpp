#include "common/heap.h"

#include "common/clock.h"

#include <algorithm>
#include <atomic>
#include <cstdlib> // defines __GLIBC__
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace twinjit {
namespace {

constexpr size_t kWorthwhile = size_t(32) << 20;
constexpr int kPause = 50; // times what the last one took

// Each extension has its own.
std::atomic<size_t> freed = 0;
std::atomic<bool> isAtWork = false;
// Of the last time; guarded by isAtWork.
Clock::time_point ended;
Clock::duration took = Clock::duration::zero();

/// The more was freed, the sooner it pays again. Needs isAtWork.
bool isDue(size_t bytes) {
  return Clock::now() - ended >= took * kPause / std::max<size_t>(bytes / kWorthwhile, 1);
}

} // namespace

void noteFreed(size_t bytes) { freed.fetch_add(bytes, std::memory_order_relaxed); }

void giveBackFreed([[maybe_unused]] bool always) {
#ifdef __GLIBC__
  size_t bytes = freed.load(std::memory_order_relaxed);
  if (!always && bytes < kWorthwhile)
    return;
  if (isAtWork.exchange(true))
    return;
  if (always || isDue(bytes)) {
    freed.store(0, std::memory_order_relaxed);
    auto start = Clock::now();
    malloc_trim(0);
    ended = Clock::now();
    took = ended - start;
  }
  isAtWork.store(false);
#endif
}

} // namespace twinjit
