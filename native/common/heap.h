// Memory that is free, and that the C library keeps all the same.
#pragma once

#include <cstddef>

namespace twinjit {

/// Say that some bytes were freed which may lie between others that were not: glibc returns only
/// what is free at the end of a heap by itself.
void noteFreed(size_t bytes);

/// Return free memory to the system, where so much was freed since the last time that it pays, or
/// `always`. Takes milliseconds, and more the more pieces are free (400 ms for 150,000), while
/// other threads wait for memory: so it takes a fiftieth of the time at most, and more only where
/// several times as much was freed.
///
/// Call without the GIL, and outside of locks.
void giveBackFreed(bool always = false);

} // namespace twinjit
