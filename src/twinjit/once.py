"""One piece of work at a time for each key."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field

from twinjit.errors import CompilationError
from twinjit.forks import fork_lock, start_anew_in_children
from twinjit.stop import Stop

__all__ = ["Once"]

_PAUSE = 0.02  # seconds between looks at a stop


@dataclass
class _Turn:
    # Guards `failure`, and is held while the work is done.
    lock: threading.Lock = field(default_factory=threading.Lock)
    failure: CompilationError | None = None


class Once:
    """Lets threads that want the same key work one after another, and others freely.

    The first does the work; those that waited then look for its result before doing any. If it
    failed with a `CompilationError`, which is the program's, it fails for those that waited, too;
    whoever comes later tries again. After any other exception, which may have to do with the thread
    that it was raised in (KeyboardInterrupt, MemoryError), the next of them tries for itself. A
    forked child has no threads to wait for, and starts anew.
    """

    def __init__(self) -> None:
        self._lock = fork_lock()  # guards `_turns`; work runs under its key's lock alone
        self.start_anew()
        start_anew_in_children(self)

    def start_anew(self) -> None:
        """Forget all turns, which no thread of a forked child has."""
        # A turn is here for as long as any thread has it or waits for it.
        self._turns: weakref.WeakValueDictionary[Hashable, _Turn] = weakref.WeakValueDictionary()

    @contextmanager
    def turn(self, key: Hashable, stop: Stop | None = None) -> Iterator[None]:
        """Hold `key`'s turn for the body of a ``with`` statement.

        Parameters
        ----------
        stop
            Ends the wait early.

        Raises
        ------
        CompilationError
            If a thread failed with it while this one waited. Each thread gets a copy, since
            raising an exception writes to it, and its traceback keeps the frames of its thread.
        CompilationCancelledError, CompilationTimeoutError
            If `stop` ended the wait.
        """
        with self._lock:
            turn = self._turns.setdefault(key, _Turn())
        taken: list[bool] = []
        try:
            while not any(taken):
                # In one call, for a signal handler may raise after any: the lock would be lost.
                taken.extend(map(turn.lock.acquire, (True,), (_PAUSE,)))
                if stop:
                    stop.check()
            if turn.failure:
                raise copy(turn.failure)
            try:
                yield
            except CompilationError as error:
                turn.failure = copy(error)
                with self._lock:
                    if self._turns.get(key) is turn:
                        del self._turns[key]  # who comes later does not join it
                raise
        finally:
            if any(taken):
                turn.lock.release()
