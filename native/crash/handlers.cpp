#include "crash/handlers.h"

#include "common/signal_stack.h"

#include "llvm/Support/ErrorHandling.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

namespace twinjit::crash {
namespace {

Page *page = nullptr; // set once, before the handlers are installed

/// A frame reaches that far above the pointer to its stack, and, with the red zone and what a call
/// pushes, that far below.
constexpr uintptr_t kLargestFrame = 1 << 20;
constexpr uintptr_t kBelow = 4096;

uintptr_t stackPointer(const ucontext_t &context) {
#if defined(__x86_64__)
  return context.uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
  return context.uc_mcontext.sp;
#else
#error "say where this architecture has its stack pointer"
#endif
}

/// Memory around the stack pointer is the stack's, and can be accessed unless the stack has met its
/// end: the guard of a thread's, or where the kernel stops to enlarge the main thread's.
///
/// The kernel refuses to enlarge a stack below its limit where the process may not have more memory
/// (RLIMIT_AS); that looks the same.
bool isStackOverflow(const siginfo_t &info, const ucontext_t &context) {
  if (info.si_code != SEGV_MAPERR && info.si_code != SEGV_ACCERR)
    return false; // sent by a process, or an address that none can have
  uintptr_t address = reinterpret_cast<uintptr_t>(info.si_addr);
  uintptr_t pointer = stackPointer(context);
  return address + kBelow >= pointer && address < pointer + kLargestFrame;
}

/// As far as a field lies from the beginning of what an unchecked malloc() should have given.
constexpr uintptr_t kNearNull = 64 << 10;

/// Upstream defect. Versions: MLIR 22. Trigger: mlir::Operation::create and others use what
/// malloc() returns unchecked. Symptom: without memory, they write near null. Remove when: MLIR has
/// llvm::safe_malloc everywhere. Nothing that runs in a worker goes on after a failed allocation,
/// so that the error is of this one.
bool isFailedAllocation(const siginfo_t &info, int error) {
  return error == ENOMEM && info.si_code == SEGV_MAPERR &&
         reinterpret_cast<uintptr_t>(info.si_addr) < kNearNull;
}

/// Runs wherever the process may be: nothing but stores and system calls.
void noteSignal(int signal, siginfo_t *info, void *context) {
  if (signal == SIGSEGV && isFailedAllocation(*info, errno))
    endOutOfMemory();
  if (!page->signal) {
    page->isStackOverflow =
        signal == SIGSEGV && isStackOverflow(*info, *static_cast<ucontext_t *>(context));
    page->signal = signal;
  }
  prctl(PR_SET_DUMPABLE, 0); // a core_pattern with a pipe takes no notice of RLIMIT_CORE
  raise(signal);             // whose default action SA_RESETHAND has restored
}

void onFatalError(void *, const char *reason, bool) {
  // In pieces, as memory may be what it is about.
  for (const char *part : {"LLVM ERROR: ", reason, "\n"})
    if (write(STDERR_FILENO, part, std::strlen(part)) < 0)
      break; // nobody reads: the signal tells
  // LLVM ends the process with exit(1) on some, which runs what other code wants run at exits.
  std::abort();
}

void onBadAlloc(void *, const char *, bool) { endOutOfMemory(); }

bool catchSignals() {
  struct sigaction action = {};
  action.sa_sigaction = noteSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS, SIGXCPU})
    if (sigaction(signal, &action, nullptr) != 0)
      return false;
  return true;
}

} // namespace

Page *install(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) != 0)
    return nullptr;
  if (status.st_size < static_cast<off_t>(sizeof(Page))) {
    errno = EINVAL;
    return nullptr;
  }
  void *mapped = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (mapped == MAP_FAILED)
    return nullptr;
  page = static_cast<Page *>(mapped);
  activity = &page->activity;
  static SignalStack *ofThisThread = new SignalStack; // for as long as the process lives
  (void)ofThisThread;
  if (!catchSignals())
    return nullptr;
  std::set_new_handler(endOutOfMemory);
  llvm::install_bad_alloc_error_handler(onBadAlloc);
  llvm::install_fatal_error_handler(onFatalError);
  return page;
}

void endOutOfMemory() {
  if (page)
    page->isOutOfMemory = true;
  _exit(kOutOfMemoryStatus);
}

} // namespace twinjit::crash
