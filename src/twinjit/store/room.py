"""Keeping a disk store within its bounds."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

from twinjit.store.evicted import Evicted
from twinjit.store.eviction import Found, evict, scan
from twinjit.store.files import opened_book
from twinjit.store.layout import OBJECT_SUFFIX, RECORD_SUFFIX, Layout, digest_of
from twinjit.store.ledger import BLOCK, Ledger, Recount, blocks
from twinjit.store.publish import sweep

__all__ = ["Pruned", "Room"]

# The share of the bound that a put prunes to, so that the next puts need not prune.
_LOW_WATER = 0.9

_SCAN_SECONDS = 86400.0


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


class Room:
    """The space that a store's files may take, and for how long.

    Instead of looking at the whole directory, each put adds to a total that all processes share
    (the ledger). The directory is scanned when that exceeds the bound, when the ledger is missing,
    and, to find what is too old, once a day.

    Parameters
    ----------
    layout
        Where the files are.
    max_bytes
        Bound of all files together.
    max_age
        Seconds after its last use from which on a file is removed; None for no limit.
    report
        Called with each file that cannot be removed.
    """

    def __init__(
        self,
        layout: Layout,
        max_bytes: int,
        max_age: float | None,
        report: Callable[[Exception], None],
    ) -> None:
        self._layout = layout
        self._bound = max_bytes // BLOCK
        self._max_age = max_age
        self._report = report
        self._ledger = Ledger(layout.ledger)
        self._evicted = Evicted(layout.evicted)
        self._next_look = 0.0  # at the age of the last scan; on the monotonic clock

    def make(self, size: int, count_evictions: Callable[[int], None]) -> bool:
        """Announce a file of `size` bytes; False if the bound does not allow it.

        Raises
        ------
        OSError
            If the ledger or the directory cannot be used.
        """
        needed = blocks(size)
        if needed > self._bound * _LOW_WATER:
            return False
        total = self._ledger.add(needed)
        # Where the total is what was just added, the ledger is new and knows nothing.
        if total > self._bound or total == needed or self._is_scan_due():
            with self._ledger.recount(wait=False) as recount:
                if recount:  # else another process is pruning
                    target = int(self._bound * _LOW_WATER)
                    pruned = self._prune(self._bound, target, recount, reserved=needed)
                    count_evictions(pruned.entries)
        return True

    def prune(self, max_bytes: int | None, max_age: float | None) -> Pruned:
        """Remove what is too old, then what was used longest ago until the rest keeps a bound.

        Waits for another process that is pruning. The bounds are the store's where None.

        Raises
        ------
        OSError
            If the directory cannot be scanned.
        """
        bound = self._bound if max_bytes is None else max_bytes // BLOCK
        with self._ledger.recount(wait=True) as recount:
            return self._prune(bound, bound, recount, max_age=max_age)

    def clear(self) -> None:
        """Remove all files and temporaries, and what is known of evictions.

        Raises
        ------
        OSError
            If the directory cannot be scanned.
        """
        with self._ledger.recount(wait=True) as recount:
            _, left = evict(self._scan(), 0, self._report)
            sweep(self._layout.staging)
            if recount:
                recount.finish(left)
        with suppress(FileNotFoundError):
            os.unlink(self._layout.evicted)

    def was_evicted(self, key_digest: bytes) -> bool:
        """Say whether a key's entry is known to have been evicted, and forget that.

        Raises
        ------
        OSError
            If the table of evictions cannot be used.
        """
        return self._evicted.take(key_digest)

    def _prune(
        self,
        bound: int,
        target: int,
        recount: Recount | None,
        *,
        reserved: int = 0,
        max_age: float | None = None,
    ) -> Pruned:
        """Remove what is too old, and if the rest with reserved blocks exceeds a bound, more."""
        self._stamp()
        temporaries = sweep(self._layout.staging)
        found = self._scan()
        left = sum(file.blocks for file in found)
        stale = set(self._stale(found, self._max_age if max_age is None else max_age))
        kept = left - sum(file.blocks for file in stale)
        removed, rest = evict(stale, 0, self._report)
        left = kept + rest
        more: list[Found] = []
        if left + reserved > bound:
            fresh = [file for file in found if file not in stale]
            more, left = evict(fresh, max(target - reserved - rest, 0), self._report)
            left += rest
        if recount:
            recount.finish(left + reserved)
        self._remember(more)
        removed += more
        return Pruned(len(removed), BLOCK * sum(file.blocks for file in removed), temporaries)

    def _stale(self, found: list[Found], max_age: float | None) -> Iterator[Found]:
        if max_age is None:
            return
        horizon = time.time_ns() - int(max_age * 1e9)
        yield from (file for file in found if file.used < horizon)

    def _remember(self, removed: list[Found]) -> None:
        """Remember what was removed for the bound; what expired is a miss like any other."""
        digests = [digest_of(file.path) for file in removed if file.path.endswith(OBJECT_SUFFIX)]
        with suppress(OSError):  # a disk so full that not even this can be written
            self._evicted.add(digest for digest in digests if digest)

    def _is_scan_due(self) -> bool:
        """Say once an hour at most whether the directory was last scanned a day ago."""
        now = time.monotonic()
        if now < self._next_look:
            return False
        self._next_look = now + _SCAN_SECONDS / 24
        try:
            return abs(time.time() - os.stat(self._layout.swept).st_mtime) > _SCAN_SECONDS
        except FileNotFoundError:
            return True

    def _stamp(self) -> None:
        with (
            suppress(OSError),  # then the next process scans, too
            opened_book(self._layout.swept, os.O_WRONLY | os.O_CREAT) as descriptor,
        ):
            os.utime(descriptor)

    def _scan(self) -> list[Found]:
        """List all files; an OSError ends it, lest the ledger be set to half a count."""
        found = list(scan(self._layout.objects, OBJECT_SUFFIX))
        found += scan(self._layout.direct, RECORD_SUFFIX)
        return found
