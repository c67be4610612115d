"""Files and folders that belong to this user alone.

Who can write an entry can run code in whoever loads it, so nothing is read that another user owns
or can change. Each entry is examined by the descriptor that it is read from; the folders above are
examined once, which is a second wall and not the first.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial

__all__ = [
    "UntrustedError",
    "check_book",
    "check_private",
    "make_private",
    "opened",
    "opened_book",
    "read_private",
]

_TOUCH_SECONDS = 60.0
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS_MAY_ANYTHING = stat.S_IRWXG | stat.S_IRWXO

# A link is refused (O_NOFOLLOW), and a planted pipe does not block the opening (O_NONBLOCK).
_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class UntrustedError(PermissionError):
    """What lies at a path is another user's, or others could change it, or it is a link."""

    def __init__(self, why: str, path: str) -> None:
        super().__init__(errno.EPERM, why, path)


def read_private(path: str, max_age: float | None = None, *, mark: bool = True) -> bytes | None:
    """Read a file and mark it as used now.

    The mark is the time of modification; it is renewed at most once a minute, and not at all where
    the file system does not allow it. A mark that lies in the future, after a clock went back, is
    no age.

    Parameters
    ----------
    path
        The file.
    max_age
        Seconds since its last use after which it is not read; None for no limit.
    mark
        Whether to mark it.

    Returns
    -------
    bytes or None
        None if it is too old.

    Raises
    ------
    UntrustedError
        If the path is not a regular file that this user owns and nobody else can write to.
    OSError
        If it cannot be read, for instance FileNotFoundError.
    """
    try:
        with opened(path, os.O_RDONLY) as descriptor:
            return _read_opened(descriptor, path, max_age, mark=mark)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UntrustedError("a symbolic link", path) from None
        raise


def _read_opened(descriptor: int, path: str, max_age: float | None, *, mark: bool) -> bytes | None:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise UntrustedError("not a regular file", path)
    _check_owner(status, path)
    age = time.time() - status.st_mtime
    if max_age is not None and age > max_age:
        return None
    data = _read(descriptor, status.st_size)
    if mark and abs(age) > _TOUCH_SECONDS:
        _touch(descriptor)
    return data


@contextmanager
def opened(path: str, flags: int, folder: int | None = None) -> Iterator[int]:
    """Open a store's file for a ``with`` statement; no link is followed, no pipe waited for.

    It is closed whatever a signal handler raises, and whenever: that can be after any bytecode, but
    there is none between the opening and the list that the descriptor is kept in.

    Parameters
    ----------
    path, flags
        As for `os.open`.
    folder
        Descriptor of the folder that a relative path counts from.

    Yields
    ------
    int
        Its descriptor.

    Raises
    ------
    OSError
        If it cannot be opened.
    """
    held: list[int] = []
    try:
        held.extend(map(partial(os.open, dir_fd=folder), (path,), (flags | _FLAGS,), (0o600,)))
        yield held[0]
    finally:
        try:
            if held:
                os.close(held[0])
        except OSError:  # of late writes; what is read is checked
            pass


@contextmanager
def opened_book(path: str, flags: int) -> Iterator[int]:
    """Open a file that is written in place, as `opened` does, and see that it is one.

    Raises
    ------
    UntrustedError
        As for `check_book`.
    OSError
        If it cannot be opened.
    """
    with opened(path, flags) as descriptor:
        check_book(descriptor, path)
        yield descriptor


def check_book(descriptor: int, path: str) -> None:
    """See that what was opened may be written in place.

    A file that has another name, too (a hard link), is refused: who made that would have the file
    of that name overwritten.

    Raises
    ------
    UntrustedError
        If it is not a regular file that this user owns, with one name, and nobody else can write
        to.
    """
    status = os.fstat(descriptor)
    _check_owner(status, path)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
        raise UntrustedError("not a regular file with one name", path)


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
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)


def check_private(path: str) -> None:
    """See that a path is a folder of this user's alone, in folders that not everyone can write to.

    A folder that all may write to is no harm where only owners may rename in it (the sticky bit),
    as in ``/tmp``. Groups are not looked at there.

    Raises
    ------
    NotADirectoryError
        If it is something else.
    UntrustedError
        If others own it or have any right to it, if it is a link, or one of the folders above is
        open to all.
    OSError
        If it cannot be examined, for instance FileNotFoundError.
    """
    status = os.lstat(path)
    if stat.S_ISLNK(status.st_mode):
        raise UntrustedError("a symbolic link", path)
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    _check_owner(status, path)
    if status.st_mode & _OTHERS_MAY_ANYTHING:
        raise UntrustedError(f"others may look into it: chmod 700 {path}", path)
    parent = os.path.dirname(path)
    for spelling in {parent, os.path.realpath(parent)}:
        _check_above(spelling)


def _check_above(path: str) -> None:
    while True:
        mode = os.stat(path).st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise UntrustedError(f"everyone may write to it: chmod o-w {path}", path)
        parent = os.path.dirname(path)
        if parent == path:
            return
        path = parent


def _check_owner(status: os.stat_result, path: str) -> None:
    if status.st_uid != os.geteuid():
        raise UntrustedError(f"owned by another user (id {status.st_uid})", path)
    if status.st_mode & _OTHERS_MAY_WRITE:
        raise UntrustedError("others may write to it", path)


def _read(descriptor: int, size: int) -> bytes:
    # Not `read`: a child that a signal handler forks would move the place in the parent's file.
    data = os.pread(descriptor, size, 0)
    while len(data) < size:  # Linux reads at most 2 GiB in one call
        more = os.pread(descriptor, size - len(data), len(data))
        if not more:
            break
        data += more
    return data


def _touch(descriptor: int) -> None:
    with suppress(OSError):
        os.utime(descriptor)
