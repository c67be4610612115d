"""What a compiler counts."""

from __future__ import annotations

from collections import Counter

from twinjit.forks import fork_lock
from twinjit.report import Tier
from twinjit.store.disk import DiskStore

__all__ = ["COUNTED", "Counts"]

COUNTED = (
    *("memory", "disk", "shared", "compiled", "uncacheable", "confirmed", "refuted"),
    "checked",
)
"""The events that an `Engine` counts; see `Compiler.stats`."""


class Counts:
    """Counts what happens in a compiler, and in its disk store.

    Parameters
    ----------
    store
        The disk store, if there is one.
    """

    def __init__(self, store: DiskStore | None) -> None:
        self._store = store
        self._lock = fork_lock()  # guards `_counts`
        self._counts: Counter[str] = Counter()

    def add(self, event: str) -> None:
        """Count one of what `COUNTED` names."""
        with self._lock:
            self._counts[event] += 1

    def add_code(self, tier: Tier) -> None:
        """Count code that was handed out, by where it came from."""
        self.add(tier)
        if self._store and tier != "disk":  # which the store counts by itself
            self._store.account.add(tier)
            if tier == "compiled":
                self._store.account.flush()

    def by_name(self) -> dict[str, int]:
        """Return what was counted, by the names in `COUNTED`."""
        with self._lock:
            return {name: self._counts[name] for name in COUNTED}
