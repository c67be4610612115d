"""What every store of artifacts can do."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from twinjit.artifact import Artifact

__all__ = ["Store", "StoreStats"]


class StoreStats(NamedTuple):
    """A store at one moment. What counts events does so since this object was made.

    Attributes
    ----------
    entries
        Entries held now.
    bytes
        What they take now, as the store counts it against its bound.
    hits, misses
        Lookups that found an entry, and that did not.
    faults
        Times the store could not do its work: a damaged entry, a full disk. The lookup or put it
        happened in is also counted as a miss, or not as a put.
    evictions
        Entries removed to keep the bound.
    puts
        Entries taken in.
    """

    entries: int = 0
    bytes: int = 0
    hits: int = 0
    misses: int = 0
    faults: int = 0
    evictions: int = 0
    puts: int = 0


class Store(Protocol):
    """A bounded map from a key's digest to the artifact compiled for it.

    Any number of threads may use a store. Trouble with what lies under it is never raised: `get`
    treats it as a miss and `put` as an entry not taken; it is counted in `StoreStats.faults`.
    What `get` gives was checked: it is whole, and it is the artifact for that key.
    """

    def get(self, key_digest: bytes) -> Artifact | None:
        """Look up an artifact by the 32 bytes of its key's digest."""
        ...

    def put(self, artifact: Artifact) -> bool:
        """Take in an artifact, in place of any under the same key; False if it was not taken."""
        ...

    def stats(self) -> StoreStats:
        """Describe the store; may walk all of it."""
        ...

    def clear(self) -> None:
        """Remove all entries."""
        ...
