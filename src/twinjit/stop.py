"""The wish that a compilation end early, which the native core looks at as it works."""

from __future__ import annotations

from time import monotonic

from twinjit._native._llvm import Stop

__all__ = ["Stop", "stop_after"]


def stop_after(seconds: float | None) -> Stop:
    """Make a wish that comes true by itself after so many seconds, or, for None, never does."""
    return Stop() if seconds is None else Stop(monotonic() + seconds)
