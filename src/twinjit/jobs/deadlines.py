"""The ends of futures' time."""

from __future__ import annotations

import threading
import weakref
from functools import partial
from heapq import heappop, heappush
from itertools import count
from queue import Empty, SimpleQueue
from time import monotonic

from twinjit.errors import CompilationTimeoutError
from twinjit.forks import fork_lock, start_anew_in_children
from twinjit.jobs.future import CompileFuture

__all__ = ["DEADLINES", "Deadlines", "too_late"]

_LONGEST_WAIT = 3600.0  # seconds; the system takes no waits of many years

# When, its number in the order in which they were added, for how many seconds it was. The future is
# its job's: one that has ended shall not be kept, with its executable, until then.
_Entry = tuple[float, int, float, "weakref.ref[CompileFuture]"]


class Deadlines:
    """Has futures fail when their time is over, though the work may take a little longer.

    One thread does that, as long as any future has a deadline to meet. A forked child has none.
    """

    def __init__(self) -> None:
        self._lock = fork_lock()  # guards `_watcher`, and the last look at the news
        self._numbers = count()
        self.start_anew()
        start_anew_in_children(self)

    def start_anew(self) -> None:
        """Forget the futures, which are those of the parent."""
        # The thread, from before it starts until it has seen that nothing is left.
        self._watcher: threading.Thread | None = None
        # What is to be watched, and the numbers of what has ended, perhaps before it comes.
        self._news: SimpleQueue[_Entry | int] = SimpleQueue()

    @property
    def is_own_thread(self) -> bool:
        """Whether this is called in its thread."""
        with self._lock:
            return threading.current_thread() is self._watcher

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
        number = next(self._numbers)
        # First: whatever gets in between, what is watched is known to end.
        future.add_done_callback(partial(_tell_end, self._news, number))
        self._news.put((deadline, number, seconds, weakref.ref(future)))
        self._see_to_watcher()

    def _see_to_watcher(self) -> None:
        thread = threading.Thread(target=self._watch, name="twinjit-deadlines")
        try:
            with self._lock:
                self._watcher = self._watcher or thread
                is_first = self._watcher is thread
            if is_first:
                thread.start()
        except BaseException:  # none is to be had, or an exception of a signal handler
            with self._lock:
                if self._watcher is thread and thread.ident is None:
                    self._watcher = None  # if it starts all the same, see `_is_chosen`
            raise

    def _is_chosen(self) -> bool:
        """Whether the thread that has started is the one that watches."""
        thread = threading.current_thread()
        with self._lock:
            self._watcher = self._watcher or thread
            return self._watcher is thread

    def _watch(self) -> None:
        if not self._is_chosen():
            return
        waiting: list[_Entry] = []
        unmet: set[int] = set()  # numbers of futures that have not ended
        news = self._news
        while unmet or not self._is_over(news):
            _fail_late(waiting)
            wait = waiting[0][0] - monotonic() if waiting else _LONGEST_WAIT
            try:
                each = news.get(timeout=min(max(0.0, wait), _LONGEST_WAIT))
            except Empty:
                continue
            if isinstance(each, int):
                unmet.discard(each)
            elif _has_not_ended(each):
                heappush(waiting, each)
                unmet.add(each[1])

    def _is_over(self, news: SimpleQueue[_Entry | int]) -> bool:
        with self._lock:
            if news.empty():
                self._watcher = None
            return self._watcher is None


def _tell_end(news: SimpleQueue[_Entry | int], number: int, _: object) -> None:
    news.put(number)


def _has_not_ended(entry: _Entry) -> bool:
    future = entry[3]()
    return future is not None and not future.done()


def _fail_late(waiting: list[_Entry]) -> None:
    while waiting and waiting[0][0] <= monotonic():
        _, _, seconds, reference = heappop(waiting)
        if future := reference():
            future.settle(too_late(seconds))


def too_late(seconds: float) -> CompilationTimeoutError:
    """Make the error of a future that had so many seconds."""
    return CompilationTimeoutError(
        f"the compilation did not end within {seconds:g} s and was stopped"
    )


DEADLINES = Deadlines()
"""Those of all compilers."""
