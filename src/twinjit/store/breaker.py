"""When to leave a server alone that has just failed."""

from __future__ import annotations

import os
from collections.abc import Callable

__all__ = ["Breaker"]

_FIRST_SECONDS = 1.0
_LONGEST_SECONDS = 60.0


class Breaker:
    """Refuses calls for a while after one has failed, then lets one try.

    The while is a second at first and doubles with each try that fails, up to a minute; it is
    shortened at random by up to a half, so that many clients do not come back at the same moment.
    A call that succeeds ends it.

    A breaker has no lock: callers see to it that one thread at a time uses it. Each call gets the
    number of the failure before it, so that of many calls under way only the first to fail counts,
    and one that began before a failure does not undo it.

    Parameters
    ----------
    clock
        Gives seconds, and never goes back.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._failures = 0
        self._delay = 0.0  # 0 while closed
        self._retry_at = 0.0

    @property
    def is_open(self) -> bool:
        """Whether the last call that counted failed."""
        return self._delay > 0

    @property
    def retry_in(self) -> float:
        """Seconds until the next call may try; 0 where one may now."""
        return max(self._retry_at - self._clock(), 0.0) if self.is_open else 0.0

    def enter(self) -> int | None:
        """Ask for a call; None if it is refused, else what to end it with.

        While one call tries, others are refused; if it never ends, another may try after as long.
        """
        if self.is_open:
            if self.retry_in > 0:
                return None
            self._wait()
        return self._failures

    def succeeded(self, attempt: int) -> None:
        """End a call that `enter` allowed."""
        if attempt == self._failures:
            self._delay = 0.0

    def failed(self, attempt: int) -> None:
        """End a call that `enter` allowed, and refuse others."""
        if attempt == self._failures:
            self._failures += 1
            self._delay = min(2 * self._delay, _LONGEST_SECONDS) or _FIRST_SECONDS
            self._wait()

    def _wait(self) -> None:
        shortened = 1 - os.urandom(1)[0] / 510
        self._retry_at = self._clock() + self._delay * shortened
