"""One thread at a time for each lazy function, without waiting for oneself."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from twinjit.errors import GenerationError
from twinjit.forks import fork_lock, start_anew_in_children
from twinjit.once import Once

__all__ = ["Flights"]


class Flights:
    """Turns, as `Once` has them, for work that may want other turns on its way.

    What generates a function may call others, which are then compiled. If that leads back to the
    first, in this thread or through those that it waits for, nobody could ever go on.
    """

    def __init__(self) -> None:
        self._once = Once()
        self._lock = fork_lock()  # guards what `start_anew` makes
        self.start_anew()
        start_anew_in_children(self)

    def start_anew(self) -> None:
        """Forget all threads, which no forked child has."""
        self._owners: dict[Hashable, int] = {}  # threads that have a turn
        self._wanted: dict[int, Hashable] = {}  # the turn that each thread waits for

    @contextmanager
    def turn(self, key: Hashable, name: str) -> Iterator[None]:
        """Hold `key`'s turn for the body of a ``with`` statement.

        Raises
        ------
        GenerationError
            If whoever has it waits for this thread, or is this thread.
        """
        thread = threading.get_ident()
        with self._lock:
            if self._leads_to(key, thread):
                raise GenerationError(
                    f"generating {name!r} needs {name!r}: what generates a function must not call "
                    "it, nor functions whose generation does"
                )
            self._wanted[thread] = key
        try:
            with self._once.turn(key):
                self._note(thread, key)
                try:
                    yield
                finally:
                    with self._lock:
                        self._owners.pop(key, None)
        finally:
            with self._lock:
                self._wanted.pop(thread, None)

    def _note(self, thread: int, key: Hashable) -> None:
        with self._lock:
            self._owners[key] = thread
            self._wanted.pop(thread, None)

    def _leads_to(self, key: Hashable | None, thread: int) -> bool:
        """Whether the owner of a turn is `thread`, or waits for one of which that is so."""
        while key is not None:
            owner = self._owners.get(key)
            if owner is None:
                return False
            if owner == thread:
                return True
            key = self._wanted.get(owner)
        return False
