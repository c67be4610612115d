"""One piece of work at a time for each key, among all processes that share a folder."""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Literal

from twinjit.stop import Stop
from twinjit.store.files import make_private, opened_book
from twinjit.store.locked import LockedFile

__all__ = ["Flights", "Outcome"]

Outcome = Literal[
    "owner",  # nobody else does this key's work until the turn ends
    "published",  # the entry was published meanwhile
    "freed",  # who had the turn ended it without publishing an entry
    "timed out",  # the limit was reached, or a stop asked for
    "unlocked",  # there are no locks to be had
]
"""How a wait for a turn ended."""

# The file. All keys share it, so that it neither grows nor needs cleaning up.
#
#   file = 256 marks, or as many as were written yet; the others count as zero
#   mark = bytes 8 to 16 of the digest of the key whose turn last ended without a new entry,
#          8 random bytes
#
# Let n be the first 8 bytes of a key's digest, as a big-endian number. The key's mark is the one at
# n mod 256, and its turn is an exclusive lock of an open file description (F_OFD_SETLK) on the byte
# at n >> 2, which need not exist. If two keys meet in a byte, one waits for the other; if they do
# in a mark, one may be overwritten before it is seen, and those waiting go one after another.
# Its version is that of the layout (layout.py).
_MARKS = 256
_MARK = struct.Struct("8s8s")

# struct flock: type, whence, start, length, process (0 for these locks).
_FLOCK = struct.Struct("hhqqi0q")

_SHORTEST_PAUSE = 0.001
_LONGEST_PAUSE = 0.02

_ATTEMPTS = 10  # to lock the file before someone removes it


class Flights:
    """Turns: for each key one at a time, among the threads of all processes.

    The kernel ends the turns of a process that dies. A forked child has none of those of its
    parent; if it was forked from within a turn, it goes on without.

    Parameters
    ----------
    path
        The file for the locks; made, with its folder, by the first turn. It may be removed at any
        time: at worst, two processes do the same work then.
    report
        Called with what keeps turns from being had, once for each kind of it; not for a read-only
        file system, where nothing could be published, either.
    """

    def __init__(self, path: str, report: Callable[[OSError], None]) -> None:
        self._path = path
        self._report = report
        self._told: set[int | None] = {errno.EROFS}

    @contextmanager
    def turn(
        self,
        key_digest: bytes,
        limit_seconds: float,
        entry: Callable[[], object],
        stop: Stop | None = None,
    ) -> Iterator[Outcome]:
        """Wait for a key's turn, and hold it for the body of a ``with`` statement.

        The body is run however the wait ends. It shall look for the entry, and publish one if there
        is none. If the owner ends without having published one (it found one, failed, or the disk
        is full), all those waiting are freed, each to look or try for itself; if its process dies,
        one of them is the next owner.

        Parameters
        ----------
        key_digest
            The digest of the key.
        limit_seconds
            How long to wait at most; 0 for not at all.
        entry
            Says which entry is there: anything that differs from one entry to the next, or None.
            One that is there when the wait begins does not end it, since it may be of no use.
        stop
            Ends the wait early, within some 20 ms.

        Yields
        ------
        Outcome
            How the wait ended.
        """
        before = entry()
        lock: _KeyLock | None = None
        outcome: Outcome = "unlocked"
        try:
            try:
                lock = _KeyLock(self._path, key_digest)
                outcome = _wait(lock, limit_seconds, entry, before, stop)
            except OSError as error:
                if not (lock and lock.is_closed):  # else a signal handler forked this process
                    self._tell(error)
            yield outcome
        finally:
            if lock:
                lock.end(frees_all=outcome == "owner" and entry() in (None, before))

    def _tell(self, error: OSError) -> None:
        if error.errno not in self._told:
            self._told.add(error.errno)
            self._report(error)


def _wait(
    lock: _KeyLock,
    limit_seconds: float,
    entry: Callable[[], object],
    before: object,
    stop: Stop | None,
) -> Outcome:
    if lock.try_take():
        return "owner"
    deadline = time.monotonic() + limit_seconds
    mark = lock.read_mark()
    pause = _SHORTEST_PAUSE
    while True:
        rest = deadline - time.monotonic()
        if rest <= 0 or (stop and stop.is_requested):
            return "timed out"
        time.sleep(min(pause, rest))
        pause = min(1.5 * pause, _LONGEST_PAUSE)
        if entry() not in (None, before):
            return "published"
        if lock.read_mark() not in (None, mark):
            return "freed"
        if lock.try_take():
            return "owner" if entry() in (None, before) else "published"


class _KeyLock:
    """The byte and the mark of a key, through an open file description of its own."""

    def __init__(self, path: str, key_digest: bytes) -> None:
        number = int.from_bytes(key_digest[:8], "big")
        self._path = path
        self._byte = number >> 2
        self._mark_at = number % _MARKS * _MARK.size
        self._tag = key_digest[8:16]
        self._file = _open(path)

    @property
    def is_closed(self) -> bool:
        """Whether `end` was called, or this is a forked child."""
        return self._file.closed

    def try_take(self) -> bool:
        """Lock the byte; False if someone else has it."""
        for _ in range(_ATTEMPTS):
            if not self._set("F_WRLCK"):
                return False
            if self._is_in_place():
                return True
            replaced, self._file = self._file, _open(self._path)
            replaced.close()
        raise OSError(errno.ESTALE, "it is removed all the time", self._path)

    def read_mark(self) -> bytes | None:
        """Read the mark; None if it is another key's."""
        mark = os.pread(self._file.fileno(), _MARK.size, self._mark_at)
        return mark if mark.startswith(self._tag) else None

    def end(self, *, frees_all: bool) -> None:
        """Give the byte back, if it was taken; by a new mark, free all who wait for it."""
        if self.is_closed:
            return
        try:
            with suppress(OSError):  # without a mark, those waiting go one after another
                if frees_all:
                    mark = _MARK.pack(self._tag, os.urandom(8))
                    os.pwrite(self._file.fileno(), mark, self._mark_at)
            with suppress(OSError):  # to close the file is enough, unless a child has it still
                self._set("F_UNLCK")
        finally:
            with suppress(OSError):  # it is closed even then
                self._file.close()

    def _set(self, kind: Literal["F_WRLCK", "F_UNLCK"]) -> bool:
        request = _FLOCK.pack(getattr(fcntl, kind), os.SEEK_SET, self._byte, 1, 0)
        try:
            fcntl.fcntl(self._file, fcntl.F_OFD_SETLK, request)
        except (BlockingIOError, PermissionError):
            return False
        except OSError as error:
            why = f"the file cannot be locked ({error.strerror})"
            raise OSError(errno.ENOLCK, why, self._path) from error
        return True

    def _is_in_place(self) -> bool:
        try:
            named = os.stat(self._path, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return os.path.samestat(named, os.fstat(self._file.fileno()))


def _open(path: str) -> LockedFile:
    try:
        with suppress(FileNotFoundError):
            return LockedFile(path, os.O_RDWR)
        _create(path)
        return LockedFile(path, os.O_RDWR)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a link", path) from None
        raise


def _create(path: str) -> None:
    make_private(os.path.dirname(path))
    with opened_book(path, os.O_RDWR | os.O_CREAT) as descriptor:
        # Marks have to find room when the disk is full, too.
        os.posix_fallocate(descriptor, 0, _MARKS * _MARK.size)
