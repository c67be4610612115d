"""Whether a compilation crashes again as its reproducer says."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from twinjit.errors import CompilationTimeoutError
from twinjit.stop import check_timeout
from twinjit.toolchain import TOOLCHAIN
from twinjit.workers.crash_folder import read_reproducer
from twinjit.workers.isolated import compile_isolated
from twinjit.workers.reproducer import Reproducer

__all__ = ["Reproduction", "reproduce_crash"]


Outcome = Literal["same", "other", "refused", "compiled", "timeout"]


@dataclass(frozen=True)
class Reproduction:
    """What became of the program of a reproducer.

    Attributes
    ----------
    outcome
        ``"same"``: it crashed as recorded; ``"other"``: it crashed otherwise; ``"refused"``: it was
        refused with an error; ``"compiled"``; ``"timeout"``: it did not end in time.
    recorded
        How it crashed then.
    found
        How it crashed now, what it was refused with, or empty.
    output
        The end of what the process wrote to its standard error now.
    warnings
        What differs from then and may be why: builds of the toolchain.
    """

    outcome: Outcome
    recorded: str
    found: str = ""
    output: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether it crashed as recorded."""
        return self.outcome == "same"


def reproduce_crash(
    directory: str | os.PathLike[str], *, timeout: float | None = None
) -> Reproduction:
    """Compile the program of a reproducer as it was compiled then, in a process of its own.

    That process ends with the compilation, whatever that does. A crash is the same if signal or
    exit status, phase, pass and message are, or memory ran out both times. The pipeline of a
    reproducer may have passes that read files or start programs: have only those crash again that
    you trust.

    Parameters
    ----------
    directory
        Of the reproducer: `CompilerCrashed.reproducer`.
    timeout
        Seconds after which the process is ended; None for no limit.

    Raises
    ------
    ConfigError
        If `timeout` is no time.
    ReproducerError
        If the directory is no reproducer, or not as it was written.
    OSError
        If it cannot be read; PermissionError also if another user owns one of its files, or could
        have changed it.
    ExecutorError
        If no process can be started.
    """
    check_timeout(timeout)
    recorded = read_reproducer(os.fspath(directory))
    before, warnings = str(recorded.ending), _warnings(recorded)
    try:
        now = compile_isolated(recorded, timeout)
    except CompilationTimeoutError as error:
        return Reproduction("timeout", before, error.message, warnings=warnings)
    outcome: Outcome
    if now.ending is None:
        outcome = "refused" if now.error else "compiled"
        return Reproduction(outcome, before, now.error, now.output, warnings)
    outcome = "same" if now.ending.is_like(recorded.ending) else "other"
    return Reproduction(outcome, before, str(now.ending), now.output, warnings)


def _warnings(recorded: Reproducer) -> tuple[str, ...]:
    now, then = dict(TOOLCHAIN), recorded.toolchain
    return tuple(
        f"{name} is build {now.get(name, 'none')} here, and was {then.get(name, 'none')}"
        for name in sorted({*now, *then})
        if now.get(name) != then.get(name)
    )
