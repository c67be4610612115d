#include "common/own_stderr.h"

#include "common/deep_stack.h"

#ifdef __linux__
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace twinjit {

#ifdef __linux__
namespace {

/// Containers' filters of system calls let one or the other through.
bool takeOwnDescriptors() {
  if (unshare(CLONE_FILES) == 0)
    return true;
#ifdef SYS_close_range
  constexpr unsigned kNone = ~0U; // closes no descriptor
  constexpr unsigned kUnshare = 1U << 1;
  return syscall(SYS_close_range, kNone, kNone, kUnshare) == 0;
#else
  return false;
#endif
}

std::string contentOf(int file) {
  std::string content(4096, '\0');
  ssize_t size = pread(file, content.data(), content.size(), 0);
  content.resize(size < 0 ? 0 : static_cast<size_t>(size));
  return content;
}

} // namespace

std::string withOwnStderr(llvm::function_ref<void()> work) {
  std::string written;
  pid_t caller = gettid();
  runWithStack(kStackForCompiling + (size_t(1) << 20), [&] { // with room for `work` to need all
    // Where no thread could be had, this is the caller's, which keeps the descriptors of all.
    bool isOwn = gettid() != caller && takeOwnDescriptors();
    int file = isOwn ? memfd_create("twinjit-stderr", MFD_CLOEXEC) : -1; // closed with the thread
    bool isRead = file >= 0 && dup2(file, STDERR_FILENO) >= 0;
    work();
    if (isRead)
      written = contentOf(file);
  });
  return written;
}
#else
std::string withOwnStderr(llvm::function_ref<void()> work) {
  work();
  return "";
}
#endif

} // namespace twinjit
