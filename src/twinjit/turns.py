"""Who compiles a program, while all others that want it wait: one thread of one process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from twinjit.once import Once
from twinjit.store.disk import DiskStore
from twinjit.store.flight import Outcome

__all__ = ["Turns"]


class Turns:
    """Turns of requests and of keys, among threads and among the processes that share a store.

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

    def of_request(self, request: bytes) -> AbstractContextManager[Outcome]:
        """Hold a request's turn among processes."""
        if self._store is None:
            return nullcontext("unlocked")
        return self._store.direct_turn(request, self._wait_seconds)

    @contextmanager
    def of_key(self, key_digest: bytes, *, waits: bool) -> Iterator[Outcome]:
        """Hold a key's turn among threads and, for no time unless `waits`, among processes.

        Raises
        ------
        CompilationError
            If another thread failed with it while this one waited.
        """
        limit = self._wait_seconds if waits else 0
        with self._once.turn(key_digest):
            if self._store is None:
                yield "unlocked"
                return
            with self._store.turn(key_digest, limit) as outcome:
                yield outcome
