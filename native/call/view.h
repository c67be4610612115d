// One look at an array, whoever made it: NumPy, a buffer, or DLPack.
#pragma once

#include "call/signature.h"

namespace twinjit::call {

/// Where an array's elements are. Points into the array object: valid while that is held.
struct View {
  View() = default;
  View(const View &) = delete; // `strides` may point to `storage`
  View &operator=(const View &) = delete;

  char *data;
  const int64_t *shape;
  const int64_t *strides; // in bytes
  int rank;
  Element element;
  bool writable;
  bool rowMajor;
  bool shared = true;        // false: the exporter made a copy, so that writes would be lost
  bool onHost = true;        // false: the CPU cannot read it
  int64_t storage[kMaxRank]; // of strides that had to be computed

  void ofArray(PyObject *array) {
    const PyArrayObject_fields *source = fields(array);
    data = source->data;
    rank = source->nd;
    shape = source->dimensions;
    strides = source->strides;
    element = elementOf(source->descr);
    writable = source->flags & NPY_ARRAY_WRITEABLE;
    rowMajor = source->flags & NPY_ARRAY_C_CONTIGUOUS;
  }

  /// Set `rowMajor` from the strides. As NumPy has it, the strides of dimensions of size 1 and of
  /// arrays without elements do not matter.
  void findLayout(unsigned itemSize);

  bool isEmpty() const;
};

/// Why a view cannot be passed as it is.
enum class Misfit : uint8_t {
  None,
  Element,
  Device,
  Rank,
  Size,
  ReadOnly,
  Unshared,
  // What a copy cures:
  Layout,
  Alignment,
};

Misfit fit(const View &view, const Value &value);

/// Only whether the function may touch the memory as it likes: on the host, and written if it
/// writes.
Misfit fitAccess(const View &view, const Value &value);

/// Whether a pointer to its elements may be passed: where the program says what these are, they are
/// to be of that type and lie one after another.
Misfit fitPointed(const View &view, const Value &value);

/// Write a fitting view as the memref descriptor that compiled code reads.
void describe(const View &view, const Value &value, uint64_t *slots);

/// Look at an object through the buffer protocol. Returns the memoryview that keeps the memory;
/// null where the object exports none that a View can describe, with or without an exception set.
Ref viewOfBuffer(PyObject *object, View &view);

} // namespace twinjit::call
