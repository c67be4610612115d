// The pointers through which compiled code calls functions that may not be compiled yet.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>

namespace twinjit::lazy {

class Cells;

/// One function's address as its callers know it. Stubs (stub.h) are linked to the cell's own
/// address, and load what is at its beginning.
struct Cell {
  Cell(Cells &owner, size_t index) : owner(owner), index(index) {}

  std::atomic<void *> target{nullptr}; // null: not compiled yet
  Cells &owner;
  const size_t index;
};

static_assert(std::atomic<void *>::is_always_lock_free && sizeof(std::atomic<void *>) == 8,
              "stubs load a cell as an atomic pointer");

/// The cells of one group of functions. They stay where they are for as long as this lives, which
/// is as long as anyone can call code that is linked to them.
///
/// Cells are made with the GIL held; any thread may read and write their targets at any time.
class Cells {
public:
  /// `resolver` is what askPython() (resolver_bindings.cpp) calls for the cells' functions; this
  /// does not own it.
  explicit Cells(void *resolver) : resolver(resolver) {}
  Cells(const Cells &) = delete;
  Cells &operator=(const Cells &) = delete;

  Cell &add() { return cells.emplace_back(*this, cells.size()); }
  Cell *at(size_t index) { return index < cells.size() ? &cells[index] : nullptr; }
  size_t size() const { return cells.size(); }

  void *const resolver;

private:
  std::deque<Cell> cells; // which moves no element when it grows
};

} // namespace twinjit::lazy
