"""What was submitted: one compilation for all who want the same program at once."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import monotonic

from twinjit.errors import ExecutorError, ForkError
from twinjit.executable import Executable
from twinjit.forks import fork_lock, start_anew_in_children
from twinjit.jobs.deadlines import DEADLINES, too_late
from twinjit.jobs.future import CompileFuture, own_copy
from twinjit.jobs.pool import Pool
from twinjit.program_options import ProgramOptions
from twinjit.report import Clock
from twinjit.source import SourceBytes
from twinjit.stop import Stop

__all__ = ["Compile", "Jobs"]

Compile = Callable[[SourceBytes, Clock, Stop, bytes | None], Executable]
"""Compiles a program, of which the last is the request that it was submitted with."""


def _nothing() -> None:
    pass


class _Job:
    """A program to compile, for one or more futures. All but `stop` is guarded by its `Jobs`."""

    def __init__(self, jobs: Jobs, source: SourceBytes, request: bytes | None) -> None:
        self._jobs = jobs
        self.source: SourceBytes | None = source  # None once nobody needs it
        self.request = request
        self.sharing = request and (request, source.options)  # the same for those that may share it
        self.stop = Stop()
        self.futures: list[CompileFuture] = []
        self.priority: int | None = None  # at which it is queued; None until it is
        self.is_running = False
        self.outcome: Executable | BaseException | None = None

    def leave(self, future: CompileFuture) -> None:
        """Take note that a future has ended; without any, the work is to end."""
        self._jobs.leave(self, future)


class Jobs:
    """Compiles programs in threads of its own, the most urgent first.

    Parameters
    ----------
    compile_
        Compiles one program.
    workers
        How many at a time.
    """

    def __init__(self, compile_: Compile, workers: int) -> None:
        self._compile = compile_
        self._pool = Pool(workers)
        # Guards all that follows, and what jobs hold. Compilations, and whatever may call callbacks
        # of futures, run without it.
        self._lock = fork_lock()
        self._is_closed = False
        self._jobs: dict[_Job, None] = {}  # those that have futures, in order
        # Those that can have more.
        self._by_request: dict[tuple[bytes, ProgramOptions], _Job] = {}
        start_anew_in_children(self)
        _living.add(self)

    def start_anew(self) -> None:
        """Have the futures fail, as their threads are the parent's."""
        jobs, self._jobs, self._by_request = self._jobs, {}, {}
        error = ForkError("the program was submitted in the parent process; submit it here, too")
        for job in jobs:
            for future in job.futures:
                # A job that had ended was about to tell its futures.
                future.settle_in_child(_for_one(error if job.outcome is None else job.outcome))

    def submit(
        self, source: SourceBytes, request: bytes | None, priority: int, seconds: float | None
    ) -> CompileFuture:
        """Have a program compiled, unless that is under way.

        Parameters
        ----------
        source
            The program.
        request
            What is the same for programs that may share one executable, if their options are the
            same, too; None for none other.
        priority
            Higher ones are compiled first. It raises that of a job which waits.
        seconds
            After which the future fails; None for no limit.

        Raises
        ------
        ExecutorError
            If `close` was called, or no thread can be had.
        """
        future: CompileFuture | None = None
        try:
            with self._lock:
                if self._is_closed:
                    raise ExecutorError("the compiler is closed, and takes no more programs")
                job = self._find(source, request)
                future = CompileFuture(job)
                job.futures.append(future)
            if seconds is not None and seconds <= 0:  # whatever is ready already
                future.settle(too_late(seconds))
                return future
            self._queue(job, priority)
            if seconds is not None:
                DEADLINES.add(future, monotonic() + seconds, seconds)
        except BaseException as error:  # of a signal handler, too
            self._withdraw_unwanted()
            if future:
                future.cancel()
            if isinstance(error, RuntimeError) and not isinstance(error, ExecutorError):
                raise ExecutorError(f"there is no thread to watch the time: {error}") from error
            raise
        return future

    def close(self, *, cancel: bool, then: Callable[[], object] = _nothing) -> None:
        """Take no more, and wait for what there is, or cancel it; any number of times.

        In a callback of a future, it does not wait.

        Parameters
        ----------
        then
            Called once nothing is compiled any more, or this is interrupted.
        """
        with self._lock:
            self._is_closed = True
        if cancel:
            self.cancel_all()
        if self._pool.is_own_thread or DEADLINES.is_own_thread:
            self._pool.call_when_idle(then)
            return
        try:
            self._pool.wait()
        except BaseException:  # Ctrl-C
            self.cancel_all()
            raise
        finally:
            then()

    def shut(self) -> None:
        """Take no more, and cancel what there is."""
        with self._lock:
            self._is_closed = True
        self.cancel_all()

    def cancel_all(self) -> None:
        """Cancel all futures."""
        with self._lock:
            futures = [future for job in self._jobs for future in job.futures]
        for future in futures:
            future.cancel()

    def leave(self, job: _Job, future: CompileFuture) -> None:
        """Take note that a future of a job has ended."""
        with self._lock:
            if future not in job.futures:
                return
            job.futures.remove(future)
            if job.futures:
                return
            self._withdraw(job)
            self._jobs.pop(job, None)
            job.source = job.outcome = None
        job.stop.cancel()  # means nothing to one that has ended

    def _find(self, source: SourceBytes, request: bytes | None) -> _Job:
        """Return the job for a program; called with the lock."""
        job = _Job(self, source, request)
        known = self._by_request.setdefault(job.sharing, job) if job.sharing else job
        if known is job:
            self._jobs[job] = None
        return known

    def _queue(self, job: _Job, priority: int) -> None:
        """Have a job wait for a thread, unless it does so as urgently, or runs.

        Only then is it noted, so that whoever joins a job in between queues it as well: whoever
        made it may have no thread for it. It runs once all the same.
        """
        with self._lock:
            if job.is_running or (job.priority is not None and job.priority >= priority):
                return
        self._pool.add(partial(self._run, job), priority)
        with self._lock:
            job.priority = priority if job.priority is None else max(job.priority, priority)

    def _withdraw_unwanted(self) -> None:
        """Forget jobs that an exception has left without a future."""
        with self._lock:
            for job in [each for each in self._jobs if not each.futures]:
                self._withdraw(job)
                del self._jobs[job]

    def _run(self, job: _Job) -> None:
        with self._lock:
            source, job.source = job.source, None
            if source is None:  # it ran when it was more urgent, or nobody wants it
                return
            job.is_running = True
        self._end(job, self._try(source, job.stop, job.request))

    def _end(self, job: _Job, outcome: Executable | BaseException) -> None:
        with self._lock:
            self._withdraw(job)
            job.outcome = outcome
            futures = list(job.futures)
        for future in futures:
            future.settle(_for_one(outcome))

    def _try(
        self, source: SourceBytes, stop: Stop, request: bytes | None
    ) -> Executable | BaseException:
        # The traceback has this frame and its caller's, neither of which may have a variable that
        # leads back to it: only the garbage collector would free them.
        try:
            return self._compile(source, Clock(), stop, request)
        except BaseException as error:
            return error

    def _withdraw(self, job: _Job) -> None:
        """Let no more futures join a job."""
        if job.sharing and self._by_request.get(job.sharing) is job:
            del self._by_request[job.sharing]


def _for_one(outcome: Executable | BaseException) -> Executable | BaseException:
    """Give each future an exception of its own."""
    return own_copy(outcome) if isinstance(outcome, BaseException) else outcome


_living: weakref.WeakSet[Jobs] = weakref.WeakSet()


def _end_with_interpreter() -> None:
    for jobs in list(_living):
        jobs.shut()


# What `atexit` calls would come too late: the interpreter waits for threads first. There is no
# other hook before that; `concurrent.futures` uses it as well.
with suppress(RuntimeError):  # it ends already, and waits for the thread that this is
    threading._register_atexit(_end_with_interpreter)  # type: ignore[attr-defined]  # not documented
