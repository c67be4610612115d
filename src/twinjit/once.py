"""One piece of work at a time for each key."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

__all__ = ["Once"]


@dataclass
class _Turn:
    lock: threading.Lock = field(default_factory=threading.Lock)
    waiting: int = 0


class Once:
    """Lets threads that want the same key work one after another, and others freely.

    The first does the work; those that waited then look for its result before doing any. If it
    failed, the next tries for itself. A forked child has no threads to wait for, and starts anew.
    """

    def __init__(self) -> None:
        self._start_anew()
        _all.add(self)

    def _start_anew(self) -> None:
        # Guards `_turns` and the counts in it; each key's work runs under that key's lock alone.
        self._lock = threading.Lock()
        self._turns: dict[Hashable, _Turn] = {}

    @contextmanager
    def turn(self, key: Hashable) -> Iterator[None]:
        """Hold `key`'s turn for the body of a ``with`` statement."""
        with self._lock:
            turn = self._turns.setdefault(key, _Turn())
            turn.waiting += 1
        try:
            with turn.lock:
                yield
        finally:
            with self._lock:
                turn.waiting -= 1
                if not turn.waiting and self._turns.get(key) is turn:
                    del self._turns[key]


_all: weakref.WeakSet[Once] = weakref.WeakSet()


def _start_all_anew() -> None:
    for once in list(_all):
        once._start_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_all_anew)
