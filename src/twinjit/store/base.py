"""What every store of artifacts can do, and what it says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple, Protocol

from twinjit.artifact import Artifact
from twinjit.errors import ArtifactError

__all__ = ["Backend", "MissReason", "Store", "StoreStats"]

MissReason = Literal[
    "absent",  # as far as the store knows, it was never there
    "evicted",  # it was removed to keep the bound
    "expired",  # it was not used for longer than the limit
    "damaged",  # not as it was written, or not what its name says
    "version",  # intact, and in a format that another release writes
    "machine",  # for another machine than this
    "untrusted",  # others own it, can change it, or it is a link
    "large",  # larger than this store may give
    "unsigned",  # not signed with the secret of this store
    "failed",  # the disk or the network did not do its work
    "down",  # not asked for, since the store failed a moment ago
]

_NONE: Mapping[MissReason, int] = MappingProxyType({})


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
    reasons
        The misses by reason; reasons that did not occur are absent.
    """

    entries: int = 0
    bytes: int = 0
    hits: int = 0
    misses: int = 0
    faults: int = 0
    evictions: int = 0
    puts: int = 0
    reasons: Mapping[MissReason, int] = _NONE


class Store(Protocol):
    """A bounded map from a key's digest to the artifact compiled for it.

    Any number of threads may use a store. Trouble with what lies under it is never raised: `get`
    treats it as a miss and `put` as an entry not taken; it is counted in `StoreStats.faults`.
    What `get` gives was checked: it is whole, and it is the artifact for that key.

    Beside artifacts it keeps direct records, each the digest of the key that a request had.
    """

    def get(self, key_digest: bytes) -> Artifact | None:
        """Look up an artifact by the 32 bytes of its key's digest."""
        ...

    def put(self, artifact: Artifact) -> bool:
        """Take in an artifact, in place of any under the same key; False if it was not taken."""
        ...

    def get_direct(self, source_digest: bytes) -> bytes | None:
        """Look up the digest of the key that a request had; neither a hit nor a miss of `stats`."""
        ...

    def put_direct(self, source_digest: bytes, key_digest: bytes) -> bool:
        """Remember which key a request had; False if that was not taken."""
        ...

    def contains(self, key_digest: bytes) -> bool:
        """Say whether `get` would give an artifact; counts as no lookup, and changes nothing."""
        ...

    def discard(self, key_digest: bytes, why: ArtifactError) -> None:
        """Take back what `get` gave, since it turned out to be of no use: its hit was a miss.

        A fault is reported, and the entry removed unless it may be intact
        (`ArtifactUnavailableError`).
        """
        ...

    def remove(self, key_digest: bytes) -> None:
        """Remove an entry, if there is one; no fault."""
        ...

    def stats(self) -> StoreStats:
        """Describe the store; may walk all of it."""
        ...


class Backend(Protocol):
    """Bytes by name, in a place that several machines reach. What a shared store is made on.

    Any number of threads may use a backend. It may raise any Exception: the store that uses it
    counts that as a fault and goes on without for a while. It need not check what it gives. An
    ArtifactError says that one entry is unusable, and an EntryTooLargeError that it is too large to
    be fetched; the store goes on with others then.

    Names consist of lower-case letters, digits, ``/`` and ``-``, and have at most 100 characters.
    """

    @property
    def url(self) -> str:
        """Where it is, for messages; without passwords."""
        ...

    def get(self, name: str) -> bytes | None:
        """Return what was put under a name; None where there is nothing."""
        ...

    def put(self, name: str, data: bytes) -> None:
        """Keep bytes under a name, in place of any others; readers see all of them or none."""
        ...

    def remove(self, name: str) -> None:
        """Forget what is under a name, if anything is."""
        ...
