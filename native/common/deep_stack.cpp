#include "common/deep_stack.h"

#include "common/activity.h"
#include "common/signal_stack.h"

#include <optional>
#include <pthread.h>

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

} // namespace twinjit
