"""Trouble of a store: counted, told once, never raised."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from dataclasses import dataclass

from twinjit.errors import ArtifactError, ArtifactUnavailableError, SealError
from twinjit.forks import fork_lock
from twinjit.warn import warn_of_cache

__all__ = ["DISK", "SHARED", "Faults", "Medium"]


@dataclass(frozen=True)
class Medium:
    """What a store is kept on, as far as its warnings differ.

    Attributes
    ----------
    title
        What it is called, before its place.
    cures
        What the user can do, by the kind of fault.
    otherwise
        What helps against any other kind.
    """

    title: str
    cures: Mapping[str, str]
    otherwise: str


_MEANS = "Free memory, or close files; the entry stays."

DISK = Medium(
    "disk cache in",
    {
        "ENOSPC": "Free some space, or set TWINJIT_CACHE_DIR to a directory on another disk.",
        "EDQUOT": "Free some space, or set TWINJIT_CACHE_DIR to a directory on another disk.",
        "EFBIG": "Raise the limit of file sizes (ulimit -f).",
        "EMFILE": "Close files, or raise the limit of open files (ulimit -n).",
        "EROFS": "Set TWINJIT_CACHE_DIR to a directory that you can write to.",
        "EACCES": "Set TWINJIT_CACHE_DIR to a directory that you can write to.",
        "EPERM": "Set TWINJIT_CACHE_DIR to a directory that is yours alone (mode 0700).",
        "ENOTDIR": "Remove the file that is in the way, or set TWINJIT_CACHE_DIR to a directory.",
        "ENOLCK": "Processes may compile a program at the same time; for each to be compiled once, "
        "set TWINJIT_CACHE_DIR to a directory on a file system with locks.",
        "damaged": "The entry will be made again; if this recurs, examine the disk.",
        "unavailable": _MEANS,
    },
    "Set TWINJIT_CACHE=off to do without it.",
)

_UNREACHABLE = "Start the server, or correct the address in TWINJIT_SHARED_URL."
_READ_ONLY = "Add ?read-only=true to TWINJIT_SHARED_URL, or get the right to write there."

SHARED = Medium(
    "shared cache at",
    {
        "ECONNREFUSED": _UNREACHABLE,
        "ENOENT": _UNREACHABLE,
        "EHOSTUNREACH": _UNREACHABLE,
        "ENETUNREACH": _UNREACHABLE,
        "ETIMEDOUT": "See that the server runs and is near, or raise TWINJIT_SHARED_TIMEOUT.",
        "ECONNRESET": "The server ended the connection; its log should say why.",
        "EPROTO": "See that TWINJIT_SHARED_URL leads to a server of Redis.",
        "EAGAIN": "The server is starting; nothing need be done.",
        "EACCES": "Give a user in TWINJIT_SHARED_URL, with the right password, who may do this.",
        "EROFS": _READ_ONLY,
        "ENOSPC": "Give the server more memory or disk, or have it evict what is used least "
        "(Redis: maxmemory-policy allkeys-lru).",
        "EMFILE": "Close files, or raise the limit of open files (ulimit -n).",
        "damaged": "The entry will be made again; if this recurs, find out who writes there.",
        "unavailable": _MEANS,
        "unsigned": "The entry will be made again; give all machines the same secret, and find "
        "out who else writes there.",
    },
    "Unset TWINJIT_SHARED_URL to do without it.",
)

_KIND_OF_CLASS: tuple[tuple[type[Exception], str], ...] = (
    (SealError, "unsigned"),
    (ArtifactUnavailableError, "unavailable"),
    (ArtifactError, "damaged"),
    (MemoryError, "ENOMEM"),
    (TimeoutError, "ETIMEDOUT"),  # often without an errno
)

# Guards _told. Warnings are issued after it is released.
_lock = fork_lock()
_told: set[tuple[str, str]] = set()


class Faults:
    """Counts the faults of one store, and warns of each kind once per place and process.

    Parameters
    ----------
    place
        The store's directory or address, for the warnings; without passwords.
    medium
        What the store is kept on.
    """

    def __init__(self, place: str, medium: Medium = DISK) -> None:
        self._place = place
        self._medium = medium
        self._count_lock = fork_lock()  # guards count
        self.count = 0

    def report(self, error: Exception) -> None:
        """Count a fault and warn if it is the first of its kind.

        An OSError is of the kind of its errno, an ArtifactError ``damaged`` (a SealError
        ``unsigned``), and any other exception of the kind of its class.

        Warns
        -----
        CacheWarning
            Under a filter that turns it into an exception, that is raised: the user asked for it.
        """
        kind = _kind(error)
        with self._count_lock:
            self.count += 1
        with _lock:
            if (self._place, kind) in _told:
                return
            _told.add((self._place, kind))
        cure = self._medium.cures.get(kind, self._medium.otherwise)
        warn_of_cache(
            f"Twinjit goes on without its {self._medium.title} {self._place} for now ({kind}): "
            f"{str(error).rstrip('.')}. {cure}"
        )


def _kind(error: Exception) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if number is not None and number in errno.errorcode:
        return errno.errorcode[number]
    for cls, kind in _KIND_OF_CLASS:
        if isinstance(error, cls):
            return kind
    return type(error).__name__
