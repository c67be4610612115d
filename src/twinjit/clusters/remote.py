"""Programs that are read here, and compiled elsewhere."""

from __future__ import annotations

import traceback
from concurrent.futures import Future, wait
from typing import Any, Protocol

from twinjit.artifact import Artifact
from twinjit.build import BuildOptions, read_built
from twinjit.clusters.job import Job
from twinjit.confirmation import Verdict
from twinjit.constants import Constants
from twinjit.errors import (
    CompilationCancelledError,
    CompilationTimeoutError,
    ExecutorError,
    TwinjitError,
)
from twinjit.key import Key, frame
from twinjit.llvm_subject import LlvmSubject
from twinjit.lowering import ResolvedPipeline
from twinjit.plain import error_from_plain
from twinjit.report import Clock
from twinjit.source import Source
from twinjit.stop import Stop
from twinjit.subject import LocalSubject, open_local

__all__ = ["LOOK_SECONDS", "Cluster", "RemoteBuilder", "in_words", "lost_by", "wait_for"]

LOOK_SECONDS = 0.02
"""How often those who wait look whether they are to stop."""

_ATTEMPTS = 3


class Cluster(Protocol):
    """An engine that runs jobs in other processes or threads."""

    def run(self, name: str | None, job: bytes, stop: Stop) -> dict[str, Any]:
        """Have ``job.run`` called with a job, and return what that returns.

        Parameters
        ----------
        name
            Jobs of one name are the same, and run once where the engine can see to it; None for a
            job that is like no other.
        job
            A `Job`, written down.
        stop
            Ends the wait; the job, too, where nobody else waits for it and the engine can end it.

        Raises
        ------
        ExecutorError
            If the engine cannot, or lost the job.
        CompilationCancelledError, CompilationTimeoutError
            Where `stop` ended the wait.
        """


class RemoteBuilder:
    """Reads programs in the calling thread, and has a cluster compile them."""

    def __init__(self, options: BuildOptions, cluster: Cluster) -> None:
        self._options = options
        self._cluster = cluster

    def open(self, source: Source, clock: Clock, stop: Stop) -> RemoteSubject:
        """Take a program for one call."""
        return self._open(source, clock, stop, "twinjit")

    def open_again(self, source: Source, clock: Clock, stop: Stop) -> RemoteSubject:
        """Take it a second time, for a job that is not the first's."""
        return self._open(source, clock, stop, "twinjit-again")

    def close(self) -> None:
        """Do nothing: the engine is the user's."""

    def _open(self, source: Source, clock: Clock, stop: Stop, kind: str) -> RemoteSubject:
        local = open_local(source, clock, stop, self._options)
        return RemoteSubject(local, clock, stop, self._options, self._cluster, kind)


class RemoteSubject:
    """A program that is read here, and compiled by a cluster; see `Subject`.

    Jobs have names of a kind and the key.
    """

    def __init__(
        self,
        local: LocalSubject | LlvmSubject,
        clock: Clock,
        stop: Stop,
        options: BuildOptions,
        cluster: Cluster,
        kind: str,
    ) -> None:
        self.source: Source = local.source
        self._kind = kind
        self._local = local
        self._clock = clock
        self._stop = stop
        self._options = options
        self._cluster = cluster

    @property
    def fingerprint(self) -> bytes | None:
        """None for a program that has none."""
        return self._local.fingerprint

    @property
    def why_unknown(self) -> str:
        """Why it has no fingerprint."""
        return self._local.why_unknown

    @property
    def resolved(self) -> ResolvedPipeline:
        """The pipeline that it gets."""
        return self._local.resolved

    @property
    def imports(self) -> bytes | None:
        """Digest of what can be imported into it."""
        return self._local.imports

    def constants(self) -> Constants:
        """Return the large constants that the policy takes for parameters."""
        return self._local.constants()

    def judge(self, artifact: Artifact) -> Verdict:
        """Say whether an artifact is of this very program."""
        return self._local.judge(artifact)

    def check_hit(self, artifact: Artifact) -> None:
        """Do nothing: that is for those of `checking`."""

    def close(self) -> None:
        """Let go of the program."""
        self._local.close()

    def build(self, key: Key) -> Artifact:
        """Have it compiled; the program here is kept."""
        name = None if self.fingerprint is None else f"{self._kind}-{key.hex}"
        attempts = _ATTEMPTS
        while True:
            answer = self._cluster.run(name, self._job(key).to_bytes(), self._stop)
            error = _error_in(answer)
            if error is None:
                self._clock.lap("remote")
                return _read(answer, key)
            self._stop.check()
            attempts -= 1
            # Another's job of this name, which had less time than this one or was given up.
            is_others = isinstance(error, (CompilationTimeoutError, CompilationCancelledError))
            if not (is_others and attempts):
                raise error

    def _job(self, key: Key) -> Job:
        libraries = self.source.options.libraries
        return Job(
            self._local.written(),
            self.source.name,
            self._options,
            frame(key.parts),
            self._stop.seconds_left,
            self.source.language,
            libraries.to_plain() if libraries else None,
        )


def _error_in(answer: object) -> TwinjitError | None:
    if not isinstance(answer, dict):
        raise ExecutorError(f"the executor gave back a {type(answer).__name__}, not what it was to")
    if "error" not in answer:
        return None
    try:
        return error_from_plain(answer["error"])
    except ValueError as error:
        raise ExecutorError(
            f"the executor gave back something else than it was to: {error}"
        ) from error


def _read(answer: dict[str, Any], key: Key) -> Artifact:
    """Read the artifact that came back."""
    entry = answer.get("entry")
    if not isinstance(entry, bytes):
        raise ExecutorError(f"the executor gave back {type(answer).__name__} without an entry")
    return read_built(entry, key, "the executor")


def wait_for(future: Any, stop: Stop) -> None:
    """Wait until a future has ended, be it the standard library's or one that is like it.

    Raises
    ------
    CompilationCancelledError, CompilationTimeoutError
        Where `stop` ended the wait.
    """
    # Not by wait([future]), which waits for ever for one that was cancelled and that nobody takes
    # out of its queue any more, as after shutdown(cancel_futures=True).
    done: Future[None] = Future()
    future.add_done_callback(lambda _: done.set_result(None))
    while not wait([done], LOOK_SECONDS).done:
        stop.check()


def in_words(error: BaseException) -> str:
    """Tell of an exception of any class; its own ``__str__`` may fail."""
    return "".join(traceback.format_exception_only(type(error), error)).strip()


def lost_by(engine: str, error: Exception) -> ExecutorError:
    """Tell of what only an engine of several machines can have raised, since `run` does not."""
    return ExecutorError(
        f"{engine} lost the compilation: {in_words(error).rstrip('.')}. Its workers need the same "
        "release of Twinjit, and their logs say more"
    )
