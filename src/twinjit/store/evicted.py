"""Which keys a store held and removed to keep its bound, so that such misses can be told."""

from __future__ import annotations

import os
from collections.abc import Iterable

from twinjit.store.files import opened_book

__all__ = ["Evicted"]

# The file is a table of slots, one after the other.
#
#   table := slot{8192}
#   slot  := the first 8 bytes of a digest, or zero
#
# A digest's slot is its bytes 8 to 15 as a little-endian number, modulo 8192. What is evicted later
# takes the slot of what was evicted before, so the table tells of some eight thousand evictions. A
# slot is written in one call; nobody holds a lock. Its version is that of the layout (layout.py).
_SLOTS = 8192
_SLOT_SIZE = 8


class Evicted:
    """A bounded memory of evictions, shared by all processes.

    It errs to one side only: what it forgot was evicted and is not said to be.

    Parameters
    ----------
    path
        The file; it is made by the first `add` of anything.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def add(self, digests: Iterable[bytes]) -> None:
        """Remember digests.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        found = list(digests)
        if not found:
            return
        with opened_book(self._path, os.O_RDWR | os.O_CREAT) as descriptor:
            for digest in found:
                os.pwrite(descriptor, digest[:_SLOT_SIZE], _offset(digest))

    def take(self, digest: bytes) -> bool:
        """Say whether a digest is remembered, and forget it.

        Raises
        ------
        OSError
            If the file is there, but cannot be read or written.
        """
        place = _offset(digest)
        try:
            with opened_book(self._path, os.O_RDWR) as descriptor:
                if os.pread(descriptor, _SLOT_SIZE, place) != digest[:_SLOT_SIZE]:
                    return False
                os.pwrite(descriptor, bytes(_SLOT_SIZE), place)
                return True
        except FileNotFoundError:
            return False


def _offset(digest: bytes) -> int:
    return int.from_bytes(digest[8:16], "little") % _SLOTS * _SLOT_SIZE
