#include "forks/gate.h"

#include <pthread.h>

#include <algorithm>
#include <new>

namespace twinjit {
namespace {

ForkGate *theGate = nullptr;

template <typename Range, typename Predicate> void eraseIf(Range &range, Predicate predicate) {
  range.erase(std::remove_if(range.begin(), range.end(), predicate), range.end());
}

} // namespace

ForkGate &forkGate() { return *theGate; }

void useForkGate(ForkGate &gate) { theGate = &gate; }

ForkGate &ForkGate::make() {
  static auto *gate = new ForkGate(); // never destroyed: threads may outlive static destructors
  pthread_atfork([] { gate->mutex.lock(); }, [] { gate->mutex.unlock(); },
                 [] { gate->restartInChild(); });
  return *gate;
}

/// Whether a thread may pass while the gate is closed. Needs the mutex.
bool ForkGate::isPassing(Thread thread) const {
  return std::find(closers.begin(), closers.end(), thread) != closers.end() ||
         std::any_of(inside.begin(), inside.end(),
                     [=](const Entry &entry) { return entry.thread == thread; });
}

bool ForkGate::enter(Work work) {
  Entry entry{std::this_thread::get_id(), work};
  std::unique_lock<std::mutex> lock(mutex);
  if (isUnusable[static_cast<size_t>(work)])
    return false;
  if (closers.empty() || isPassing(entry.thread)) {
    inside.push_back(entry);
    return true;
  }
  waiting.push_back(entry);
  changed.wait(lock, [this, seen = openings] { return openings != seen; });
  return true;
}

void ForkGate::leave() {
  Thread self = std::this_thread::get_id();
  std::lock_guard<std::mutex> lock(mutex);
  auto last = std::find_if(inside.rbegin(), inside.rend(),
                           [=](const Entry &entry) { return entry.thread == self; });
  inside.erase(std::next(last).base());
  if (!closers.empty())
    changed.notify_all();
}

void ForkGate::close(std::chrono::duration<double> patience) {
  Thread self = std::this_thread::get_id();
  std::unique_lock<std::mutex> lock(mutex);
  if (std::find(closers.begin(), closers.end(), self) != closers.end())
    return;
  closers.push_back(self);
  changed.wait_for(lock, patience, [this, self] {
    return std::all_of(inside.begin(), inside.end(),
                       [=](const Entry &entry) { return entry.thread == self; });
  });
}

void ForkGate::open() {
  std::lock_guard<std::mutex> lock(mutex);
  auto mine = std::find(closers.begin(), closers.end(), std::this_thread::get_id());
  if (mine == closers.end())
    return;
  closers.erase(mine);
  if (!closers.empty())
    return;
  inside.insert(inside.end(), waiting.begin(), waiting.end());
  waiting.clear();
  ++openings;
  changed.notify_all();
}

void ForkGate::restartInChild() {
  Thread self = std::this_thread::get_id();
  for (const Entry &entry : inside)
    if (entry.thread != self)
      isUnusable[static_cast<size_t>(entry.work)] = true;
  eraseIf(inside, [=](const Entry &entry) { return entry.thread != self; });
  waiting.clear();
  closers.clear();
  new (&changed) std::condition_variable(); // the old one counts waiters that are gone
  mutex.unlock();
}

} // namespace twinjit
