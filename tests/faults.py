"""Ways to make a file system misbehave that hold even for root."""

from __future__ import annotations

import contextlib
import ctypes
import dis
import errno
import fcntl
import os
import platform
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import twinjit


@contextmanager
def small_disk(mount_point: Path, size: str) -> Iterator[Path]:
    """Mount a file system of the given size; skips the test where that is not allowed."""
    mount_point.mkdir(mode=0o700)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "none", str(mount_point)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("mounting a file system needs root")
    try:
        yield mount_point
    finally:
        subprocess.run(["umount", "--lazy", str(mount_point)], check=True)


def make_read_only(mount_point: Path) -> None:
    """Remount what `small_disk` gave for reading only."""
    subprocess.run(["mount", "-o", "remount,ro", str(mount_point)], check=True)


@contextmanager
def no_more_descriptors() -> Iterator[None]:
    """Make every opening of a file fail with EMFILE."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest_free = os.open("/dev/null", os.O_RDONLY)
    os.close(lowest_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Make every file that grows beyond `size` bytes fail with EFBIG."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def give_away(path: Path) -> None:
    """Make another user the owner; skips the test where that is not allowed."""
    try:
        os.chown(path, 12345, -1)
    except PermissionError:
        pytest.skip("giving files away needs root")


def open_descriptors() -> int:
    """Count this process's open files."""
    return len(os.listdir("/proc/self/fd"))


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("operand", ctypes.c_uint32),
    )


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("start", ctypes.POINTER(_Instruction)))


def refuse_locks() -> None:
    """Make F_OFD_SETLK fail with EOPNOTSUPP until this process ends, as some file systems do."""
    fcntl_number = {"x86_64": 72, "aarch64": 25}[platform.machine()]
    load, equals, give = 0x20, 0x15, 0x06
    instructions = [
        (load, 0, 0, 0),  # the system call's number
        (equals, 0, 3, fcntl_number),
        (load, 0, 0, 24),  # its second argument
        (equals, 0, 1, fcntl.F_OFD_SETLK),
        (give, 0, 0, 0x00050000 | errno.EOPNOTSUPP),  # SECCOMP_RET_ERRNO
        (give, 0, 0, 0x7FFF0000),  # SECCOMP_RET_ALLOW
    ]
    program = (_Instruction * len(instructions))(*(_Instruction(*each) for each in instructions))
    libc = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, seccomp, mode_filter = 38, 22, 2
    assert libc.prctl(no_new_privileges, 1, 0, 0, 0) == 0
    loaded = _Filter(len(instructions), program)
    assert libc.prctl(seccomp, mode_filter, ctypes.byref(loaded), 0, 0) == 0


_TRACED = (os.path.dirname(twinjit.__file__), contextlib.__file__)


class Interruption(BaseException):
    """What a signal handler raises."""


def interrupt_everywhere(work: Callable[[], object], every: int = 1) -> Iterator[int]:
    """Do work again and again, interrupted at each moment; yields after each interruption.

    Where `every` is more than 1, some moments are left out.
    """

    def interrupt() -> None:
        raise Interruption

    moment = 0
    while _is_interrupted(work, moment, interrupt):
        yield moment
        moment += every


def _is_interrupted(
    work: Callable[[], object], moment: int, interrupt: Callable[[], object]
) -> bool:
    try:
        return call_at(work, moment, interrupt)
    except Interruption:
        return True


def call_at(work: Callable[[], object], moment: int, handle: Callable[[], object]) -> bool:
    """Do work, and call `handle` in the middle of it, as if it were a signal handler.

    Moments at which those may run are where Twinjit's code, or what it uses of `contextlib`, enters
    a function, has called one or goes round in a loop. False if the work ends before.
    """
    left = moment
    last: dict[FrameType, str] = {}

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.startswith(_TRACED):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            before = last.get(frame, "")
            last[frame] = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            left -= before.startswith(("CALL", "RESUME", "JUMP_BACKWARD"))
            if left < 0:
                sys.settrace(None)
                handle()
        return trace

    sys._getframe().f_trace_opcodes = True  # Python 3.12 looks at it in `settrace` alone
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(None)
        last.clear()
    return left < 0
