// A stack for handlers of signals, where the thread's own may be used up.
#pragma once

namespace twinjit {

/// The alternate signal stack of the thread that makes it, with a guard page below, while this
/// lives. Where there is no room for one, or the thread has one already, nothing changes.
class SignalStack {
public:
  SignalStack();
  ~SignalStack();
  SignalStack(const SignalStack &) = delete;
  SignalStack &operator=(const SignalStack &) = delete;

private:
  void *memory = nullptr;
};

} // namespace twinjit
