"""Ways to make a file system misbehave that hold even for root."""

from __future__ import annotations

import os
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
