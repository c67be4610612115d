#include "common/deep_stack.h"

#include "common/activity.h"
#include "common/signal_stack.h"

#include "llvm/Support/MathExtras.h"

#include <pthread.h>

#include <cstdint>
#include <optional>

namespace twinjit {
namespace {

/// No frame of the compiler's may step over it: what lies beyond is another's memory.
constexpr size_t kGuard = 1 << 20;

void *callOnDeepStack(void *argument) {
  std::optional<SignalStack> ofHandlers;
  if (activity) // a worker, which tells of its own end
    ofHandlers.emplace();
  (*static_cast<llvm::function_ref<void()> *>(argument))();
  return nullptr;
}

constexpr size_t kSpare = size_t(1) << 20; // for what the thread itself has on its stack

/// The lowest address of this thread's stack; 0, as if there were no end, where that is unknown.
uintptr_t findEndOfStack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return 0;
  void *lowest = nullptr;
  size_t size = 0;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  return reinterpret_cast<uintptr_t>(lowest);
}

/// What is left of this thread's stack, in bytes.
size_t roomOnStack() {
  // Of the first thread, glibc reads it from a file.
  static thread_local const uintptr_t end = findEndOfStack();
  return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) - end;
}

} // namespace

void runWithStack(size_t bytes, llvm::function_ref<void()> work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setguardsize(&attributes, kGuard);
  pthread_t thread;
  bool started = pthread_attr_setstacksize(&attributes, bytes) == 0 &&
                 pthread_create(&thread, &attributes, callOnDeepStack, &work) == 0;
  pthread_attr_destroy(&attributes);
  if (started)
    pthread_join(thread, nullptr);
  else
    work();
}

bool hasRoom(size_t bytes) { return roomOnStack() >= bytes; }

void runWithRoom(size_t bytes, llvm::function_ref<void()> work) {
  if (hasRoom(bytes))
    work();
  else
    runWithStack(llvm::alignTo(bytes, kSpare) + kSpare, work);
}

} // namespace twinjit
