// Running what recurses as deep as its input is nested.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstddef>

namespace twinjit {

/// Run `work` on a thread of its own with a stack of at least `bytes`, and wait for it. Only what
/// is used of a stack takes memory. Where there is no room for that much, `work` runs on this
/// thread.
void runWithStack(size_t bytes, llvm::function_ref<void()> work);

} // namespace twinjit
