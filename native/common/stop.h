// How work that takes long is told to end early.
#pragma once

#include "common/clock.h"
#include "common/outcome.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <string>

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

  /// For people, `phase` (as in Report.phases) and `pass` say where work ended, if not empty.
  Failure failure(const std::string &phase = "", const std::string &pass = "") const {
    std::string where = (phase.empty() ? "" : " in " + phase) + (pass.empty() ? "" : " at " + pass);
    if (isCancelled())
      return {Kind::Cancelled, "the compilation was cancelled" + where};
    return {Kind::Timeout, "the compilation did not end in time and was stopped" + where};
  }

private:
  static double now() {
    return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
  }

  std::atomic<bool> cancelled = false;
  const double deadline;
};

/// Of work that nobody can ask to end, which need not look at it at all.
inline const Stop neverStop;

/// A null pointer, for such work, is Python's None.
inline const Stop &orNever(const Stop *stop) { return stop ? *stop : neverStop; }

/// Looks at a Stop every so often, for work in steps of less than a microsecond.
class Poll {
public:
  explicit Poll(const Stop &stop) : stop(stop) {}

  /// Once true, always true.
  bool isRequested() {
    if (!requested && ++asked % kInterval == 0)
      requested = stop.isRequested();
    return requested;
  }

private:
  static constexpr unsigned kInterval = 64;

  const Stop &stop;
  unsigned asked = 0;
  bool requested = false;
};

} // namespace twinjit
