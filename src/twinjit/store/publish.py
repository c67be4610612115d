"""Writing files that others see whole or not at all."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from contextlib import suppress
from io import FileIO
from typing import TypeVar

from twinjit.store.files import opened
from twinjit.store.locked import InheritedError, LockedFile

__all__ = ["STALE_SECONDS", "publish", "sweep", "write_whole"]

T = TypeVar("T")

# Random bytes that tell apart what one process writes; see `_is_temporary`.
_MARK_SIZE = 8

STALE_SECONDS = 3600.0
"""From what age on a file has no living writer, where not all locks are seen."""


def write_whole(
    path: str, temporary: str, write: Callable[[FileIO], T], *, private: bool = True
) -> T:
    """Write a file that takes the place of any at a path in one step.

    Whatever exception ends this call, nothing stays; what a killed process leaves at `temporary` is
    for `sweep`. The file is not forced to the disk: after a loss of power it may be damaged, so
    what reads it must check it.

    Parameters
    ----------
    path
        Where it shall appear.
    temporary
        Where it is written first, on the same file system, and locked meanwhile. Nothing is there.
    write
        Writes it, and may close it.
    private
        Whether only this user may read it; else the process's umask says who may.

    Returns
    -------
    T
        What `write` returned.

    Raises
    ------
    OSError
        If the file cannot be made or moved; InheritedError in a child that a signal handler forked
        meanwhile, or FileExistsError in either; FileNotFoundError also if a folder is missing, or a
        sweep took the file in the moment before it was locked.
    """
    try:
        # Never open to others, not even until its mode is set.
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
        with LockedFile(temporary, flags, 0o600 if private else 0o666) as file:
            _lock(file.fileno())
            if private:
                os.fchmod(file.fileno(), 0o600)
            result = write(file)
            os.replace(temporary, path)  # while the lock keeps a sweep off
            return result
    except (InheritedError, FileExistsError):
        raise  # the file is that of the parent or of a child, which a signal handler forked
    except BaseException:
        _remove(temporary)
        raise


def publish(data: bytes, path: str, staging: str, *, private: bool = True) -> None:
    """Put a file in place in one step, over any other at that path; see `write_whole`.

    Parameters
    ----------
    data
        What the file holds.
    path
        Where it shall appear.
    staging
        A folder of the same file system, in which it is written first.
    private
        Whether only this user may read it; else the process's umask says who may.

    Raises
    ------
    OSError
        If the file cannot be written, or as for `write_whole`.
    """

    def write(file: FileIO) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(file.fileno(), rest) :]

    temporary = os.path.join(staging, f"{os.getpid()}-{os.urandom(_MARK_SIZE).hex()}")
    write_whole(path, temporary, write, private=private)


def sweep(staging: str, min_age: float = float("-inf")) -> int:
    """Remove what processes that died while publishing left behind, and nothing else.

    Parameters
    ----------
    staging
        The folder given to `publish`; it may be missing. A link is not followed: who can make one
        in a shared store would choose where files are removed.
    min_age
        Age in seconds below which a file is left alone, for folders that are shared with machines
        whose locks are not seen here.

    Returns
    -------
    int
        How many files were removed.

    Raises
    ------
    OSError
        If the folder is there but cannot be listed, or is a link.
    """
    try:
        with opened(staging, os.O_RDONLY | os.O_DIRECTORY) as folder:
            names = filter(_is_temporary, os.listdir(folder))
            return sum(_sweep_one(folder, name, min_age) for name in names)
    except FileNotFoundError:
        return 0


def _is_temporary(name: str) -> bool:
    """Whether a name is one that `publish` gives: process, hyphen, random digits."""
    process, _, mark = name.partition("-")
    return process.isdigit() and len(mark) == 2 * _MARK_SIZE and not mark.strip("0123456789abcdef")


def _sweep_one(folder: int, name: str, min_age: float) -> bool:
    try:
        with opened(name, os.O_RDWR, folder) as descriptor:
            return _has_no_writer(descriptor, min_age) and _remove(name, folder)
    except OSError:
        return False  # published or removed meanwhile, or nothing that `publish` makes


def _has_no_writer(descriptor: int, min_age: float) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        min_age = max(min_age, STALE_SECONDS)
    try:
        return time.time() - os.fstat(descriptor).st_mtime >= min_age
    except OSError:
        return False


def _lock(descriptor: int) -> None:
    with suppress(OSError):  # a file system without locks, or a sweep is looking at it
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _remove(path: str, folder: int | None = None) -> bool:
    try:
        os.unlink(path, dir_fd=folder)
    except OSError:
        return False
    return True
