// The page that a worker shares with the process that it works for, which reads it when the worker
// is no more.
#pragma once

#include "common/activity.h"

#include <cstdint>

namespace twinjit::crash {

/// All zero before anything was noted. Both sides are of one build, so its layout is no format.
struct Page {
  Activity activity;
  int32_t signal; // that a handler has seen; 0 if none
  bool isStackOverflow;
  bool isOutOfMemory;
};

} // namespace twinjit::crash
