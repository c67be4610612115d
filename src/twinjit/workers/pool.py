"""The workers of this process, and who has them."""

from __future__ import annotations

import atexit
import threading
from collections import deque
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from weakref import WeakKeyDictionary, WeakSet

from twinjit.errors import ExecutorError, ForkError
from twinjit.forks import fork_lock, start_anew_in_children
from twinjit.workers.worker_process import Check, Worker
from twinjit.workers.zygote_process import Zygote, ZygoteEnded

__all__ = ["POOL", "Pool"]

_LOOK_SECONDS = 0.02
_ATTEMPTS = 3  # at having a zygote, which anybody may kill


@dataclass(eq=False)
class _Turn:
    """A thread that waits: a worker comes, or None when it may look again."""

    thread: int = field(default_factory=threading.get_ident)
    queue: SimpleQueue[Worker | None] = field(default_factory=SimpleQueue)


@dataclass(eq=False)
class _State:
    zygote: Zygote | None = None
    idle: list[Worker] = field(default_factory=list)
    # By the thread that has it. What is referred to nowhere else, since an exception got in
    # between, is here no more, and has ended itself.
    lent: WeakKeyDictionary[Worker, int] = field(default_factory=WeakKeyDictionary)
    starting: WeakSet[_Turn] = field(default_factory=WeakSet)  # those that will be
    # The lock in a queue is held for no time; what a forked child has of them is forgotten there.
    waiting: deque[_Turn] = field(default_factory=deque)

    @property
    def count(self) -> int:
        return len(self.idle) + len(self.lent) + len(self.starting)

    def serves(self, thread: int) -> bool:
        """Whether a thread has a worker, or will: a signal handler may want another meanwhile."""
        return thread in self.lent.values() or any(each.thread == thread for each in self.starting)


