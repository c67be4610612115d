"""The ends of futures' time."""

from __future__ import annotations

import threading
import weakref
from heapq import heappop, heappush
from itertools import count
from queue import Empty, SimpleQueue
from time import monotonic

from twinjit.errors import CompilationTimeoutError
from twinjit.forks import fork_lock, start_anew_in_children
from twinjit.jobs.future import CompileFuture

__all__ = ["DEADLINES", "Deadlines"]

_LONGEST_WAIT = 3600.0  # seconds; the system takes no waits of many years

# When, in what order it was added, for how many seconds it was. The future is its job's: one that
# has ended shall not be kept, with its executable, until then.
_Entry = tuple[float, int, float, "weakref.ref[CompileFuture]"]


class Deadlines:
    """Has futures fail when their time is over, though the work may take a little longer.

    One thread does that, as long as any future has a deadline to meet. A forked child has none.
    """

    def __init__(self) -> None:
        self._lock = fork_lock()  # guards all that `start_anew` makes, but for the queue itself
        self._order = count()
        self.start_anew()
        start_anew_in_children(self)

    def start_anew(self) -> None:
        """Forget the futures, which are those of the parent."""
        self._unmet = 0  # futures with deadlines that have not ended
        self._is_watched = False
        # What is to be watched; None when there may be nothing left.
        self._news: SimpleQueue[_Entry | None] = SimpleQueue()

    def add(self, future: CompileFuture, deadline: float, seconds: float) -> None:
        """Watch a future.

        Parameters
        ----------
        deadline
            Of `time.monotonic`.
        seconds
            How long it had, for the message.

        Raises
        ------
        RuntimeError
            If there is no thread to watch it.
        """
        with self._lock:
            self._unmet += 1
            is_first = not self._is_watched
            self._is_watched = True
        self._news.put((deadline, next(self._order), seconds, weakref.ref(future)))
        future.add_done_callback(self._count_ended)
        if is_first:
            self._start()

    def _start(self) -> None:
        try:
            threading.Thread(target=self._watch, name="twinjit-deadlines").start()
        except RuntimeError:
            with self._lock:
                self._is_watched = False
            raise

    def _count_ended(self, _: object) -> None:
        with self._lock:
            self._unmet -= 1
            if self._unmet == 0:
                self._news.put(None)

    def _watch(self) -> None:
        waiting: list[_Entry] = []
        news = self._news
        while True:
            _fail_late(waiting)
            wait = waiting[0][0] - monotonic() if waiting else _LONGEST_WAIT
            try:
                entry = news.get(timeout=min(max(0.0, wait), _LONGEST_WAIT))
            except Empty:
                continue
            if entry:
                heappush(waiting, entry)
            elif self._is_over():
                return

    def _is_over(self) -> bool:
        with self._lock:
            self._is_watched = self._unmet > 0
            return not self._is_watched


def _fail_late(waiting: list[_Entry]) -> None:
    while waiting and waiting[0][0] <= monotonic():
        _, _, seconds, reference = heappop(waiting)
        if future := reference():
            future.settle(
                CompilationTimeoutError(
                    f"the compilation did not end within {seconds:g} s and was stopped"
                )
            )


DEADLINES = Deadlines()
"""Those of all compilers."""
