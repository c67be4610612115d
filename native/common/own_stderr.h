// What libraries write to stderr, without anyone seeing it.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace twinjit {

/// Calls `work` on a thread of its own, waits for it, and returns what that wrote to descriptor 2:
/// such a thread can have a table of descriptors for itself, so that what other threads write there
/// goes where it always goes. Takes some 100 µs. Where the system has no such tables, `work` is
/// called, and what it writes is written.
std::string withOwnStderr(llvm::function_ref<void()> work);

} // namespace twinjit
