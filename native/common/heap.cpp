#include "common/heap.h"

#include "common/clock.h"

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
Clock::time_point notBefore; // guarded by isAtWork

} // namespace

void noteFreed(size_t bytes) { freed.fetch_add(bytes, std::memory_order_relaxed); }

void giveBackFreed([[maybe_unused]] bool always) {
#ifdef __GLIBC__
  if (!always && freed.load(std::memory_order_relaxed) < kWorthwhile)
    return;
  if (isAtWork.exchange(true))
    return;
  auto start = Clock::now();
  if (always || start >= notBefore) {
    freed.store(0, std::memory_order_relaxed);
    malloc_trim(0);
    notBefore = Clock::now() + kPause * (Clock::now() - start);
  }
  isAtWork.store(false);
#endif
}

} // namespace twinjit
