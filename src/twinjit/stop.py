"""The wish that a compilation end early, which the native core looks at as it works."""

from __future__ import annotations

from time import monotonic

from twinjit._native._llvm import Stop
from twinjit.errors import ConfigError

__all__ = ["Stop", "check_timeout", "stop_after"]


# Beyond which whole numbers are no floats.
_MOST = 1 << 1023


def check_timeout(timeout: object) -> None:
    """Refuse what is no time limit.

    Raises
    ------
    ConfigError
        If it is not a number of seconds, nor None.
    """
    if timeout is not None and not _is_time(timeout):
        raise ConfigError(f"timeout is {timeout!r}; give seconds, or None for no limit")


def _is_time(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return value == value and (isinstance(value, float) or abs(value) < _MOST)


def stop_after(seconds: float | None) -> Stop:
    """Make a wish that comes true by itself after so many seconds, or, for None, never does."""
    return Stop() if seconds is None else Stop(monotonic() + seconds)
