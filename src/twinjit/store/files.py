"""Files and folders that belong to this user alone.

Who can write an entry can run code in whoever loads it, so nothing is read that another user owns
or can change.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from contextlib import suppress

__all__ = ["check_private", "make_private", "read_private"]

_TOUCH_SECONDS = 60.0
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH

# A link is refused (O_NOFOLLOW), and a planted pipe does not block the opening (O_NONBLOCK).
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def read_private(path: str) -> bytes:
    """Read a file and mark it as used now.

    The mark is the time of modification; it is renewed at most once a minute, and not at all where
    the file system does not allow it.

    Raises
    ------
    PermissionError
        If the path is not a regular file that this user owns and nobody else can write to.
    OSError
        If it cannot be read, for instance FileNotFoundError.
    """
    descriptor = os.open(path, _FLAGS)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise PermissionError(errno.EPERM, "not a regular file", path)
        _check_owner(status, path)
        data = _read(descriptor, status.st_size)
        if abs(time.time() - status.st_mtime) > _TOUCH_SECONDS:
            _touch(descriptor)
        return data
    finally:
        os.close(descriptor)


def make_private(path: str) -> None:
    """Make a folder and those above it, as far as they are missing, for this user alone.

    Raises
    ------
    OSError
        If that fails. That `path` exists is no failure, even if it is not a folder.
    """
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    except FileNotFoundError:
        parent = os.path.dirname(path)
        if parent == path:
            raise
        make_private(parent)
        make_private(path)


def check_private(path: str) -> None:
    """See that a path is a folder (not a link to one) of this user which nobody else can write to.

    Raises
    ------
    NotADirectoryError, PermissionError
        If it is not.
    OSError
        If it cannot be examined, for instance FileNotFoundError.
    """
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    _check_owner(status, path)


def _check_owner(status: os.stat_result, path: str) -> None:
    if status.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, f"owned by another user (id {status.st_uid})", path)
    if status.st_mode & _OTHERS_MAY_WRITE:
        raise PermissionError(errno.EPERM, "others may write to it", path)


def _read(descriptor: int, size: int) -> bytes:
    data = os.read(descriptor, size)
    while len(data) < size:  # Linux reads at most 2 GiB in one call
        more = os.read(descriptor, size - len(data))
        if not more:
            break
        data += more
    return data


def _touch(descriptor: int) -> None:
    with suppress(OSError):
        os.utime(descriptor)
