"""The C++ core: `_llvm` (libLLVM alone, all that a cache hit touches) and `_mlir`."""

from __future__ import annotations

import importlib


def __getattr__(name: str) -> object:
    """Import `_mlir` when it is first asked for."""
    if name != "_mlir":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from twinjit._native.gate import held_off

    with held_off():
        # MLIR's bindings, which the first compilation imports, log something then.
        importlib.import_module("logging")
        return importlib.import_module("twinjit._native._mlir")
