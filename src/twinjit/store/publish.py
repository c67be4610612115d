"""Writing files that others see whole or not at all."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress

from twinjit.store.files import opened
from twinjit.store.locked import InheritedError, LockedFile

__all__ = ["publish", "sweep"]

# From what age on a file has no living writer, where the file system knows no locks.
_STALE_SECONDS = 3600.0


def publish(data: bytes, path: str, staging: str, *, private: bool = True) -> None:
    """Put a file in place in one step, over any other at that path.

    The file is not forced to the disk: after a loss of power it may be
    damaged, so what reads it must check it.

    Parameters
    ----------
    data
        What the file holds.
    path
        Where it shall appear.
    staging
        A folder of the same file system, in which it is written first, and locked meanwhile.
        Whatever exception ends this call, nothing stays there; what a killed process leaves is for
        `sweep`.
    private
        Whether only this user may read it; else the process's umask says who may.

    Raises
    ------
    OSError
        If the file cannot be written or moved; InheritedError in a child that a signal handler
        forked meanwhile, or FileExistsError in either; FileNotFoundError also if a folder is
        missing, or a sweep took the file in the moment before it was locked.
    """
    temporary = os.path.join(staging, f"{os.getpid()}-{os.urandom(8).hex()}")
    try:
        with LockedFile(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL) as file:
            _lock(file.fileno())
            if private:
                os.fchmod(file.fileno(), 0o600)
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(file.fileno(), rest) :]
            os.replace(temporary, path)  # while the lock keeps a sweep off
    except (InheritedError, FileExistsError):
        raise  # the file is that of the parent or of a child, which a signal handler forked
    except BaseException:
        _remove(temporary)
        raise


def sweep(staging: str, min_age: float = float("-inf")) -> int:
    """Remove what processes that died while publishing left behind.

    Parameters
    ----------
    staging
        The folder given to `publish`; it may be missing.
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
        If the folder is there but cannot be listed.
    """
    try:
        names = os.listdir(staging)
    except FileNotFoundError:
        return 0
    return sum(_sweep_one(os.path.join(staging, name), min_age) for name in names)


def _sweep_one(path: str, min_age: float) -> bool:
    try:
        with opened(path, os.O_RDWR) as descriptor:
            return _has_no_writer(descriptor, min_age) and _remove(path)
    except OSError:
        return False  # published or removed meanwhile, or nothing that `publish` makes


def _has_no_writer(descriptor: int, min_age: float) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        min_age = _STALE_SECONDS
    return time.time() - os.fstat(descriptor).st_mtime >= min_age


def _lock(descriptor: int) -> None:
    with suppress(OSError):  # a file system without locks, or a sweep is looking at it
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _remove(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True
