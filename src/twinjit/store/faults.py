"""Trouble of a store: counted, told once, never raised."""

from __future__ import annotations

import errno
from threading import Lock

from twinjit.warn import warn_of_cache

__all__ = ["Faults"]

_CURES = {
    "ENOSPC": "Free some space, or set TWINJIT_CACHE_DIR to a directory on another disk.",
    "EDQUOT": "Free some space, or set TWINJIT_CACHE_DIR to a directory on another disk.",
    "EFBIG": "Raise the limit of file sizes (ulimit -f).",
    "EMFILE": "Close files, or raise the limit of open files (ulimit -n).",
    "EROFS": "Set TWINJIT_CACHE_DIR to a directory that you can write to.",
    "EACCES": "Set TWINJIT_CACHE_DIR to a directory that you can write to.",
    "EPERM": "Set TWINJIT_CACHE_DIR to a directory that is yours alone (mode 0700).",
    "ENOTDIR": "Remove the file that is in the way, or set TWINJIT_CACHE_DIR to a directory.",
    "damaged": "The entry will be made again; if this recurs, examine the disk.",
}

# Guards _told. Warnings are issued after it is released.
_lock = Lock()
_told: set[tuple[str, str]] = set()


class Faults:
    """Counts the faults of one store, and warns of each kind once per directory and process.

    Parameters
    ----------
    directory
        The store's directory, for the warnings.
    """

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._count_lock = Lock()  # guards count
        self.count = 0

    def report(self, error: Exception) -> None:
        """Count a fault and warn if it is the first of its kind.

        An OSError is of the kind of its errno, any other exception of the kind ``damaged``.

        Warns
        -----
        CacheWarning
            Under a filter that turns it into an exception, that is raised: the user asked for it.
        """
        kind = _kind(error)
        with self._count_lock:
            self.count += 1
        with _lock:
            if (self._directory, kind) in _told:
                return
            _told.add((self._directory, kind))
        warn_of_cache(
            f"Twinjit goes on without its disk cache in {self._directory} for now ({kind}): "
            f"{error}. {_CURES.get(kind, 'Set TWINJIT_CACHE=off to do without it.')}"
        )


def _kind(error: Exception) -> str:
    if isinstance(error, OSError):
        return errno.errorcode.get(error.errno or 0, type(error).__name__)
    return "ENOMEM" if isinstance(error, MemoryError) else "damaged"
