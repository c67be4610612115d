"""The index of requests: from what was asked for to the code that it is known to lead to."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from twinjit.forks import fork_lock
from twinjit.store.base import Store

__all__ = ["RequestIndex"]

_KEPT = 1 << 16
_ENTRY_BYTES = 400  # of Python's objects for an entry, measured


class RequestIndex:
    """Identities of code by the digest of a request, in memory and in the direct records of stores.

    Parameters
    ----------
    stores
        Where direct records are, nearest first.
    """

    def __init__(self, stores: Sequence[Store]) -> None:
        self._stores = stores
        self._lock = fork_lock()  # guards the map; held for a few dictionary operations only
        self._identities: OrderedDict[bytes, bytes] = OrderedDict()

    @property
    def size(self) -> int:
        """Bytes that it takes in memory, about."""
        return len(self._identities) * _ENTRY_BYTES

    def find(self, request: bytes | None) -> bytes | None:
        """Return the identity of code, or the digest of its key; None for an unknown request."""
        return self._look_up(request)[0]

    def fetch(self, request: bytes) -> bytes | None:
        """Do as `find`, and put a record that a store has into those before it."""
        identity, nearer = self._look_up(request)
        if identity:
            for store in nearer:
                store.put_direct(request, identity)
        return identity

    def remember(self, request: bytes, identity: bytes) -> None:
        """Keep in memory what a request led to."""
        with self._lock:
            self._identities[request] = identity
            if len(self._identities) > _KEPT:
                self._identities.popitem(last=False)

    def publish(self, request: bytes, key_digest: bytes) -> None:
        """Keep in the stores what a request led to."""
        for store in self._stores:
            store.put_direct(request, key_digest)

    def clear(self) -> None:
        """Forget what memory holds."""
        with self._lock:
            self._identities.clear()

    def _look_up(self, request: bytes | None) -> tuple[bytes | None, Sequence[Store]]:
        """Find an identity, and the stores before the one that gave it."""
        if request is None:
            return None, ()
        with self._lock:
            known = self._identities.get(request)
        if known:
            return known, ()
        for place, store in enumerate(self._stores):
            if key_digest := store.get_direct(request):
                return key_digest, self._stores[:place]
        return None, ()
