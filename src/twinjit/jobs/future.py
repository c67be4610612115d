"""The future of one who submitted a program."""

from __future__ import annotations

import sys
import threading
from collections.abc import Generator
from concurrent.futures import Future, InvalidStateError
from copy import copy
from itertools import count
from typing import Any, Protocol

from twinjit.executable import Executable
from twinjit.forks import held_off

__all__ = ["CompileFuture", "own_copy"]


class _Work(Protocol):
    """What a future is interested in."""

    @property
    def is_running(self) -> bool: ...

    def leave(self, future: CompileFuture) -> None: ...


class CompileFuture(Future[Executable]):
    """A `concurrent.futures.Future` of an `Executable`, which can be cancelled while it runs.

    In a coroutine, ``await`` it, or give it to `asyncio.gather`, `asyncio.wait_for` or
    `asyncio.as_completed`; to `asyncio.wait`, which would wait for ever, only in
    `asyncio.wrap_future`. If the task that awaits it is cancelled, so is the future.
    """

    # Officially, it never runs: what runs cannot be cancelled. `Future` says how it is done by
    # others: from pending, straight to a result.

    def __init__(self, work: _Work) -> None:
        super().__init__()
        self._work: _Work | None = work
        self._cancellations = count()

    def cancel(self) -> bool:
        """Cancel it for all who wait for it, at once.

        The compilation ends soon after, unless others are interested in it.

        Returns
        -------
        bool
            Whether it is cancelled; False if it has a result or an exception.
        """
        try:
            return super().cancel()
        finally:  # whatever a callback raised
            if self.cancelled() and next(self._cancellations) == 0:
                self.set_running_or_notify_cancel()  # tells `wait` and `as_completed`
                self._leave()

    def running(self) -> bool:
        """Say whether it is being compiled."""
        work = self._work
        return work is not None and not self.done() and work.is_running

    def __await__(self) -> Generator[Any, None, Executable]:
        with held_off():
            import asyncio
        return asyncio.wrap_future(self, loop=asyncio.get_running_loop()).__await__()

    def settle(self, outcome: Executable | BaseException) -> None:
        """Give it a result or an exception, unless it has one or is cancelled."""
        try:
            if isinstance(outcome, BaseException):
                self.set_exception(outcome)
            else:
                self.set_result(outcome)
        except InvalidStateError:
            pass  # it was cancelled, or its time is over
        except BaseException as error:  # of a callback: it is not for whoever settles
            _tell(error)
        self._leave()

    def settle_in_child(self, outcome: Executable | BaseException) -> None:
        """Do the same in a forked child.

        What waited for it is the parent's, and so are the callbacks. Threads of the parent may have
        held its lock.
        """
        Future.__init__(self)
        self._work = None
        self.settle(outcome)

    def _leave(self) -> None:
        work, self._work = self._work, None
        if work:
            work.leave(self)


def _tell(error: BaseException) -> None:
    """Do what the interpreter does with an exception that ends a thread."""
    thread = threading.current_thread()
    try:
        threading.excepthook(
            threading.ExceptHookArgs((type(error), error, error.__traceback__, thread))
        )
    except BaseException as worse:  # the hook is the user's; the interpreter does the same
        sys.__excepthook__(type(worse), worse, worse.__traceback__)


def own_copy(error: BaseException) -> BaseException:
    """Copy an exception, since raising one writes to it; of the same traceback and cause.

    One that cannot be copied is returned as it is.
    """
    try:
        copied = copy(error)
    except Exception:  # a class may need arguments that its exceptions do not keep
        return error
    copied.__cause__, copied.__context__ = error.__cause__, error.__context__
    copied.__suppress_context__ = error.__suppress_context__
    return copied.with_traceback(error.__traceback__)
