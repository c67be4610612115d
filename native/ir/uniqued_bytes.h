// How much a context has grown.
#pragma once

#include "mlir/IR/MLIRContext.h"

#include <cstddef>

namespace twinjit {

/// Bytes of the heap in which a context has its attributes and types. It only goes up: MLIR frees
/// none of them before the context. Takes about a microsecond, whatever else is on the heap
/// (mallinfo2() counts other threads' memory, too, and takes 450 ms where 150,000 pieces are free).
///
/// For a context with multithreading disabled, used by no other thread meanwhile. Where it is
/// enabled, each thread's are elsewhere.
size_t uniquedBytes(mlir::MLIRContext &context);

} // namespace twinjit
