"""Failures as users see them: one message on stderr, and an exit code."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.text import Text

from twinjit.errors import ArtifactError, BundleError, ReproducerError, TwinjitError

__all__ = [
    "DAMAGED",
    "EXIT_CODES",
    "FAILED",
    "IO_FAILED",
    "describe_error",
    "report_error",
    "reported",
]

FAILED = 1
"""Exit code where a program cannot be compiled or run; 2 is Typer's, for usage errors."""

IO_FAILED = 3
"""Exit code where a file or the cache's directory cannot be read or written."""

DAMAGED = 4
"""Exit code where an entry of the cache or of a bundle, or a reproducer, is not as it should be."""

EXIT_CODES = (
    "Exit codes: 0 success; 1 the program cannot be compiled, run or identified; 2 wrong usage; "
    "3 a file or the cache cannot be read or written; 4 an entry of the cache or of a bundle, or a "
    "reproducer, is damaged. diff, reproduce, and explain of two: 0 equal; 1 different; 2 any "
    "error. "
    "reproduce-crash: 0 the same crash; 1 no crash; 5 another crash."
)


def describe_error(error: Exception) -> str:
    """Say what went wrong, without Python's own decoration."""
    if isinstance(error, OSError) and error.strerror:
        names = [str(name) for name in (error.filename, error.filename2) if name is not None]
        return ": ".join([*names, error.strerror])
    if isinstance(error, MemoryError):
        return "out of memory"
    # What the library gets as bytes came from standard input.
    return str(error).replace("<bytes>", "<stdin>")


def report_error(error: Exception) -> int:
    """Print an error as one message; return the exit code that it means."""
    _say("error", "bold red", describe_error(error))
    if isinstance(error, OSError):
        return IO_FAILED
    return DAMAGED if isinstance(error, (ArtifactError, BundleError, ReproducerError)) else FAILED


@contextmanager
def reported(*, traceback: bool, code: int | None = None) -> Iterator[None]:
    """Report what goes wrong in the body of a ``with`` statement, and exit.

    Warnings become messages, too. Whatever is neither Twinjit's error nor the system's passes.

    Parameters
    ----------
    traceback
        Whether to print the traceback above the message.
    code
        The exit code, where it does not depend on the error.
    """
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            yield
            sys.stdout.flush()
        except (TwinjitError, OSError, MemoryError) as error:
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise  # who read our output has seen enough: Typer ends the process quietly
            if traceback:
                Console(stderr=True).print_exception()
            meant = report_error(error)
            _let_go_of_output()
            raise typer.Exit(meant if code is None else code) from error


def _let_go_of_output() -> None:
    """Drop what standard output does not take, lest Python end with a code of its own for it."""
    try:
        sys.stdout.flush()
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    _say("warning", "bold yellow", str(message))


def _say(severity: str, style: str, message: str) -> None:
    text = Text.assemble("twinjit: ", (f"{severity}: ", style), message)
    Console(stderr=True).print(text, soft_wrap=True)
