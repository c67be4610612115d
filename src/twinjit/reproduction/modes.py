"""The circumstances under which a program is compiled once more."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice

from twinjit.artifact import Artifact
from twinjit.build import BuildOptions, read_built
from twinjit.errors import CompilationError, CompilerCrashed, TwinjitError
from twinjit.forks import held_off
from twinjit.pipeline import AUTO
from twinjit.policy import Policy
from twinjit.report import Clock
from twinjit.reproduction.others import other_programs
from twinjit.reproduction.outcome import Mode
from twinjit.settings import environment_of_workers
from twinjit.source import SourceBytes
from twinjit.stop import Stop
from twinjit.subject import LocalBuilder, key_of

__all__ = ["MODES", "Trial"]

_OTHERS = 12
"""Programs that are compiled before, in contexts that are then called used."""


@dataclass(frozen=True)
class Trial:
    """A program, and how it is compiled.

    Attributes
    ----------
    source
        The program; nothing consumes it.
    options
        What decides its code.
    """

    source: SourceBytes
    options: BuildOptions

    def compile(self) -> Artifact:
        """Compile it in this thread, whatever any cache has."""
        return _compile(self.source, self.options)

    def compile_others(self, start: int, count: int) -> None:
        """Compile other programs for the same target.

        Raises
        ------
        TwinjitError
            If that fails, which says nothing of the program.
        """
        options = replace(self.options, pipeline=AUTO, policy=Policy())
        try:
            for source in islice(other_programs(self.source.language, start), count):
                _compile(source, options)
        except CompilationError as error:
            raise TwinjitError(
                f"what is compiled in between cannot be compiled for {self.options.target.cpu}: "
                f"{error}"
            ) from error


def _compile(source: SourceBytes, options: BuildOptions) -> Artifact:
    subject = LocalBuilder(options).open(source, Clock(), Stop())
    try:
        return subject.build(key_of(subject, options))
    finally:
        subject.close()


def _again(trial: Trial, turn: int) -> Artifact:
    del turn
    return trial.compile()


def _fresh(trial: Trial, turn: int) -> Artifact:
    del turn
    if trial.source.language == "mlir":
        from twinjit._native import _mlir  # loaded by the first compilation

        _mlir.release_contexts()
    return trial.compile()


def _used(trial: Trial, turn: int) -> Artifact:
    trial.compile_others(turn * _OTHERS, _OTHERS)
    return trial.compile()


def _thread(trial: Trial, turn: int) -> Artifact:
    """Compile in another thread, while a further one compiles other programs."""
    is_busy, is_done = threading.Event(), threading.Event()

    def compile_others() -> None:
        number = 1000 * (turn + 1)
        while not is_done.is_set():
            trial.compile_others(number, 1)
            is_busy.set()
            number += 1

    with ThreadPoolExecutor(max_workers=2) as pool:
        try:
            others = pool.submit(compile_others)
            others.add_done_callback(lambda _: is_busy.set())  # if it failed, which is raised below
            is_busy.wait()
            artifact = pool.submit(trial.compile).result()
        finally:
            is_done.set()
        others.result()
    return artifact


def _process(trial: Trial, turn: int) -> Artifact:
    """Compile in a fresh process, whose memory lies elsewhere, as its hashes do."""
    with held_off():
        from twinjit.workers.ending import Ending
        from twinjit.workers.isolated import compile_isolated
        from twinjit.workers.limits import Limits
        from twinjit.workers.reproducer import Reproducer

    job = Reproducer.of_now(trial.source, trial.options, Limits(), Ending())
    found = compile_isolated(job, environment=environment_of_workers(hash_seed=turn + 1))
    if found.ending:
        raise CompilerCrashed(
            f"compiling it in another process ended that: {found.ending}", output=found.output
        )
    if found.error:
        raise CompilationError(found.error)
    return read_built(found.entry, None, "another process")


MODES: dict[Mode, Callable[[Trial, int], Artifact]] = {
    "again": _again,
    "fresh": _fresh,
    "used": _used,
    "thread": _thread,
    "process": _process,
}
"""How to compile once more, for the n-th time, by mode, in the order in which they are tried."""
