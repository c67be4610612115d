// Keeps forks and compiler work apart.
//
// A child of fork() has one thread. A mutex that another thread held at that moment, in LLVM or in
// MLIR, stays locked in it for ever. So a fork waits at a gate until the work of other threads has
// ended, and new work waits for the fork. Work that does not end in time is remembered: the child
// refuses what might need the state that it left.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace twinjit {

/// Work of different kinds shares no state that one could leave unusable to another.
enum class Work { Compile, Link, Import };

/// One for the process, owned by `_llvm`. Calls of compiled code do not pass through: they hold no
/// lock of ours, and may take hours.
class ForkGate {
public:
  /// Make the gate, and have every fork() of the process, Python's or not, leave a child whose gate
  /// is open and knows what was under way. Call once.
  static ForkGate &make();

  /// Count the calling thread's work in. Waits for forks that are pending, but not for one of this
  /// thread, nor where it is counted in already: that fork waits for it. Without the GIL, which the
  /// thread that forks needs. False, counting nothing, where a fork left such work unusable.
  [[nodiscard]] bool enter(Work work);

  /// Count the last work of the calling thread out.
  void leave();

  /// Hold new work back, and wait for that of other threads, but not longer than `patience`.
  /// Without the GIL, which that work may need.
  /// Nothing where the calling thread has closed the gate already.
  void close(std::chrono::duration<double> patience);

  /// Undo close() of the calling thread. A child need not.
  void open();

private:
  static constexpr size_t kWorks = 3;
  using Thread = std::thread::id;
  struct Entry {
    Thread thread;
    Work work;
  };

  ForkGate() = default;
  bool isPassing(Thread thread) const;
  void restartInChild();

  /// Guards all below. The thread that forks holds it across fork(), so that the child's copy is
  /// consistent.
  std::mutex mutex;
  std::condition_variable changed; // work has left, or the gate has opened
  std::vector<Entry> inside;
  std::vector<Entry>
      waiting; // counted in by whoever opens the gate, so that no fork overtakes them
  std::vector<Thread> closers;
  uint64_t openings = 0;
  std::array<bool, kWorks> isUnusable = {}; // changes at forks only
};

/// The process's gate, as this extension knows it.
ForkGate &forkGate();

/// Once, before all else: each extension has its own copy of this code, and all use one gate.
void useForkGate(ForkGate &gate);

} // namespace twinjit
