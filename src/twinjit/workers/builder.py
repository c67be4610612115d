"""Programs that are read and compiled in workers."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from copy import copy
from time import monotonic
from typing import Any, TypeVar

from twinjit.artifact import Artifact, encode
from twinjit.build import BuildOptions, read_built
from twinjit.confirmation import Verdict
from twinjit.constants import Constants
from twinjit.errors import CompilationTimeoutError, ExecutorError, TwinjitError
from twinjit.key import Key, frame
from twinjit.lazily import lazily
from twinjit.lowering import ResolvedPipeline
from twinjit.report import Clock
from twinjit.settings import Settings
from twinjit.source import LiveModule, Source, SourceBytes
from twinjit.stop import Stop
from twinjit.subject import load_mlir
from twinjit.workers import answers, protocol
from twinjit.workers.crash import describe
from twinjit.workers.limits import Limits
from twinjit.workers.messages import Message
from twinjit.workers.pool import POOL
from twinjit.workers.reproducer import Reproducer
from twinjit.workers.worker_process import Worker, WorkerEnded

__all__ = ["WorkerBuilder", "WorkerSubject"]

T = TypeVar("T")


class WorkerBuilder:
    """Reads and compiles in workers, which all such builders of a process share."""

    def __init__(self, options: BuildOptions, settings: Settings, limit: int) -> None:
        self.options = options
        self.settings = settings
        self.limit = limit
        self._is_closed = False
        POOL.join(self)

    def open(self, source: Source, clock: Clock, stop: Stop) -> WorkerSubject:
        """Take a program for one call. No process is started for that."""
        return WorkerSubject(source, clock, stop, self)

    def open_again(self, source: Source, clock: Clock, stop: Stop) -> WorkerSubject:
        """Take it a second time. A thread that has a worker gets another at once."""
        return self.open(source, clock, stop)

    def close(self) -> None:
        """End the workers, unless other builders are open that use them."""
        self._is_closed = True
        POOL.leave(self)

    def check(self) -> None:
        """Refuse to go on when closed.

        Raises
        ------
        ExecutorError
            If it is.
        """
        if self._is_closed:
            raise ExecutorError("the compiler is closed")


class WorkerSubject:
    """A program that a worker reads and compiles; see `Subject`.

    It has a worker from when it is read until it is compiled, or let go of.
    """

    def __init__(self, source: Source, clock: Clock, stop: Stop, builder: WorkerBuilder) -> None:
        self.source = source
        self._clock = clock
        self._stop = stop
        self._builder = builder
        self._worker: Worker | None = None
        self._deadline: float | None = None

    @property
    def fingerprint(self) -> bytes | None:
        """None for a program that has none."""
        return self._read.fingerprint

    @property
    def why_unknown(self) -> str:
        """Why it has no fingerprint."""
        return self._read.why_unknown

    @property
    def resolved(self) -> ResolvedPipeline:
        """The pipeline that it gets."""
        resolved = self._read.resolved
        if isinstance(resolved, TwinjitError):
            raise copy(resolved)  # to raise an exception writes to it
        return resolved

    @property
    def imports(self) -> bytes | None:
        """Digest of what can be imported into it."""
        return self._read.imports

    def constants(self) -> Constants:
        """Return the large constants that the policy takes for parameters."""
        return self._read.constants

    def judge(self, artifact: Artifact) -> Verdict:
        """Say whether an artifact is of this very program."""
        return self._ask({"do": "judge"}, answers.read_verdict, [encode(artifact)])

    def build(self, key: Key) -> Artifact:
        """Compile it, and let go of the worker."""
        built = self._ask({"do": "build"}, answers.Built.of, [frame(key.parts)])
        self._give_back(retires=built.retires)
        self._clock.split(built.phases)
        return read_built(built.entry, key, "a worker")

    def check_hit(self, artifact: Artifact) -> None:
        """Do nothing: that is for those of `checking`."""

    def close(self) -> None:
        """Let go of the worker."""
        worker = self._worker
        if worker and worker.is_busy:  # an exception has ended the exchange
            self._worker = None
            POOL.discard(worker)
        elif worker:
            self._give_back(retires=self._ask({"do": "end"}, answers.read_end))

    @lazily
    def _program(self) -> tuple[SourceBytes, bool]:
        """What to send, and whether it was a live module."""
        source = self.source
        if isinstance(source, SourceBytes):
            return source, False
        written = _written(source, self._clock)
        return SourceBytes(written, protocol.LIVE, options=source.options), True

    @lazily
    def _read(self) -> answers.Read:
        source, is_live = self._program
        self._worker = POOL.borrow(self._builder.limit, self._check)
        self._clock.lap("worker")
        settings = self._builder.settings
        if settings.compile_timeout is not None:
            self._deadline = monotonic() + settings.compile_timeout
        request = {
            "do": "read",
            "options": self._builder.options.to_plain(),
            "source": protocol.source_to_plain(source, is_live=is_live),
            "memory": settings.worker_memory_bytes,
            "directory": _directory(),
        }
        read = self._ask(request, answers.Read.of, [source.data])
        self._clock.split(read.phases)
        return read

    def _check(self) -> None:
        self._stop.check()
        self._builder.check()
        if self._deadline is not None and monotonic() >= self._deadline:
            raise CompilationTimeoutError(
                f"compiling {self._program[0].name} took longer than compile_timeout, "
                f"{self._builder.settings.compile_timeout:g} s; its worker was ended"
            )

    def _ask(
        self,
        request: dict[str, Any],
        read: Callable[[Message], T],
        sections: Sequence[bytes] = (),
    ) -> T:
        worker = self._worker
        if worker is None:
            raise LookupError("the program was compiled or let go of")
        try:
            answer = worker.exchange(
                Message(request, sections),
                self._check,
                lambda message: answers.understood(message, read),
            )
        except WorkerEnded as ended:
            raise self._told(ended) from None
        finally:
            if worker.is_busy:
                self._worker = None
                POOL.discard(worker)
        if isinstance(answer, TwinjitError):
            raise answer
        return answer

    def _told(self, ended: WorkerEnded) -> Exception:
        if ended.ending is None:
            return ExecutorError(
                "the process that isolated workers are forked from was ended from outside, and its "
                "workers with it; compile again"
            )
        settings = self._builder.settings
        crash = Reproducer.of_now(
            self._program[0],
            self._builder.options,
            Limits(settings.worker_memory_bytes),
            ended.ending,
            ended.output,
        )
        return describe(crash, settings.crash_dir)

    def _give_back(self, *, retires: bool) -> None:
        worker, self._worker = self._worker, None
        if worker and retires:
            POOL.discard(worker)
        elif worker:
            POOL.give_back(worker, self._builder.limit)


def _directory() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return None


def _written(module: LiveModule, clock: Clock) -> bytes:
    load_mlir(clock)
    from twinjit._native import _mlir

    return _mlir.write(module.capsule)
