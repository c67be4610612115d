"""What happened in a store, summed over all processes that use it."""

from __future__ import annotations

import fcntl
import json
import os
import sys
import time
import weakref
from collections import Counter
from collections.abc import Mapping

from blake3 import blake3

from twinjit.forks import fork_lock
from twinjit.store.files import check_private, opened_book

__all__ = ["Account"]

# The file is one page, written in one call, which no signal cuts in two.
#
#   account  := magic counts checksum{32}            4096 bytes
#   magic    := "TJACCNT" version:u8
#   counts   := a JSON object of names and whole numbers, then spaces; under "since" the time from
#               which on they count, in seconds since 1970
#   checksum := BLAKE3-256 over all bytes before it
#
# An account of another version, or one that is damaged, counts as none and is begun anew.
#
# 1: as above.
_MAGIC = b"TJACCNT\1"
_PAGE = 4096
_CHECKSUM_SIZE = 32

_FLUSH_SECONDS = 1.0
_LAST_TRIES = 20
_LAST_PAUSE_SECONDS = 0.005
_SINCE = "since"
_TOO_MANY = 1 << 63


class Account:
    """Counts events by name, in one file for all processes.

    Events are gathered in memory and added to the file once a second at most, at `flush`, and when
    the process ends; what a killed process had gathered is lost. To keep the account is no part of
    a store's work: where the file cannot be written (a read-only store, a full disk), events stay
    in memory, and nobody is warned.

    Parameters
    ----------
    path
        The file. Its folder is not made: before the first put of a store there is no account. Where
        the folder is not this user's alone, the file is neither written nor read.
    """

    def __init__(self, path: str) -> None:
        self._events = _Events(path)
        self._finish = weakref.finalize(self, _Events.finish, self._events)

    def add(self, event: str, count: int = 1) -> None:
        """Count events."""
        self._events.add(event, count)

    def flush(self) -> None:
        """Add what was gathered to the file, unless another process is doing so just now."""
        self._events.flush()

    def totals(self) -> Mapping[str, int]:
        """Return all counts so far, of this process and of others."""
        totals = self._events.totals()
        del totals[_SINCE]
        return totals

    def since(self) -> float | None:
        """Return when counting began, in seconds since 1970; None if that is not known."""
        return self._events.totals()[_SINCE] or None

    def reset(self) -> bool:
        """Count from 0 again, for all processes; False if the file cannot be written."""
        return self._events.reset()


class _Events:
    """The part of an account that outlives it, until it is written."""

    def __init__(self, path: str) -> None:
        self._path = path
        # Guards the two below. Held while the file is read or written, which waits for nobody: who
        # has the file locked is passed by.
        self._lock = fork_lock()
        self._pending: Counter[str] = Counter()
        self._flushed = time.monotonic()
        _all.add(self)
        _finish_with_multiprocessing()

    def add(self, event: str, count: int) -> None:
        with self._lock:
            self._pending[event] += count
            is_due = time.monotonic() - self._flushed > _FLUSH_SECONDS
        if is_due:
            self.flush()

    def flush(self) -> bool:
        with self._lock:
            self._flushed = time.monotonic()
            # Whatever else this thread counts meanwhile, in a finaliser for instance, stays.
            gathered, self._pending = self._pending, Counter()
            if gathered and not _add_to(self._path, gathered):
                self._pending.update(gathered)
            return not self._pending

    def finish(self) -> None:
        for _ in range(_LAST_TRIES):
            if self.flush() or not os.path.exists(self._path):
                return
            time.sleep(_LAST_PAUSE_SECONDS)

    def reset(self) -> bool:
        for _ in range(_LAST_TRIES):
            with self._lock:
                self._pending.clear()
                if not os.path.exists(self._path) or _add_to(self._path, Counter(), anew=True):
                    return True
            time.sleep(_LAST_PAUSE_SECONDS)
        return False

    def totals(self) -> Counter[str]:
        with self._lock:
            return _read(self._path) + self._pending.copy()

    def start_anew(self) -> None:
        """Drop what was gathered: in a forked child, it is the parent's to tell."""
        self._pending = Counter()


_all: weakref.WeakSet[_Events] = weakref.WeakSet()
_finishing = 0  # the process in which multiprocessing finishes them


def _start_all_anew() -> None:
    for events in list(_all):
        events.start_anew()
    if util := sys.modules.get("multiprocessing.util"):
        # A child that multiprocessing makes forgets what else was registered with it.
        util.register_after_fork(_finish_all, _finish_with_multiprocessing)


def _finish_with_multiprocessing(_: object = None) -> None:
    """Have accounts finished by multiprocessing, whose forked children end with ``os._exit``."""
    global _finishing
    util = sys.modules.get("multiprocessing.util")
    if util and _finishing != os.getpid():
        _finishing = os.getpid()
        util.Finalize(None, _finish_all, exitpriority=0)


def _finish_all() -> None:
    for events in list(_all):
        events.finish()


os.register_at_fork(after_in_child=_start_all_anew)


def _add_to(path: str, counts: Counter[str], *, anew: bool = False) -> bool:
    """Add counts to those in a file, or replace them; False where that cannot be done now."""
    try:
        check_private(os.path.dirname(path))
        with opened_book(path, os.O_RDWR | os.O_CREAT) as descriptor:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            known = Counter() if anew else _decode(os.pread(descriptor, _PAGE, 0))
            known = known or Counter({_SINCE: int(time.time())})
            os.pwrite(descriptor, _encode(known + counts), 0)
            return True
    except OSError:
        return False


def _read(path: str) -> Counter[str]:
    try:
        check_private(os.path.dirname(path))
        with opened_book(path, os.O_RDONLY) as descriptor:
            return _decode(os.pread(descriptor, _PAGE, 0))
    except OSError:
        return Counter()


def _encode(counts: Counter[str]) -> bytes:
    body = _MAGIC + json.dumps(counts, separators=(",", ":"), sort_keys=True).encode()
    body = body.ljust(_PAGE - _CHECKSUM_SIZE)[: _PAGE - _CHECKSUM_SIZE]
    return body + blake3(body).digest()


def _decode(data: bytes) -> Counter[str]:
    body, checksum = data[:-_CHECKSUM_SIZE], data[-_CHECKSUM_SIZE:]
    if not body.startswith(_MAGIC) or blake3(body).digest() != checksum:
        return Counter()
    try:
        counts = json.loads(body[len(_MAGIC) :])
    except (ValueError, RecursionError):  # cut short, where it was more than the page takes
        return Counter()
    return Counter(counts) if _are_counts(counts) else Counter()


def _are_counts(found: object) -> bool:
    return isinstance(found, dict) and all(
        type(count) is int and abs(count) < _TOO_MANY for count in found.values()
    )
