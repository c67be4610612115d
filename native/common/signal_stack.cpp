#include "common/signal_stack.h"

#include <cstddef>

#include <csignal>
#include <sys/mman.h>

namespace twinjit {
namespace {

/// What the kernel saves there takes some 11 kB with all of AVX-512 and AMX.
constexpr size_t kBytes = 64 << 10;
/// A multiple of all page sizes.
constexpr size_t kGuard = 64 << 10;

} // namespace

SignalStack::SignalStack() {
  stack_t present = {};
  if (sigaltstack(nullptr, &present) != 0 || !(present.ss_flags & SS_DISABLE))
    return;
  void *mapped = mmap(nullptr, kGuard + kBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (mapped == MAP_FAILED)
    return;
  mprotect(mapped, kGuard, PROT_NONE);
  stack_t wanted = {};
  wanted.ss_sp = static_cast<char *>(mapped) + kGuard;
  wanted.ss_size = kBytes;
  if (sigaltstack(&wanted, nullptr) == 0)
    memory = mapped;
  else
    munmap(mapped, kGuard + kBytes);
}

SignalStack::~SignalStack() {
  if (!memory)
    return;
  stack_t none = {};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
  munmap(memory, kGuard + kBytes);
}

} // namespace twinjit
