"""Artifacts in a directory that any number of processes share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple, TypeVar

from twinjit.artifact import Artifact, decode, encode
from twinjit.errors import ArtifactError, ArtifactVersionError
from twinjit.forks import fork_lock
from twinjit.key import DIGEST_SIZE
from twinjit.store.base import StoreStats
from twinjit.store.direct import decode_record, encode_record
from twinjit.store.eviction import Found, evict, scan
from twinjit.store.faults import Faults
from twinjit.store.files import check_private, make_private, read_private
from twinjit.store.ledger import BLOCK, Ledger, Recount, blocks
from twinjit.store.publish import publish, sweep

__all__ = ["DiskStore", "Pruned"]

T = TypeVar("T")

# The layout. Each name is a digest in hexadecimal, split after its first byte.
#
#   ROOT/v1/objects/ab/cdef….tj    one artifact (artifact.py), by its key's digest
#   ROOT/v1/direct/ab/cdef….ref    one direct record (direct.py), by its source's digest
#   ROOT/v1/tmp/…                  files being written (publish.py)
#   ROOT/v1/ledger                 what has been written, in blocks (ledger.py)
#
# 1: as above.
_LAYOUT = "v1"

_OBJECT_SUFFIX = ".tj"
_RECORD_SUFFIX = ".ref"

# The share of the bound that a put prunes to, so that the next puts need not prune.
_LOW_WATER = 0.9


class Pruned(NamedTuple):
    """What `DiskStore.prune` removed.

    Attributes
    ----------
    entries
        Artifacts and direct records.
    bytes
        The space they took.
    temporaries
        Remains of processes that died while they wrote.
    """

    entries: int = 0
    bytes: int = 0
    temporaries: int = 0


class DiskStore:
    """A store in a directory. See `twinjit.store.base.Store`.

    Any number of threads and processes may use one directory, and anything in it may be deleted at
    any time. Nothing is touched before the first lookup or put, and nothing is made before the
    first put. A fault (a damaged entry, a full or read-only disk, a foreign owner …) is a miss or
    an entry not taken; it is counted, and each kind is warned of once per directory with
    `CacheWarning`. Damaged entries are removed.

    Sizes are counted in blocks of 4 KiB, direct records included. Instead of looking at the whole
    directory, each put adds to a total that all processes share (the ledger); only when that
    exceeds the bound is the directory scanned, and the files used longest ago are removed until
    the rest and the new entry take nine tenths of the bound. A missing ledger leads to a scan, too.
    The bound can be exceeded while other processes put, and, after a loss of power cut the ledger
    short, until the next scan.

    Parameters
    ----------
    root
        The directory; a relative path counts from the current directory.
    max_bytes
        Bound of all files together; 0 keeps nothing.

    Raises
    ------
    ValueError
        If `max_bytes` is negative.
    """

    def __init__(self, root: str | os.PathLike[str], max_bytes: int = 1024**3) -> None:
        if max_bytes < 0:
            raise ValueError(f"max_bytes is {max_bytes}; give 0 or more")
        self.root = os.path.abspath(root)
        self.max_bytes = max_bytes
        self._base = os.path.join(self.root, _LAYOUT)
        self._objects = os.path.join(self._base, "objects")
        self._direct = os.path.join(self._base, "direct")
        self._staging = os.path.join(self._base, "tmp")
        self._ledger = Ledger(os.path.join(self._base, "ledger"))
        self._faults = Faults(self.root)
        self._trusted = False  # whether _base was seen to be private; only ever becomes true
        # Guards the counters below; all work on files is done without it.
        self._lock = fork_lock()
        self._hits = self._misses = self._evictions = self._puts = 0

    def get(self, key_digest: bytes) -> Artifact | None:
        """Look up an artifact by the 32 bytes of its key's digest.

        Raises
        ------
        ValueError
            If the digest is not 32 bytes.
        """

        def parse(data: bytes) -> Artifact:
            artifact = decode(data)
            if artifact.key_digest != key_digest:
                raise ArtifactError("the artifact is stored under another key than its own")
            return artifact

        artifact = self._load(_place(self._objects, key_digest, _OBJECT_SUFFIX), parse)
        with self._lock:
            self._hits += artifact is not None
            self._misses += artifact is None
        return artifact

    def contains(self, key_digest: bytes) -> bool:
        """Whether there is an entry of that key, whole or not; counts as no lookup."""
        return os.path.lexists(_place(self._objects, key_digest, _OBJECT_SUFFIX))

    def discard(self, key_digest: bytes, why: Exception) -> None:
        """Remove an entry that turned out to be unusable; counted and warned of as a fault."""
        path = _place(self._objects, key_digest, _OBJECT_SUFFIX)
        _discard(path)
        self._faults.report(ArtifactError(f"{path}: {why}"))

    def remove(self, key_digest: bytes) -> None:
        """Remove an entry, if there is one; no fault."""
        _discard(_place(self._objects, key_digest, _OBJECT_SUFFIX))

    def put(self, artifact: Artifact) -> bool:
        """Publish an artifact; False after a fault, or if it takes most of the bound by itself."""
        path = _place(self._objects, artifact.key_digest, _OBJECT_SUFFIX)
        done = self._publish(encode(artifact), path)
        with self._lock:
            self._puts += done
        return done

    def get_direct(self, source_digest: bytes) -> bytes | None:
        """Look up the digest of the key that a source had; neither a hit nor a miss of `stats`.

        Raises
        ------
        ValueError
            If the digest is not 32 bytes.
        """
        path = _place(self._direct, source_digest, _RECORD_SUFFIX)
        return self._load(path, lambda data: decode_record(data, source_digest))

    def put_direct(self, source_digest: bytes, key_digest: bytes) -> bool:
        """Remember which key a source has; False after a fault.

        Raises
        ------
        ValueError
            If a digest is not 32 bytes.
        """
        _check_digest(key_digest)
        path = _place(self._direct, source_digest, _RECORD_SUFFIX)
        return self._publish(encode_record(source_digest, key_digest), path)

    def digests(self) -> Iterator[bytes]:
        """Walk the key digests of all artifacts, in no order, without reading the artifacts."""
        for file in self._scan_or_report(self._objects, _OBJECT_SUFFIX):
            folder, name = file.path.split(os.sep)[-2:]
            try:
                digest = bytes.fromhex(folder + name.removesuffix(_OBJECT_SUFFIX))
            except ValueError:
                continue
            if len(digest) == DIGEST_SIZE:
                yield digest

    def stats(self) -> StoreStats:
        """Scan the directory, and count this object's events.

        `entries` are artifacts; `bytes` and `evictions` include direct records.
        """
        objects = self._scan_or_report(self._objects, _OBJECT_SUFFIX)
        records = self._scan_or_report(self._direct, _RECORD_SUFFIX)
        with self._lock:
            return StoreStats(
                entries=len(objects),
                bytes=BLOCK * sum(file.blocks for file in objects + records),
                hits=self._hits,
                misses=self._misses,
                faults=self._faults.count,
                evictions=self._evictions,
                puts=self._puts,
            )

    def prune(self, max_bytes: int | None = None) -> Pruned:
        """Remove the files used longest ago until the rest keeps a bound, and stale temporaries.

        Waits for another process that is pruning.

        Parameters
        ----------
        max_bytes
            The bound in bytes; by default the store's.
        """
        bound = (self.max_bytes if max_bytes is None else max_bytes) // BLOCK
        try:
            with self._ledger.recount(wait=True) as recount:
                return self._prune(bound, bound, recount)
        except OSError as error:
            self._faults.report(error)
            return Pruned()

    def clear(self) -> None:
        """Remove all entries and temporaries; not counted as evictions."""
        try:
            with self._ledger.recount(wait=True) as recount:
                _, left = evict(self._scan_all(), 0, self._faults.report)
                sweep(self._staging, older_than=float("-inf"))
                if recount:
                    recount.finish(left)
        except OSError as error:
            self._faults.report(error)

    def _load(self, path: str, parse: Callable[[bytes], T]) -> T | None:
        try:
            self._trust()
            return parse(read_private(path))
        except (FileNotFoundError, ArtifactVersionError):
            return None
        except ArtifactError as error:
            _discard(path)
            self._faults.report(ArtifactError(f"{path}: {error}"))
        except (OSError, MemoryError) as error:
            self._faults.report(error)
        return None

    def _publish(self, data: bytes, path: str) -> bool:
        try:
            try:
                return self._try_publish(data, path)
            except FileNotFoundError:  # a folder was removed meanwhile
                return self._try_publish(data, path)
        except (OSError, MemoryError) as error:
            self._faults.report(error)
            return False

    def _try_publish(self, data: bytes, path: str) -> bool:
        make_private(self._base)
        self._trust()
        if not self._make_room(blocks(len(data))):
            return False
        make_private(self._staging)
        make_private(os.path.dirname(path))
        publish(data, path, self._staging)
        return True

    def _trust(self) -> None:
        if not self._trusted:
            check_private(self._base)
            self._trusted = True

    def _make_room(self, needed: int) -> bool:
        """Announce blocks that will be written; False if the bound does not allow them."""
        bound = self.max_bytes // BLOCK
        if needed > bound * _LOW_WATER:
            return False
        total = self._ledger.add(needed)
        if total > bound or total == needed:  # the latter: the ledger is new and knows nothing
            with self._ledger.recount(wait=False) as recount:
                if recount:  # else another process is pruning
                    self._prune(bound, int(bound * _LOW_WATER), recount, reserved=needed)
        return True

    def _prune(self, bound: int, target: int, recount: Recount | None, reserved: int = 0) -> Pruned:
        """If files and reserved blocks exceed a bound, remove files to reach a target."""
        temporaries = sweep(self._staging)
        found = self._scan_all()
        left = sum(file.blocks for file in found)
        removed: list[Found] = []
        if left + reserved > bound:
            removed, left = evict(found, target - reserved, self._faults.report)
        if recount:
            recount.finish(left + reserved)
        with self._lock:
            self._evictions += len(removed)
        return Pruned(len(removed), BLOCK * sum(file.blocks for file in removed), temporaries)

    def _scan_all(self) -> list[Found]:
        """List all files; an OSError ends it, lest the ledger be set to half a count."""
        found = list(scan(self._objects, _OBJECT_SUFFIX))
        found += scan(self._direct, _RECORD_SUFFIX)
        return found

    def _scan_or_report(self, directory: str, suffix: str) -> list[Found]:
        try:
            return list(scan(directory, suffix))
        except OSError as error:
            self._faults.report(error)
            return []


def _place(directory: str, digest: bytes, suffix: str) -> str:
    _check_digest(digest)
    name = digest.hex()
    return f"{directory}/{name[:2]}/{name[2:]}{suffix}"


def _check_digest(digest: bytes) -> None:
    if len(digest) != DIGEST_SIZE:
        raise ValueError(f"a digest has {DIGEST_SIZE} bytes, not {len(digest)}")


def _discard(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
