// Running what recurses as deep as its input is nested.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstddef>
#include <optional>

namespace twinjit {

/// Run `work` on a thread of its own with a stack of at least `bytes`, and wait for it. Only what
/// is used of a stack takes memory. Where there is no room for that much, `work` runs on this
/// thread.
void runWithStack(size_t bytes, llvm::function_ref<void()> work);

/// Passes on regions nested kMaxNesting deep (ir/depth.h) take some 3 MiB.
constexpr size_t kStackForCompiling = size_t(6) << 20;

/// JITLink does not recurse.
constexpr size_t kStackForLinking = size_t(256) << 10;

/// Whether that much is left of this thread's stack.
bool hasRoom(size_t bytes);

/// Run `work` here where that much is left of this thread's stack, and with a stack of its own
/// where it is not: callers may have 32 KiB, which is Python's least (`threading.stack_size`).
void runWithRoom(size_t bytes, llvm::function_ref<void()> work);

/// The same, for what returns something.
template <typename Function> auto withRoom(size_t bytes, Function &&work) {
  std::optional<decltype(work())> result;
  runWithRoom(bytes, [&] { result.emplace(work()); });
  return std::move(*result);
}

} // namespace twinjit
