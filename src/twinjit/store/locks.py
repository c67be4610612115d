"""Locks that a forked child finds free."""

from __future__ import annotations

import os
import threading
import weakref
from types import TracebackType

__all__ = ["ForkedLock"]


class ForkedLock:
    """A lock for ``with`` that is free in a forked child, whoever held it in the parent.

    A child has only the thread that forked, so a plain lock that another thread held would never
    be released there. What such a lock guards must be usable at any moment: the other thread may
    have been in the middle of changing it.
    """

    def __init__(self) -> None:
        self._start_anew()
        _all.add(self)

    def _start_anew(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.release()


_all: weakref.WeakSet[ForkedLock] = weakref.WeakSet()


def _start_all_anew() -> None:
    for lock in list(_all):
        lock._start_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_all_anew)
