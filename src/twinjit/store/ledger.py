"""A running total that all processes sharing a folder keep together."""

from __future__ import annotations

import fcntl  # here, since where no descriptor is left it could not be loaded any more
import os
from collections.abc import Iterator
from contextlib import contextmanager

from twinjit.store.files import check_book, opened_book
from twinjit.store.locked import LockedFile

__all__ = ["BLOCK", "Ledger", "Recount", "blocks"]

BLOCK = 4096
"""Unit of the total in bytes: what file systems give a file space in."""

# The ledger is a file whose length in bytes is the total in blocks. Its content means nothing and
# is zero. An append adds to the total in one step even when several processes do it at once, and
# the total is read with one fstat. Its version is that of the layout (layout.py).


def blocks(size: int) -> int:
    """Count the blocks that a file of `size` bytes takes."""
    return -(-size // BLOCK)


class Ledger:
    """The running total in one file.

    The total is approximate: a file that cannot be found counts as 0, and network file systems
    may lose an addition.

    Parameters
    ----------
    path
        The file; it is made by the first `add`.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def add(self, count: int) -> int:
        """Add blocks and return the new total.

        Raises
        ------
        OSError
            If the file cannot be opened or extended.
        """
        with opened_book(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT) as descriptor:
            os.write(descriptor, bytes(count))
            return os.fstat(descriptor).st_size

    @contextmanager
    def recount(self, *, wait: bool) -> Iterator[Recount | None]:
        """Correct the total by counting anew; one process at a time does so.

        Parameters
        ----------
        wait
            Whether to wait for a process that is counting now.

        Yields
        ------
        Recount or None
            None if there is no ledger, or another process is counting and `wait` is false.

        Raises
        ------
        OSError
            If the file cannot be opened.
        """
        try:
            file = LockedFile(self._path, os.O_RDWR)
        except FileNotFoundError:
            yield None
            return
        with file:  # closing it unlocks
            check_book(file.fileno(), self._path)
            free = True
            try:
                fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                free = False
            except OSError:
                pass  # a file system without locks; to count twice at once does no harm
            yield Recount(file) if free else None


class Recount:
    """A count in progress; see `Ledger.recount`."""

    def __init__(self, file: LockedFile) -> None:
        self._file = file
        self._before = os.fstat(file.fileno()).st_size

    def finish(self, count: int) -> None:
        """Make `count` the total, plus whatever was added since the count began.

        An addition that the count has seen already is in the total twice then; one is never lost
        unless it falls between two system calls in here.

        Raises
        ------
        OSError
            If the file cannot be resized.
        """
        added = os.fstat(self._file.fileno()).st_size - self._before
        os.ftruncate(self._file.fileno(), count + max(added, 0))
