"""The C++ core: `_llvm` (libLLVM alone, all that a cache hit touches) and `_mlir`."""
