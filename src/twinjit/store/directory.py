"""What a store's directory holds and who used it, told without using it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from twinjit.artifact import Artifact
from twinjit.errors import ArtifactError
from twinjit.store.account import Account
from twinjit.store.direct import decode_record
from twinjit.store.eviction import Found, scan
from twinjit.store.examination import Bad, examine, examine_object, look, parse_whole
from twinjit.store.faults import Faults
from twinjit.store.files import check_private
from twinjit.store.layout import OBJECT_SUFFIX, RECORD_SUFFIX, Layout, digest_of
from twinjit.store.tally import Tally

__all__ = ["Directory", "Entry"]


class Entry(NamedTuple):
    """An artifact in a store, unread.

    Attributes
    ----------
    key_digest
        Digest of its key, 32 bytes.
    bytes
        Its size.
    used
        When it was last used, in seconds since 1970; exact to a minute.
    path
        Its file.
    """

    key_digest: bytes
    bytes: int
    used: float
    path: str


class Directory:
    """The part of a disk store that only looks; see `twinjit.store.disk.DiskStore`.

    Parameters
    ----------
    root
        The directory.
    max_age
        Seconds after its last use from which on an entry would not be taken; None for no limit.
    """

    def __init__(self, root: str | os.PathLike[str], max_age: float | None) -> None:
        self._layout = Layout(root)
        self.root = self._layout.root
        self.max_age = max_age
        self.account = Account(self._layout.account)
        self._tally = Tally(Faults(self.root), self.account.add)
        self._is_trusted = False  # only ever becomes true: the base folder was seen to be private

    def digests(self) -> Iterator[bytes]:
        """Walk the key digests of all artifacts, in no order, without reading the artifacts."""
        return (entry.key_digest for entry in self.entries())

    def entries(self) -> Iterator[Entry]:
        """Walk all artifacts, in no order, without reading them."""
        for file in self._scan_or_report(self._layout.objects, OBJECT_SUFFIX):
            if digest := digest_of(file.path):
                yield Entry(digest, file.size, file.used / 1e9, file.path)

    def records(self) -> Iterator[tuple[bytes, bytes]]:
        """Walk the direct records, as pairs of the source's digest and the key's; uses none."""
        for file in self._scan_or_report(self._layout.direct, RECORD_SUFFIX):
            source = digest_of(file.path)
            with suppress(ArtifactError, OSError):  # as `verify` says
                key = look(file.path, decode_record, self.max_age)
                if source and key:
                    yield source, key

    def inspect(self, key_digest: bytes) -> Artifact | Bad:
        """Read an artifact as it is, or say why `get` would not give it.

        Unlike `get`, this is no use of it: nothing is counted, marked as used, or removed.
        """
        path = self._layout.object_path(key_digest)
        return self._distrusted() or examine_object(path, self.max_age)

    def contains(self, key_digest: bytes) -> bool:
        """Say whether `get` would give an artifact; counts as no lookup, and changes nothing."""
        return isinstance(self.inspect(key_digest), Artifact)

    def verify(self, progress: Callable[[int, int], object] | None = None) -> Iterator[Bad]:
        """Read everything, and name what a lookup would not take; nothing is removed or counted.

        Parameters
        ----------
        progress
            Called after each file with how many were read, and how many there are.
        """
        if distrusted := self._distrusted():
            if distrusted.reason != "absent":
                yield distrusted
            return
        objects = self._scan_or_report(self._layout.objects, OBJECT_SUFFIX)
        records = self._scan_or_report(self._layout.direct, RECORD_SUFFIX)
        for count, file in enumerate(objects + records, 1):
            bad = examine(file.path, parse_whole if count <= len(objects) else decode_record)
            if progress:
                progress(count, len(objects) + len(records))
            if bad and bad.reason != "absent":  # by now
                yield bad

    def totals(self) -> Mapping[str, int]:
        """Return the counts of all processes that used the directory, by name of the event.

        ``memory``, ``disk``, ``shared`` and ``compiled`` say where code came from, ``miss-…`` the
        reasons of misses, ``puts``, ``evictions`` and ``faults`` what else happened. The same with
        ``shared-`` before it happened in a shared store that was used beside this one.
        """
        return self.account.totals()

    def counted_since(self) -> float | None:
        """When `totals` began to count, in seconds since 1970; None if that is not known."""
        return self.account.since()

    def reset_totals(self) -> bool:
        """Count from 0 again, for all processes; False if the counts cannot be written."""
        return self.account.reset()

    def _trust(self) -> None:
        if not self._is_trusted:
            check_private(self._layout.base)
            self._is_trusted = True

    def _distrusted(self) -> Bad | None:
        """Say why nothing here would be taken, if that is so."""
        try:
            self._trust()
        except OSError as error:
            return Bad.because(self._layout.base, error)
        return None

    def _scan_or_report(self, directory: str, suffix: str) -> list[Found]:
        try:
            return list(scan(directory, suffix))
        except OSError as error:
            self._tally.fault(error)
            return []
