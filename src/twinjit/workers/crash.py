"""What is told of a worker that crashed: the one place that makes a `CompilerCrashed`."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

from twinjit.build import BuildOptions
from twinjit.errors import CompilerCrashed, MemoryLimitError
from twinjit.settings import Settings
from twinjit.source import SourceBytes
from twinjit.workers.crash_folder import save_reproducer
from twinjit.workers.ending import Ending
from twinjit.workers.limits import Limits
from twinjit.workers.page import Crash, CrashPage, ending_on_memory_error, install
from twinjit.workers.reproducer import Reproducer

__all__ = [
    "OUTPUT_BYTES",
    "Crash",
    "CrashPage",
    "describe",
    "ending_on_memory_error",
    "install",
    "tail",
]

OUTPUT_BYTES = 4096
"""How much is kept of what a worker wrote."""

_NO_LIMITS = Limits()


def describe(
    status: int,
    page: CrashPage,
    output: bytes,
    source: SourceBytes,
    options: BuildOptions,
    settings: Settings,
    limits: Limits = _NO_LIMITS,
) -> CompilerCrashed:
    """Say how a worker ended that nobody ended, and save a reproducer.

    Trouble in saving is told in the message, and hides nothing.

    Parameters
    ----------
    status
        Its wait status, as `os.waitpid` gives it.
    page
        Its page.
    output
        What it wrote to its standard error since the job began, or the end of that.
    source, options, limits
        The job.
    settings
        Say where reproducers are saved.

    Returns
    -------
    CompilerCrashed
        A `MemoryLimitError` where memory had run out.
    """
    text = tail(output)
    ending = Ending.of(os.waitstatus_to_exitcode(status), page.read(), text)
    saved, how = _save(partial(Reproducer.of_now, source, options, limits, ending, text), settings)
    kind = MemoryLimitError if ending.is_out_of_memory else CompilerCrashed
    return kind(
        f"compiling {source.name} ended the process that did it: {ending}"
        f"{_advice(ending, limits)}{how}",
        signal=ending.signal,
        phase=ending.place,
        output=text,
        reproducer=saved,
    )


def tail(output: bytes) -> str:
    """Read the end of what a process wrote, cut to `OUTPUT_BYTES`."""
    return output[-OUTPUT_BYTES:].decode(errors="backslashreplace")


def _advice(ending: Ending, limits: Limits) -> str:
    if not ending.is_out_of_memory:
        return ""
    if limits.memory_bytes is None:
        return " (no limit was set; the system gave no more)"
    return (
        f" (its limit is {limits.memory_bytes} bytes: raise worker_memory_bytes, or set it to none)"
    )


def _save(make: Callable[[], Reproducer], settings: Settings) -> tuple[str | None, str]:
    """Return the path of what was saved, and what to say of it."""
    if settings.crash_dir is None:
        return None, ""
    try:
        path = save_reproducer(make(), settings.crash_dir)
    # Of a process that can open no file, modules cannot be imported either.
    except (OSError, ImportError) as error:
        return None, f"; its reproducer cannot be saved: {error}"
    return path, f"; to have it crash again: twinjit reproduce-crash {path}"
