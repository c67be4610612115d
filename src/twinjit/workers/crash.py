"""What is told of a worker that crashed: the one place that makes a `CompilerCrashed`."""

from __future__ import annotations

from twinjit.errors import CompilerCrashed, MemoryLimitError
from twinjit.workers.crash_folder import save_reproducer
from twinjit.workers.ending import Ending
from twinjit.workers.limits import Limits
from twinjit.workers.reproducer import Reproducer

__all__ = ["describe"]


def describe(crash: Reproducer, folder: str | None) -> CompilerCrashed:
    """Say how a worker ended that nobody ended, and save its reproducer.

    Trouble in saving is told in the message, and hides nothing.

    Parameters
    ----------
    crash
        The job, and its end.
    folder
        Where reproducers are saved; None for nowhere.

    Returns
    -------
    CompilerCrashed
        A `MemoryLimitError` where memory had run out.
    """
    ending = crash.ending
    saved, how = _save(crash, folder)
    kind = MemoryLimitError if ending.is_out_of_memory else CompilerCrashed
    return kind(
        f"compiling {crash.source.name} ended the process that did it: {ending}"
        f"{_advice(ending, crash.limits)}{how}",
        signal=ending.signal,
        phase=ending.place,
        output=crash.output,
        reproducer=saved,
    )


def _advice(ending: Ending, limits: Limits) -> str:
    if not ending.is_out_of_memory:
        return ""
    if limits.memory_bytes is None:
        return " (no limit was set; the system gave no more)"
    return (
        f" (its limit is {limits.memory_bytes} bytes: raise worker_memory_bytes, or set it to none)"
    )


def _save(reproducer: Reproducer, folder: str | None) -> tuple[str | None, str]:
    """Return the path of what was saved, and what to say of it."""
    if folder is None:
        return None, ""
    try:
        path = save_reproducer(reproducer, folder)
    # Of a process that can open no file, modules cannot be imported either.
    except (OSError, ImportError) as error:
        return None, f"; its reproducer cannot be saved: {error}"
    return path, f"; to have it crash again: twinjit reproduce-crash {path}"
