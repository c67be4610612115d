// What compiled code may call, beside the C library: a few functions that MLIR's lowerings assume,
// and the way in which compiled code stops itself without ending the process.
#pragma once

#include <csetjmp>
#include <string>

namespace twinjit {

/// Symbol that programs call, with a NUL-terminated message, when an assertion in them does not
/// hold. Never returns.
inline constexpr char kAssertionFailed[] = "twinjit_assertion_failed";

/// The C library's allocation, in programs; fails as above instead of returning null.
inline constexpr char kAllocate[] = "malloc";

/// Symbol that stubs of lazy functions (lazy/stub.h) call with their cell: `void *(Cell *)`, which
/// has the function compiled and returns its address, or null where it failed and nobody was there
/// to be told.
inline constexpr char kResolve[] = "twinjit_resolve";

/// Have programs call `resolve` by that symbol. Once, before any is linked.
void provideResolver(void *resolve);

/// Where a failing program lands. Stand it up with
///
///     FailureFrame frame;
///     if (setjmp(frame.jump) == 0) { call; } else { frame.message says why, or frame.exception }
///
/// Frames nest by thread. Between setjmp and the call no object with a destructor may be created.
/// What the program had allocated when it failed is lost.
struct FailureFrame {
  FailureFrame();
  ~FailureFrame();
  FailureFrame(const FailureFrame &) = delete;
  FailureFrame &operator=(const FailureFrame &) = delete;

  /// The innermost frame of this thread, unless Python was called back since it was stood up: a
  /// jump would skip Python's own frames. Null where there is none. Needs no GIL.
  static FailureFrame *landing();

  jmp_buf jump;
  const char *volatile message = nullptr; // in the program's own memory
  void *volatile exception = nullptr;     // Python's, owned by whoever stood this up; or null
  FailureFrame *outer;
  int depth; // of callbacks of Python's, when it was stood up
};

/// Have frames ask `depth` how many callbacks of Python's this thread is in; it needs no GIL. Once.
void countCallbacks(int (*depth)());

/// Address of an external symbol: the runtime's own first, then the process as dlsym finds it, then
/// libm and libgcc_s (which CPython may have loaded out of dlsym's default sight). Null when nobody
/// has it.
void *findSymbol(const std::string &name);

} // namespace twinjit