class Pool:
    """Lends workers to threads: whichever was used last, and new ones up to a limit.

    All compilers of a process share one, since each program says what is to be done with it. A
    forked child has none of it, and starts anew. Workers that ended are replaced when they are
    next needed, and so is the zygote.
    """

    def __init__(self) -> None:
        # Guards `_state` and what is in it, and `_users`. Processes are started and waited for
        # without it.
        self._lock = fork_lock()
        self._state = _State()
        self._users: WeakSet[object] = WeakSet()
        start_anew_in_children(self)
        atexit.register(self.end)

    def start_anew(self) -> None:
        """Let go of what is the parent's."""
        state, self._state = self._state, _State()
        for worker in (*state.idle, *state.lent):
            worker.abandon()
        if state.zygote:
            state.zygote.abandon()

    def join(self, user: object) -> None:
        """Keep processes for a user until it leaves."""
        with self._lock:
            self._users.add(user)

    def leave(self, user: object) -> None:
        """End all processes if this was the last user."""
        with self._lock:
            self._users.discard(user)
            # At once: whoever joins from now on has processes of its own.
            state = None if self._users else self._let_go()
        if state:
            _end(state)

    def end(self) -> None:
        """End all processes. Whoever compiles in one is told so; a new call starts new ones."""
        with self._lock:
            state = self._let_go()
        _end(state)

    def _let_go(self) -> _State:
        """Start anew; called with the lock. What is returned is to be ended without it."""
        state, self._state = self._state, _State()
        for worker in state.lent:
            worker.kill("its compiler was closed meanwhile")  # closed by its thread
        self._wake(state)
        return state

    def borrow(self, limit: int, check: Check) -> Worker:
        """Wait for a worker.

        Parameters
        ----------
        limit
            How many there may be. A thread that has one gets another in any case, for it would
            wait for itself.
        check
            Called while waiting.

        Raises
        ------
        ExecutorError
            If no worker can be started.
        """
        while True:
            check()
            turn = _Turn()
            with self._lock:
                state = self._state
                worker = self._take(state, turn, limit)
                waits, starts = turn in state.waiting, turn in state.starting
            if waits:
                worker = self._wait(state, turn, limit, check)
            elif starts:
                worker = self._start(state, turn, check)
            if worker and worker.prepare():
                return worker
            if worker:
                self.discard(worker)

    def give_back(self, worker: Worker, limit: int) -> None:
        """Take a worker back, for the next to have it."""
        with self._lock:
            state = self._state
            is_kept = worker in state.lent and not worker.is_busy and state.count <= limit
            if is_kept:
                del state.lent[worker]
                self._pass_on(state, worker)
        if not is_kept:
            self.discard(worker)

    def discard(self, worker: Worker) -> None:
        """End a worker that is of no use any more."""
        with self._lock:
            self._state.lent.pop(worker, None)
            self._wake(self._state)
        worker.end()

    def _take(self, state: _State, turn: _Turn, limit: int) -> Worker | None:
        """Have an idle worker; if there is none, queue up to start one, or to wait."""
        if state.idle:
            worker = state.idle.pop()
            state.lent[worker] = turn.thread
            return worker
        if state.count < limit or state.serves(turn.thread):
            state.starting.add(turn)
        else:
            state.waiting.append(turn)
        return None

    def _pass_on(self, state: _State, worker: Worker) -> None:
        if state.waiting:
            turn = state.waiting.popleft()
            state.lent[worker] = turn.thread
            turn.queue.put(worker)
        else:
            state.idle.append(worker)

    def _wake(self, state: _State) -> None:
        while state.waiting:
            state.waiting.popleft().queue.put(None)

    def _wait(self, state: _State, turn: _Turn, limit: int, check: Check) -> Worker | None:
        """Wait for a worker; None if it is time to look again."""
        try:
            while True:
                try:
                    return turn.queue.get(timeout=_LOOK_SECONDS)
                except Empty:
                    check()
                with self._lock:
                    # A child that was forked meanwhile; or a thread lost a worker to an exception;
                    # or this one was given a worker where a signal handler has interrupted it.
                    is_stale = state is not self._state or state.count < limit
                    if is_stale or state.serves(turn.thread):
                        return None
        finally:
            with self._lock:
                if turn in state.waiting:
                    state.waiting.remove(turn)
                worker = None if turn.queue.empty() else turn.queue.get_nowait()
                if worker:  # that came too late
                    state.lent.pop(worker, None)
                    self._pass_on(state, worker)

    def _start(self, state: _State, turn: _Turn, check: Check) -> Worker:
        try:
            for _ in range(_ATTEMPTS):
                zygote = self._zygote(state)
                try:
                    return self._fork(state, zygote, check)
                except ZygoteEnded:
                    why = self._forget(state, zygote)
        except OSError as error:
            raise ExecutorError(f"cannot start an isolated worker: {error}") from error
        finally:
            with self._lock:
                state.starting.discard(turn)
        raise ExecutorError(
            f"the process that isolated workers are forked from ended as soon as it was there "
            f"({why}); give executor='thread'"
        )

    def _fork(self, state: _State, zygote: Zygote, check: Check) -> Worker:
        worker = Worker.ask(zygote)
        with self._lock:
            is_current = state is self._state
            if is_current:
                state.lent[worker] = threading.get_ident()
        if not is_current:
            worker.abandon()
            check()
            raise ForkError("this process was forked, or its compilers closed, meanwhile")
        try:
            worker.await_start(check)
        except BaseException:
            self.discard(worker)
            raise
        return worker

    def _zygote(self, state: _State) -> Zygote:
        """Return the zygote, starting one where there is none."""
        old = state.zygote
        if old and not old.has_ended:
            return old
        made = Zygote()
        with self._lock:
            found = state.zygote
            if found is old:
                state.zygote = made
        if found is not old:  # another thread was first
            made.end()
            return found or self._zygote(state)
        if old:
            old.end()
        try:
            made.launch()
        except BaseException:
            self._forget(state, made)
            raise
        return made

    def _forget(self, state: _State, zygote: Zygote) -> str:
        """Let go of a zygote that has ended; say what it said last."""
        why = zygote.why()
        with self._lock:
            is_current = state.zygote is zygote
            if is_current:
                state.zygote = None
        if is_current:
            zygote.end()
        return why


def _end(state: _State) -> None:
    for worker in state.idle:
        worker.end()
    if state.zygote:
        state.zygote.end()


POOL = Pool()
"""That of this process."""
