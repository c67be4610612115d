#include "common/deep_stack.h"

#include <pthread.h>

namespace twinjit {

void runWithStack(size_t bytes, llvm::function_ref<void()> work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  auto call = [](void *argument) -> void * {
    (*static_cast<llvm::function_ref<void()> *>(argument))();
    return nullptr;
  };
  pthread_t thread;
  bool started = pthread_attr_setstacksize(&attributes, bytes) == 0 &&
                 pthread_create(&thread, &attributes, call, &work) == 0;
  pthread_attr_destroy(&attributes);
  if (started)
    pthread_join(thread, nullptr);
  else
    work();
}

} // namespace twinjit
