"""Artifacts in a directory that any number of processes share."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from typing import TypeVar

from twinjit.artifact import Artifact, encode
from twinjit.errors import ArtifactError, ArtifactUnavailableError, ArtifactVersionError
from twinjit.stop import Stop
from twinjit.store.base import MissReason, StoreStats
from twinjit.store.direct import decode_record, encode_record
from twinjit.store.directory import Directory, Entry
from twinjit.store.examination import Bad, parse_object
from twinjit.store.files import make_private, read_private
from twinjit.store.flight import Flights, Outcome
from twinjit.store.layout import OBJECT_SUFFIX, RECORD_SUFFIX, check_digest
from twinjit.store.ledger import BLOCK
from twinjit.store.locked import InheritedError
from twinjit.store.obstacles import remove_obstacle
from twinjit.store.publish import publish, sweep
from twinjit.store.reasons import reason_of
from twinjit.store.room import Pruned, Room

__all__ = ["Bad", "DiskStore", "Entry", "Pruned"]

T = TypeVar("T")

# A put is tried again after a folder was removed, and after something that does not belong there
# was cleared away, each of which may happen on the way more than once.
_TRIES = 4


# A folder was removed meanwhile; or a signal handler forked, and parent and child do the same.
_OF_THE_MOMENT = (FileNotFoundError, FileExistsError, InheritedError)


class DiskStore(Directory):
    """A store in a directory. See `twinjit.store.base.Store`.

    Any number of threads and processes may use one directory, and anything in it may be deleted at
    any time. Nothing is touched before the first lookup or put, and nothing is made before the
    first turn or put. A fault (a damaged entry, a full or read-only disk, a foreign owner …) is a
    miss or an entry not taken; it is counted, and each kind is warned of once per directory with
    `CacheWarning`. Damaged entries are removed, and whatever else lies where an entry should.

    Sizes are counted in blocks of 4 KiB, direct records included. When files exceed the bound,
    those used longest ago are removed until the rest and the new entry take nine tenths of it. The
    bound can be exceeded while other processes put, and, after a loss of power cut the ledger
    short, until the next scan; see `Room`. An entry that takes most of the bound is not kept.

    Parameters
    ----------
    root
        The directory; a relative path counts from the current directory.
    max_bytes
        Bound of all files together; 0 keeps nothing.
    max_age
        Seconds after its last use from which on an entry is a miss, and removed; None for no limit.

    Raises
    ------
    ValueError
        If a bound is negative.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        max_bytes: int = 1024**3,
        max_age: float | None = None,
    ) -> None:
        if max_bytes < 0:
            raise ValueError(f"max_bytes is {max_bytes}; give 0 or more")
        if max_age is not None and not max_age >= 0:
            raise ValueError(f"max_age is {max_age}; give 0 or more seconds, or None")
        super().__init__(root, max_age)
        self.max_bytes = max_bytes
        self._flights = Flights(self._layout.locks, self._tally.fault)
        self._room = Room(self._layout, max_bytes, max_age, self._tally.fault)
        self._is_swept = False  # only ever becomes true: remains of killed writers were removed

    def get(self, key_digest: bytes) -> Artifact | None:
        """Look up an artifact by the 32 bytes of its key's digest.

        Raises
        ------
        ValueError
            If the digest is not 32 bytes.
        """
        path = self._layout.object_path(key_digest)
        artifact, reason = self._load(path, lambda data: parse_object(data, key_digest))
        if artifact is not None:
            self._count_hit(1)
            return artifact
        self._tally.miss("evicted" if self._was_evicted(key_digest, reason) else reason)
        return None

    def discard(self, key_digest: bytes, why: ArtifactError) -> None:
        """Take back what `get` gave, since it turned out to be of no use: its hit was a miss.

        A fault is reported, and the entry removed unless it may be intact
        (`ArtifactUnavailableError`).
        """
        self._count_hit(-1)
        self._tally.miss(reason_of(why))
        if not isinstance(why, ArtifactUnavailableError):
            self.remove(key_digest)
        self._tally.fault(type(why)(f"{self._layout.object_path(key_digest)}: {why}"))

    def remove(self, key_digest: bytes) -> None:
        """Remove an entry, if there is one; no fault."""
        path = self._layout.object_path(key_digest)
        with suppress(OSError):  # not there, or a place in which nothing is to be changed
            self._trust()
            os.unlink(path)

    def put(self, artifact: Artifact) -> bool:
        """Publish an artifact; False after a fault, or if it takes most of the bound by itself."""
        path = self._layout.object_path(artifact.key_digest)
        done = self._publish(encode(artifact), path)
        if done:
            self._tally.put()
        return done

    def turn(
        self, key_digest: bytes, limit_seconds: float, stop: Stop | None = None
    ) -> AbstractContextManager[Outcome]:
        """Wait for a key's turn among all processes, to compile it once; see `Flights.turn`."""
        return self._turn(key_digest, self._layout.object_path(key_digest), limit_seconds, stop)

    def direct_turn(
        self, source_digest: bytes, limit_seconds: float, stop: Stop | None = None
    ) -> AbstractContextManager[Outcome]:
        """Wait for a source's turn likewise, to find out its key once; ends with its record."""
        path = self._layout.record_path(source_digest)
        return self._turn(source_digest, path, limit_seconds, stop)

    def get_direct(self, source_digest: bytes) -> bytes | None:
        """Look up the digest of the key that a source had; neither a hit nor a miss of `stats`.

        Raises
        ------
        ValueError
            If the digest is not 32 bytes.
        """
        path = self._layout.record_path(source_digest)
        return self._load(path, lambda data: decode_record(data, source_digest))[0]

    def put_direct(self, source_digest: bytes, key_digest: bytes) -> bool:
        """Remember which key a source has; False after a fault.

        Raises
        ------
        ValueError
            If a digest is not 32 bytes.
        """
        check_digest(key_digest)
        path = self._layout.record_path(source_digest)
        return self._publish(encode_record(source_digest, key_digest), path)

    def stats(self) -> StoreStats:
        """Scan the directory, and count this object's events.

        `entries` are artifacts; `bytes` and `evictions` include direct records.
        """
        objects = self._scan_or_report(self._layout.objects, OBJECT_SUFFIX)
        records = self._scan_or_report(self._layout.direct, RECORD_SUFFIX)
        return self._tally.stats(
            len(objects), BLOCK * sum(file.blocks for file in objects + records)
        )

    def prune(self, max_bytes: int | None = None, max_age: float | None = None) -> Pruned:
        """Remove what is too old, what was used longest ago, and remains of killed processes.

        Waits for another process that is pruning.

        Parameters
        ----------
        max_bytes
            The bound in bytes that the rest shall keep; by default the store's.
        max_age
            The limit in seconds since the last use; by default the store's.
        """
        try:
            self._trust()
            pruned = self._room.prune(max_bytes, max_age)
        except (FileNotFoundError, InheritedError):  # nothing was ever put; the parent goes on
            return Pruned()
        except OSError as error:
            self._tally.fault(error)
            return Pruned()
        self._tally.evicted(pruned.entries)
        self.account.flush()
        return pruned

    def clear(self) -> None:
        """Remove all entries and temporaries; not counted as evictions. `totals` stay."""
        try:
            self._trust()
            self._room.clear()
        except (FileNotFoundError, InheritedError):
            pass  # nothing was ever put; the parent goes on
        except OSError as error:
            self._tally.fault(error)

    def _turn(
        self, digest: bytes, path: str, limit_seconds: float, stop: Stop | None
    ) -> AbstractContextManager[Outcome]:
        try:
            if self.max_bytes:
                make_private(self._layout.base)
                self._trust()
                return self._flights.turn(digest, limit_seconds, partial(_entry_at, path), stop)
        except OSError:  # lookup and put say so
            pass
        return nullcontext("unlocked")

    def _count_hit(self, count: int) -> None:
        self._tally.hit(count)
        self.account.add("disk", count)

    def _load(
        self, path: str, parse: Callable[[bytes], T]
    ) -> tuple[T, MissReason] | tuple[None, MissReason]:
        """Read a file; why it gave nothing counts only if it gave nothing."""
        try:
            self._trust()
            data = read_private(path, self.max_age)
            if data is not None:
                return parse(data), "absent"
            _discard(path)
            return None, "expired"
        except FileNotFoundError:
            return None, "absent"
        except ArtifactVersionError:
            return None, "version"
        except ArtifactError as error:
            _discard(path)
            self._tally.fault(ArtifactError(f"{path}: {error}"))
            return None, "damaged"
        except (OSError, MemoryError) as error:
            self._tally.fault(error)
            return None, reason_of(error)

    def _was_evicted(self, key_digest: bytes, reason: MissReason) -> bool:
        with suppress(OSError):  # a read-only store: that it was evicted stays unknown
            return reason == "absent" and self._room.was_evicted(key_digest)
        return False

    def _publish(self, data: bytes, path: str, tries: int = _TRIES) -> bool:
        try:
            return self._try_publish(data, path)
        except (OSError, MemoryError) as error:
            if tries == 1 or not self._is_curable(error, path):
                self._tally.fault(error)
                return False
        return self._publish(data, path, tries - 1)

    def _try_publish(self, data: bytes, path: str) -> bool:
        make_private(self._layout.base)
        self._trust()
        if not self._room.make(len(data), self._tally.evicted):
            return False
        make_private(self._layout.staging)
        make_private(os.path.dirname(path))
        if not self._is_swept:
            sweep(self._layout.staging)
            self._is_swept = True
        publish(data, path, self._layout.staging)
        return True

    def _is_curable(self, error: Exception, path: str) -> bool:
        """Clear away what should not be where a put has to go; True if it may be tried again."""
        is_cleared = self._is_trusted and remove_obstacle(self._layout, path)
        return is_cleared or isinstance(error, _OF_THE_MOMENT)


def _entry_at(path: str) -> int | None:
    # Not its time: a lookup changes that.
    try:
        return os.lstat(path).st_ino
    except OSError:
        return None


def _discard(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
