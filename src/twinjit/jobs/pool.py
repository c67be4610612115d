"""Threads that work, the most urgent work first."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import count

from twinjit.errors import ExecutorError
from twinjit.forks import fork_lock, start_anew_in_children

__all__ = ["Pool"]

_PAUSE = 0.001  # seconds, in which a thread that was made starts


class Pool:
    """Runs work in at most so many threads, each as long as there is work.

    So there is nothing that idles, or has to be ended. The interpreter waits for the threads when
    it ends. Starting one takes some 50 µs. A forked child has neither threads nor work.

    Parameters
    ----------
    most
        How many threads there may be.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = fork_lock()  # guards all that `start_anew` makes; work runs without it
        self.start_anew()
        start_anew_in_children(self)

    def start_anew(self) -> None:
        """Forget the work and threads, which no forked child has."""
        self._waiting: list[tuple[int, int, Callable[[], None]]] = []
        self._order = count()
        # From before they start until they have seen that there is no more work.
        self._threads: set[threading.Thread] = set()
        self._afterwards: list[Callable[[], object]] = []  # to be called when there are none

    def add(self, work: Callable[[], None], priority: int) -> None:
        """Have something done after all of higher and of the same priority, and before others.

        Parameters
        ----------
        work
            Raises nothing.

        Raises
        ------
        ExecutorError
            If no thread can be had for it; it is not done then.
        """
        thread = threading.Thread(target=self._work, name="twinjit-compile")
        entry = (-priority, next(self._order), work)
        try:
            with self._lock:
                heappush(self._waiting, entry)
                if len(self._threads) >= self._most:
                    return
                self._threads.add(thread)
            thread.start()
        except RuntimeError as error:
            if not self._do_without(thread, entry):
                raise ExecutorError(f"there is no thread to compile in: {error}") from error
        except BaseException:  # of a signal handler, perhaps before it started
            self._do_without(thread, entry)
            raise

    @property
    def is_own_thread(self) -> bool:
        """Whether this is called in one of its threads."""
        with self._lock:
            return threading.current_thread() in self._threads

    def call_when_idle(self, call: Callable[[], object]) -> None:
        """Call something once there is no work: here, or in the thread that ends last."""
        with self._lock:
            self._afterwards.append(call)
        self._call_if_idle()

    def wait(self) -> None:
        """Wait until there is no work; to be called in none of its threads."""
        while True:
            with self._lock:
                threads = list(self._threads)
            if not threads:
                return
            for thread in threads:
                if thread.is_alive():
                    thread.join()
                else:  # not yet
                    time.sleep(_PAUSE)

    def _do_without(
        self, thread: threading.Thread, entry: tuple[int, int, Callable[[], None]]
    ) -> bool:
        """Go on without a thread that cannot start; False if there is no other for the work."""
        with self._lock:
            self._threads.discard(thread)
            if self._threads or entry not in self._waiting:
                return True
            self._waiting.remove(entry)
            heapify(self._waiting)
            return False

    def _work(self) -> None:
        with self._lock:  # again, where an exception of a signal handler has ended `add`
            self._threads.add(threading.current_thread())
        while work := self._next():
            work()
            del work  # which may hold much, while the next is waited for
        self._call_if_idle()

    def _call_if_idle(self) -> None:
        with self._lock:
            if self._threads:
                return
            calls, self._afterwards = self._afterwards, []
        for call in calls:
            call()

    def _next(self) -> Callable[[], None] | None:
        with self._lock:
            if self._waiting:
                return heappop(self._waiting)[2]
            self._threads.discard(threading.current_thread())
            return None
