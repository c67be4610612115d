"""Backends that can hang, made to give up in time."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeVar

from twinjit.errors import ConfigError
from twinjit.forks import fork_lock
from twinjit.settings_values import LONGEST_WAIT
from twinjit.store.base import Backend

__all__ = ["DeadlineBackend", "check_timeout"]

T = TypeVar("T")

_MOST_LATE = 4


def check_timeout(seconds: float) -> None:
    """Raise `ConfigError` unless it is a number of seconds that a call can be waited for."""
    if not isinstance(seconds, (int, float)) or not 0 < seconds <= LONGEST_WAIT:
        raise ConfigError(
            f"the shared cache's timeout is {seconds!r}; give seconds above 0, and at most "
            f"{LONGEST_WAIT:.0f}"
        )


class DeadlineBackend:
    """A backend whose calls fail with TimeoutError when they take too long.

    Each call runs in a thread of its own. A call that is late goes on there, for nothing could end
    it, and what it gives is dropped; a put may thus be done after it failed. While four are late,
    further calls fail at once.

    Parameters
    ----------
    backend
        What does the work.
    seconds
        How long a call may take as a whole.
    prepare
        Called before each call, without the limit: what takes time of this process alone, such as
        imports.

    Raises
    ------
    ConfigError
        If `seconds` is not above 0, or more than a million.
    """

    def __init__(
        self, backend: Backend, seconds: float, prepare: Callable[[], object] = lambda: None
    ) -> None:
        check_timeout(seconds)
        self._prepare = prepare
        self._backend = backend
        self._seconds = seconds
        self._lock = fork_lock()  # guards _late
        # Threads whose callers have given up. In a forked child they count as dead.
        self._late: list[threading.Thread] = []

    @property
    def url(self) -> str:
        """Where the backend is."""
        return self._backend.url

    def get(self, name: str) -> bytes | None:
        """Return what was put under a name. Raises what the backend raises, and TimeoutError."""
        return self._within(lambda: self._backend.get(name))

    def put(self, name: str, data: bytes) -> None:
        """Keep bytes under a name. Raises what the backend raises, and TimeoutError."""
        self._within(lambda: self._backend.put(name, data))

    def remove(self, name: str) -> None:
        """Forget what is under a name. Raises what the backend raises, and TimeoutError."""
        self._within(lambda: self._backend.remove(name))

    def _within(self, operation: Callable[[], T]) -> T:
        self._refuse_if_stuck()
        self._prepare()
        ended: SimpleQueue[T | _Raised] = SimpleQueue()

        def work() -> None:
            try:
                ended.put(operation())
            except BaseException as error:
                ended.put(_Raised(error))

        # Not a thread that the interpreter waits for when it ends.
        thread = threading.Thread(target=work, name="twinjit-shared-store", daemon=True)
        thread.start()
        try:
            answer = ended.get(timeout=self._seconds)
        except BaseException as error:  # an interrupt leaves the thread behind, too
            with self._lock:
                self._late.append(thread)
            if not isinstance(error, Empty):
                raise
            raise TimeoutError(
                errno.ETIMEDOUT, f"no answer from {self.url} within {self._seconds} s"
            ) from None
        if isinstance(answer, _Raised):
            raise answer.error
        return answer

    def _refuse_if_stuck(self) -> None:
        with self._lock:
            self._late = [thread for thread in self._late if thread.is_alive()]
            count = len(self._late)
        if count >= _MOST_LATE:
            raise TimeoutError(errno.ETIMEDOUT, f"{count} calls of {self.url} hang")


class _Raised:
    def __init__(self, error: BaseException) -> None:
        self.error = error
