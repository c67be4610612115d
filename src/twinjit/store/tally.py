"""What one store object did, counted here and told to an account of all processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from types import MappingProxyType

from twinjit.forks import fork_lock
from twinjit.store.base import MissReason, StoreStats
from twinjit.store.faults import Faults

__all__ = ["Tally"]


class Tally:
    """Counts the events of one store.

    Parameters
    ----------
    faults
        Warns of faults, and counts them.
    tell
        Called with the name of each event but hits, and how often it happened: ``puts``,
        ``evictions``, ``faults``, ``miss-…``. It is called without a lock.
    """

    def __init__(self, faults: Faults, tell: Callable[[str, int], object]) -> None:
        self._faults = faults
        self._tell = tell
        self._lock = fork_lock()  # guards the counters below
        self._hits = self._puts = self._evictions = 0
        self._misses: Counter[MissReason] = Counter()

    def hit(self, count: int = 1) -> None:
        """Count lookups that gave an entry; -1 takes one back."""
        with self._lock:
            self._hits += count

    def miss(self, reason: MissReason) -> None:
        """Count a lookup that gave nothing."""
        with self._lock:
            self._misses[reason] += 1
        self._tell(f"miss-{reason}", 1)

    def put(self) -> None:
        """Count an entry that was taken in."""
        with self._lock:
            self._puts += 1
        self._tell("puts", 1)

    def evicted(self, count: int) -> None:
        """Count entries that were removed to keep the bound."""
        with self._lock:
            self._evictions += count
        self._tell("evictions", count)

    def fault(self, error: Exception) -> None:
        """Count a fault, and warn of it as `Faults.report` does."""
        self._tell("faults", 1)
        self._faults.report(error)

    def stats(self, entries: int = 0, held_bytes: int = 0) -> StoreStats:
        """Give the counts, with what the store holds now."""
        with self._lock:
            return StoreStats(
                entries=entries,
                bytes=held_bytes,
                hits=self._hits,
                misses=self._misses.total(),
                faults=self._faults.count,
                evictions=self._evictions,
                puts=self._puts,
                reasons=MappingProxyType(dict(self._misses)),
            )
