"""Least-recently-used values in memory, bounded by their bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

from twinjit.forks import fork_lock
from twinjit.store.base import StoreStats

__all__ = ["LruCache"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """A map that drops the values used longest ago once they exceed its bound.

    A value that is dropped is only let go of: whoever else holds it can go on using it. Any number
    of threads may use the cache. Finalisers of values must not.

    Parameters
    ----------
    max_bytes
        Bound of the sum of sizes; 0 keeps nothing.

    Raises
    ------
    ValueError
        If `max_bytes` is negative.
    """

    def __init__(self, max_bytes: int) -> None:
        if max_bytes < 0:
            raise ValueError(f"max_bytes is {max_bytes}; give 0 or more")
        self.max_bytes = max_bytes
        # Guards everything below. Values are let go of after it is released, since destroying one
        # may take long (unmapping code) or take locks of its own.
        self._lock = fork_lock()
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._bytes = self._hits = self._misses = self._evictions = self._puts = 0

    def get(self, key: K) -> V | None:
        """Look a value up and make it the one used last."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                self._misses += 1
                return None
            self._entries.move_to_end(key)
            self._hits += 1
            return entry[0]

    def put(self, key: K, value: V, size: int) -> bool:
        """Hold a value, in place of any under the same key.

        Parameters
        ----------
        key, value
            The entry.
        size
            What it counts against the bound, in bytes.

        Returns
        -------
        bool
            False if the value alone exceeds the bound. It is not held then, and neither is the
            one before it under that key.

        Raises
        ------
        ValueError
            If `size` is negative.
        """
        if size < 0:
            raise ValueError(f"size is {size}; give 0 or more bytes")
        released = []
        with self._lock:
            released.append(self._remove(key))
            if size > self.max_bytes or self.max_bytes == 0:
                return False
            self._entries[key] = (value, size)
            self._bytes += size
            self._puts += 1
            while self._bytes > self.max_bytes:
                released.append(self._remove(next(iter(self._entries))))
                self._evictions += 1
        return True

    def remove(self, key: K) -> V | None:
        """Take a value out and return it; not counted as an eviction."""
        with self._lock:
            return self._remove(key)

    def clear(self) -> None:
        """Let go of all values; not counted as evictions."""
        with self._lock:
            released = self._entries
            self._entries = OrderedDict()
            self._bytes = 0
        del released

    def values(self) -> list[V]:
        """Return all values, without using or counting them."""
        with self._lock:
            return [value for value, _ in self._entries.values()]

    def stats(self) -> StoreStats:
        """Count entries and events; `faults` is always 0."""
        with self._lock:
            return StoreStats(
                entries=len(self._entries),
                bytes=self._bytes,
                hits=self._hits,
                misses=self._misses,
                evictions=self._evictions,
                puts=self._puts,
            )

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: object) -> bool:
        """Tell whether a value is held, without using or counting it."""
        return key in self._entries

    def _remove(self, key: K) -> V | None:
        """Take an entry out; the caller holds the lock."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        # No call between the two, after which a signal handler might raise.
        self._bytes -= entry[1]
        del self._entries[key]
        return entry[0]
