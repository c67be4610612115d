"""What ended a worker, told from what it left behind."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from typing import Any

from twinjit.build import BuildOptions
from twinjit.errors import CompilerCrashed, MemoryLimitError
from twinjit.source import SourceBytes

__all__ = ["Crash", "CrashPage", "describe", "install"]

_PAGE = os.sysconf("SC_PAGESIZE")
_OUT_OF_MEMORY = (b"out of memory", b"bad_alloc", b"Allocation failed", b"Buffer allocation failed")


@dataclass(frozen=True)
class Crash:
    """What a worker noted last."""

    phase: str = ""
    pass_name: str = ""
    signal: int = 0
    is_stack_overflow: bool = False
    is_out_of_memory: bool = False


class CrashPage:
    """Memory that a worker shares with the process that it works for."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    @classmethod
    def create(cls) -> CrashPage:
        """Make an empty page."""
        fd = os.memfd_create("twinjit-crash", os.MFD_CLOEXEC)
        os.ftruncate(fd, _PAGE)
        return cls(fd)

    def read(self) -> Crash:
        """Read what the worker noted."""
        return Crash()

    def clear(self) -> None:
        """Forget what was noted."""
        os.pwrite(self.fd, bytes(_PAGE), 0)

    def close(self) -> None:
        """Let go of it; any number of times."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)


def install(fd: int) -> None:
    """Note in this process what it is at."""


def describe(
    status: int,
    page: CrashPage,  # noqa: ARG001
    output: bytes,
    source: SourceBytes,
    options: BuildOptions,  # noqa: ARG001
    settings: Any,  # noqa: ARG001
) -> CompilerCrashed:
    """Make the error that tells of a worker's end."""
    text = output.decode(errors="replace").strip()
    name = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else ""
    how = f"by {name}" if name else f"with exit status {os.waitstatus_to_exitcode(status)}"
    if any(words in output for words in _OUT_OF_MEMORY):
        return MemoryLimitError(
            f"compiling {source.name} took more memory than a worker may have: raise "
            "worker_memory_bytes, or set it to none",
            signal=name,
            output=text,
        )
    return CompilerCrashed(
        f"the compiler ended its process {how} on {source.name}"
        + (f": {text.splitlines()[0]}" if text else ""),
        signal=name,
        output=text,
    )
