// How work that takes long is told to end early.
#pragma once

#include "common/clock.h"
#include "common/outcome.h"

#include <algorithm>
#include <atomic>
#include <limits>

namespace twinjit {

/// A wish that work end, of another thread or because its time is over. Any thread may ask; work
/// looks at it between its steps, and fails with failure() then. Nothing wakes work that sleeps.
class Stop {
public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// `deadline` is of the steady clock (Python's time.monotonic()), in seconds.
  explicit Stop(double deadline = kNever) : deadline(deadline) {}
  Stop(const Stop &) = delete;
  Stop &operator=(const Stop &) = delete;

  void cancel() { cancelled.store(true, std::memory_order_relaxed); }

  bool isCancelled() const { return cancelled.load(std::memory_order_relaxed); }

  /// Once true, always true. Costs some 25 ns where there is a deadline, and 1 ns elsewhere.
  bool isRequested() const { return isCancelled() || (deadline != kNever && now() >= deadline); }

  /// Seconds until the deadline, not less than 0; kNever without one.
  double secondsLeft() const {
    return deadline == kNever ? kNever : std::max(0.0, deadline - now());
  }

  Failure failure() const {
    if (isCancelled())
      return {Kind::Cancelled, "the compilation was cancelled"};
    return {Kind::Timeout, "the compilation did not end in time and was stopped"};
  }

private:
  static double now() {
    return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
  }

  std::atomic<bool> cancelled = false;
  const double deadline;
};

} // namespace twinjit
