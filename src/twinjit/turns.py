"""Who compiles a program, while all others that want it wait: one thread of one process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TypeVar

from twinjit.once import Once
from twinjit.stop import Stop
from twinjit.store.disk import DiskStore
from twinjit.store.flight import Outcome

__all__ = ["Turns"]

_Code = TypeVar("_Code")


class _Held(threading.local):
    """Turns that the thread has or waits for."""

    requests = 0
    keys = 0


# One for all compilers: a backend of one may use another.
_held = _Held()


class Turns:
    """Turns of requests and of keys, among threads and among the processes that share a store.

    Whoever compiles within a turn (a backend, a finaliser, or a signal handler may) waits for no
    other: it could be its own, or that of a thread which waits for this one.

    Parameters
    ----------
    store
        The store whose processes take turns; None where there is nothing to share.
    wait_seconds
        Limit of a wait for another process, after which one goes on without a turn.
    """

    def __init__(self, store: DiskStore | None, wait_seconds: float) -> None:
        self._store = store
        self._wait_seconds = wait_seconds
        self._once = Once()

    @contextmanager
    def of_request(self, request: bytes, stop: Stop) -> Iterator[Outcome]:
        """Hold a request's turn among processes.

        Raises
        ------
        CompilationCancelledError, CompilationTimeoutError
            If `stop` ended the wait.
        """
        if self._store is None:
            yield "unlocked"
            return
        limit = 0 if _held.requests or _held.keys else self._wait_seconds
        _held.requests += 1
        try:
            with self._store.direct_turn(request, limit, stop) as outcome:
                stop.check()
                yield outcome
        finally:
            _held.requests -= 1

    def of_missed(
        self,
        request: bytes,
        stop: Stop,
        find: Callable[[], _Code | None],
        compile_: Callable[[bool], _Code],
    ) -> _Code:
        """Have what was missed found or compiled in a request's turn among processes.

        Parameters
        ----------
        find
            Looks again, once another process may have published it.
        compile_
            Compiles it, and is told whether to wait for other processes in the key's turn.

        Raises
        ------
        CompilationCancelledError, CompilationTimeoutError
            If `stop` ended the wait.
        """
        with self.of_request(request, stop) as outcome:
            found = find() if outcome in ("published", "freed", "timed out") else None
            return compile_(outcome != "timed out") if found is None else found

    @contextmanager
    def of_key(self, key_digest: bytes, stop: Stop, *, waits: bool) -> Iterator[Outcome]:
        """Hold a key's turn among threads and, for no time unless `waits`, among processes.

        Raises
        ------
        CompilationError
            If another thread failed with it while this one waited.
        CompilationCancelledError, CompilationTimeoutError
            If `stop` ended the wait.
        """
        is_within = _held.keys > 0
        limit = self._wait_seconds if waits and not is_within else 0
        _held.keys += 1
        try:
            with nullcontext() if is_within else self._once.turn(key_digest, stop):
                if self._store is None:
                    yield "unlocked"
                    return
                with self._store.turn(key_digest, limit, stop) as outcome:
                    stop.check()
                    yield outcome
        finally:
            _held.keys -= 1
