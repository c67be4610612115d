// How a worker notes its own end, for the process that it works for.
#pragma once

#include "crash/page.h"

namespace twinjit::crash {

/// Map the page of a descriptor, and have all that ends this process noted there: signals, LLVM's
/// fatal errors, and memory that runs out, wherever it does. Signals keep their default action, so
/// that the process ends by them. Only for workers, and once in each: it changes how the process as
/// a whole behaves, and nothing undoes it. The calling thread gets a stack for the handlers. Null
/// where that fails; errno says why.
Page *install(int descriptor);

/// Note that memory has run out, and end the process at once, with kOutOfMemoryStatus.
[[noreturn]] void endOutOfMemory();

/// What endOutOfMemory() ends with; the page says it for certain.
constexpr int kOutOfMemoryStatus = 112;

} // namespace twinjit::crash
