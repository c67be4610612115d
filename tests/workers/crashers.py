"""Processes that crash in each way, under the handlers of a worker.

``python -m tests.workers.crashers KIND FD``: FD is that of the page.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import sys
from collections.abc import Callable
from functools import partial

from tests.workers.jobs import STACK_OVERFLOW
from twinjit._native import _llvm, _mlir
from twinjit.workers import page
from twinjit.workers.limits import Limits

_TOO_MUCH = 1 << 46  # bytes


def _allocate_in_python() -> None:
    with page.ending_on_memory_error():
        bytearray(_TOO_MUCH)


def _allocate_in_c_plus_plus() -> None:
    """Call the operator new that all native code here shares."""
    new = ctypes.CDLL("libstdc++.so.6")._Znwm
    new(ctypes.c_size_t(_TOO_MUCH))


def _terminate() -> None:
    ctypes.CDLL("libstdc++.so.6")._ZSt9terminatev()


def _overflow_main_stack() -> None:
    _mlir.parse(STACK_OVERFLOW.encode(), "<text>")


def _read_beyond_file() -> None:
    empty = os.memfd_create("empty")
    os.ftruncate(empty, 1)
    mapped = mmap.mmap(empty, 0)
    os.ftruncate(empty, 0)
    print(mapped[0])


def _say_and_abort() -> None:
    os.write(2, b"\x1b[31mfree(): invalid pointer\n")
    os.abort()


def _allocate_unchecked() -> None:
    """As MLIR does for its operations."""
    malloc = ctypes.PyDLL(None).malloc
    malloc.restype = ctypes.c_size_t
    ctypes.memset(malloc(ctypes.c_size_t(_TOO_MUCH)) + 40, 0, 1)


KINDS: dict[str, Callable[[], object]] = {
    "null store": partial(ctypes.memset, 0, 0, 1),
    "wild store": partial(ctypes.memset, 0x123456789000, 0, 1),
    "non-canonical store": partial(ctypes.memset, 0x1234567890000000, 0, 1),
    "bus error": _read_beyond_file,
    "abort": _say_and_abort,
    "terminate": _terminate,
    "main stack": _overflow_main_stack,
    "deep stack": partial(_llvm.overflow_deep_stack, 8 << 20),
    "python memory": _allocate_in_python,
    "c++ memory": _allocate_in_c_plus_plus,
    "unchecked memory": _allocate_unchecked,
    "killed": partial(os.kill, os.getpid(), signal.SIGKILL),
    "sent SIGSEGV": partial(os.kill, os.getpid(), signal.SIGSEGV),
    "sent SIGILL": partial(os.kill, os.getpid(), signal.SIGILL),
    "sent SIGFPE": partial(os.kill, os.getpid(), signal.SIGFPE),
    "sent SIGTRAP": partial(os.kill, os.getpid(), signal.SIGTRAP),
    "sent SIGXCPU": partial(os.kill, os.getpid(), signal.SIGXCPU),
    "exit": partial(os._exit, 3),
}


def main() -> None:
    """Crash."""
    kind, fd = sys.argv[1:]
    page.install(int(fd))
    Limits(stack_bytes=16 << 20).apply()
    _llvm.note_phase("optimise")
    KINDS[kind]()


if __name__ == "__main__":
    main()
