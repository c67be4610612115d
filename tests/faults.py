"""Ways to make a file system misbehave that hold even for root."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


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
