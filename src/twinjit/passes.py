"""The contexts that are Twinjit's own."""

from __future__ import annotations

__all__ = ["release_contexts"]


def release_contexts() -> None:
    """Drop the contexts that Twinjit keeps for the next compilations, and return free memory.

    For a process that is going to be idle. The next compilations make new ones, some 4 ms each.
    Memory that was freed is returned to the system by the way in any case, but not all of it.
    """
    from twinjit._native import _mlir  # 200 MB of MLIR, which `import twinjit` must not load

    _mlir.release_contexts()
