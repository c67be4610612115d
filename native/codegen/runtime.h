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

/// Where a failing program lands. Stand it up with
///
///     FailureFrame frame;
///     if (setjmp(frame.jump) == 0) { call; } else { frame.message says why }
///
/// Frames nest by thread. Between setjmp and the call no object with a destructor may be created.
/// What the program had allocated when it failed is lost.
struct FailureFrame {
  FailureFrame();
  ~FailureFrame();
  FailureFrame(const FailureFrame &) = delete;
  FailureFrame &operator=(const FailureFrame &) = delete;

  jmp_buf jump;
  const char *volatile message = nullptr; // in the program's own memory
  FailureFrame *outer;
};

/// Address of an external symbol: the runtime's own first, then the process as dlsym finds it, then
/// libm and libgcc_s (which CPython may have loaded out of dlsym's default sight). Null when nobody
/// has it.
void *findSymbol(const std::string &name);

} // namespace twinjit
