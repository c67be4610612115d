"""Writing files that others see whole or not at all."""

from __future__ import annotations

import os
import time
from io import FileIO

__all__ = ["publish", "sweep"]

_STALE_SECONDS = 3600


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
        A folder of the same file system, in which it is written first. Whatever exception ends
        this call, nothing stays there; what a killed process leaves is for `sweep`.
    private
        Whether only this user may read it; else the process's umask says who may.

    Raises
    ------
    OSError
        If the file cannot be written or moved; FileNotFoundError also if a folder is missing.
    """
    temporary = os.path.join(staging, f"{os.getpid()}-{os.urandom(8).hex()}")
    try:
        # No opener of ours: a signal between it and FileIO would lose the descriptor.
        with FileIO(temporary, "xb") as file:
            if private:
                os.fchmod(file.fileno(), 0o600)
            rest = memoryview(data)
            while rest:
                rest = rest[file.write(rest) :]
        os.replace(temporary, path)
    except BaseException:
        _remove(temporary)
        raise


def sweep(staging: str, older_than: float = _STALE_SECONDS) -> int:
    """Remove what processes that died while publishing left behind.

    Parameters
    ----------
    staging
        The folder given to `publish`; it may be missing.
    older_than
        Age in seconds from which on a file has no living writer.

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
    horizon = time.time() - older_than
    removed = 0
    for name in names:
        path = os.path.join(staging, name)
        try:
            stale = os.lstat(path).st_mtime <= horizon
        except OSError:
            continue  # published or removed meanwhile
        removed += stale and _remove(path)
    return removed


def _remove(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True
