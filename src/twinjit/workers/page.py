"""The page on which a worker notes what it is at, and its end."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from twinjit._native import _llvm

__all__ = ["Crash", "CrashPage", "ending_on_memory_error", "install"]

_BYTES: int = _llvm.CRASH_PAGE_BYTES
# A worker could otherwise take away what this process reads, or make it as large as it likes.
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


@dataclass(frozen=True)
class Crash:
    """What a worker noted.

    Attributes
    ----------
    phase
        What it was doing, as in `Report.phases`; empty where nothing was noted.
    pass_name
        The pass that ran, as its pipeline names it; empty where none did.
    signal
        That one of its handlers saw; 0 if none. A signal that has no handler, or was met while
        there was no room to run one, is in the wait status alone.
    is_stack_overflow
        Whether it had used up a stack.
    is_out_of_memory
        Whether it could not get more memory.
    """

    phase: str = ""
    pass_name: str = ""
    signal: int = 0
    is_stack_overflow: bool = False
    is_out_of_memory: bool = False


class CrashPage:
    """A page that this process shares with one worker.

    Attributes
    ----------
    fd
        Its descriptor, which is not inherited, to hand to the worker for `install`.
    """

    def __init__(self, fd: int) -> None:
        self.fd = fd

    @classmethod
    def create(cls) -> CrashPage:
        """Make one, with nothing noted.

        Raises
        ------
        OSError
            If there is no memory or no descriptor for it.
        """
        fd = os.memfd_create("twinjit-crash", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(fd, _BYTES)
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _SEALS)
        except BaseException:
            os.close(fd)
            raise
        return cls(fd)

    def read(self) -> Crash:
        """Tell what is noted. A worker that still runs may be changing it."""
        data = os.pread(self.fd, _BYTES, 0)
        phase, pass_name, signal, overflow, memory = _llvm.read_crash_page(data)
        return Crash(_text(phase), _text(pass_name), signal, overflow, memory)

    def clear(self) -> None:
        """Forget what is noted, between jobs."""
        os.pwrite(self.fd, bytes(_BYTES), 0)

    def close(self) -> None:
        """Let go of it; any number of times."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)


def install(fd: int) -> None:
    """Have whatever ends this process noted on a page; for workers alone, and once in each.

    Signals still end the process by their default action, LLVM's fatal errors by SIGABRT. Memory
    that runs out in native code ends it with an exit status; see `ending_on_memory_error` for
    Python's. Loads MLIR.

    Parameters
    ----------
    fd
        Descriptor of the page, which may be closed then.

    Raises
    ------
    OSError
        If it is none, or cannot be mapped.
    """
    noted = _llvm.install_crash_handlers(fd)
    _llvm.note_phase("import")  # which may end the process like any phase
    from twinjit._native import _mlir

    _mlir.note_activity(noted)
    _llvm.note_phase("")


@contextmanager
def ending_on_memory_error() -> Iterator[None]:
    """Turn a `MemoryError` of a ``with`` statement into the end of this worker, noted as such."""
    try:
        yield
    except MemoryError:
        _llvm.end_out_of_memory()


def _text(data: bytes) -> str:
    """Read a name that a worker whose memory was damaged may have written."""
    text = data.decode(errors="replace")
    return "".join(each if each.isprintable() else "\ufffd" for each in text)
