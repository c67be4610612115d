// One call on its way: Python's arguments become slots, and slots become Python's results.
#pragma once

#include "call/signature.h"
#include "call/view.h"

#include "llvm/ADT/SmallVector.h"

namespace twinjit::call {

class Call {
public:
  /// `plan` and `arguments` must stay alive longer than the call.
  Call(const Plan &plan, PyObject *const *arguments) : plan(plan), arguments(arguments) {
    slots.resize_for_overwrite(plan.parameterSlots + plan.resultSlots);
  }

  /// Fill the parameters' slots. `out` is null or what the caller gave. False with an exception
  /// set.
  bool bind(PyObject *out);

  uint64_t *data() { return slots.data(); }

  /// After the compiled function ran: its results as Python gets them, or null with an exception
  /// set. Takes ownership of all memory that the function returned, whatever happens.
  Ref takeResults();

private:
  // arguments.cpp
  bool bindParameter(unsigned parameter, PyObject *object);
  bool bindArray(unsigned parameter, PyObject *object);
  bool bindPointer(unsigned parameter, PyObject *object);
  bool bindMemory(unsigned parameter, PyObject *object);
  bool bindCopy(unsigned parameter, const View &view);
  bool look(unsigned parameter, PyObject *object, View &view);
  void hold(unsigned parameter, Ref owner, bool writable);

  // outs.cpp
  bool bindOuts(PyObject *out);
  bool bindOut(unsigned parameter, PyObject *given);
  bool detach(unsigned parameter);
  void writeBack();

  // results.cpp
  struct Memory {
    Ref owner;              // keeps the block; null: nobody does
    bool writable = true;   // whether Python may write to it
    bool shared = false;    // whether an argument or another result sees it too
    uint64_t allocated = 0; // the block's address
  };
  int parameterAt(uint64_t allocated, bool resultIsEmpty) const;
  Memory memoryOfParameter(unsigned parameter);
  bool isConstant(const uint64_t *descriptor) const;
  bool claimMemories(llvm::SmallVectorImpl<Memory> &memories);
  Ref arrayFromSlots(const Value &value, const Memory &memory);
  Ref takeResult(size_t index, const Memory &memory);

  /// What keeps a parameter's memory, where that is not the Python argument itself.
  struct Held {
    unsigned parameter;
    bool writable;
    Ref owner;
  };

  /// An out-parameter's stand-in, to be copied to where the caller wants it.
  struct Detached {
    void *target;
    const void *source;
    size_t bytes;
  };

  const Plan &plan;
  PyObject *const *arguments;
  llvm::SmallVector<uint64_t, 64> slots;
  llvm::SmallVector<Held, 4> held; // of several for one parameter the last counts
  llvm::SmallVector<Ref, 2> outs;  // by out-parameter: the result
  llvm::SmallVector<Detached, 1> detached;
};

} // namespace twinjit::call
