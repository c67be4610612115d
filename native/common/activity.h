// What the compiler is at, for whoever has to tell after its process has ended.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <cstring>

namespace twinjit {

/// Memory that a worker shares with the process that it works for, which reads it when the worker
/// is no more. Texts end with a zero byte, and are cut to fit.
struct Activity {
  char phase[32]; // as in Report.phases; empty between them
  char pass[160]; // the pass that runs, as its pipeline names it; empty where none does
};

/// Where this process notes it; null in all but workers. Each extension has its own pointer.
inline Activity *activity = nullptr;

template <size_t N> void copyText(char (&into)[N], llvm::StringRef text) {
  size_t length = std::min(text.size(), N - 1);
  std::memcpy(into, text.data(), length);
  into[length] = 0;
}

/// A phase begins.
inline void notePhase(llvm::StringRef phase) {
  if (!activity)
    return;
  copyText(activity->phase, phase);
  activity->pass[0] = 0;
}

/// A pass of the phase begins.
inline void notePass(llvm::StringRef pass) {
  if (activity)
    copyText(activity->pass, pass);
}

} // namespace twinjit
