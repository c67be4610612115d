"""Artifacts in a place that several machines share."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, TypeVar

from twinjit.artifact import Artifact, encode
from twinjit.errors import (
    ArtifactError,
    ArtifactUnavailableError,
    ArtifactVersionError,
    ConfigError,
    EntryTooLargeError,
)
from twinjit.forks import fork_lock
from twinjit.settings import Settings
from twinjit.store.addresses import split_read_only
from twinjit.store.backends import open_backend
from twinjit.store.base import Backend, MissReason, StoreStats
from twinjit.store.breaker import Breaker
from twinjit.store.direct import decode_record, encode_record
from twinjit.store.examination import parse_object
from twinjit.store.faults import SHARED, Faults
from twinjit.store.layout import check_digest
from twinjit.store.reasons import reason_of
from twinjit.store.seal import Seal
from twinjit.store.tally import Tally

__all__ = ["Condition", "SharedStore", "count_nowhere", "open_shared"]

T = TypeVar("T")

# The names that a backend keeps entries under. Digests are in hexadecimal. Where there is a secret,
# its id comes first, and what is kept is sealed (seal.py).
#
#   [ID/]v2/objects/abcdef…    one artifact (entry.py), by its key's digest
#   [ID/]v2/direct/abcdef…     one direct record (direct.py), by its source's digest
#
# Numbered on its own: the disk store's layout has another version.
#
# 2: as above, with entries of version 2 (entry.py), before which there was no shared store.
_LAYOUT = "v2"


def count_nowhere(_event: str, _times: int) -> None:
    """Count events for nobody."""


class Condition(NamedTuple):
    """How a shared store is getting on.

    Attributes
    ----------
    url
        Where it is, without passwords.
    is_down
        Whether it failed the last time it was asked.
    takes_puts
        False if it is down, only read, or refused the last entry.
    retry_in
        Seconds until it is asked again; 0 where the next call does.
    last_error
        What the last failure said; None if there was none since this object was made.
    """

    url: str
    is_down: bool
    takes_puts: bool
    retry_in: float
    last_error: str | None


class SharedStore:
    """A store on any backend. See `twinjit.store.base.Store`.

    Whatever a backend raises is a miss or an entry not taken. It is counted, each kind is warned of
    once per place with `CacheWarning`, and for a while (a second at first, at most a minute) the
    backend is not asked. A put or removal that failed in another way than by a ConnectionError or
    TimeoutError was refused by a server that works, as one without memory does: then only writes
    stop for a while. KeyboardInterrupt, SystemExit and the like pass, since users wait for them;
    running out of memory is a fault, and says nothing about the backend.

    What is found is checked: its size, its signature if there is a secret, its checksum, and that
    it belongs to the key. If it fails it is a miss; it stays until a put replaces it. Only what
    turns out to be of no use when it is linked is removed (`discard`).

    How many entries there are cannot be told: `StoreStats.entries` and `bytes` are 0.

    Parameters
    ----------
    backend
        Where the bytes are.
    secret
        Only entries that were signed with it are accepted, and those put are signed with it. Who
        can write to a store without one can run code on all machines that read it.
    max_entry_bytes
        Size above which an entry is neither put nor accepted.
    read_only
        Whether nothing is ever put or removed.
    count
        Called with the name of each event and how often it happened, for an account that outlives
        this object: ``puts``, ``faults``, ``miss-…``.
    clock
        Gives seconds, and never goes back.

    Raises
    ------
    ConfigError
        If the secret is too short, or the size negative.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        secret: bytes | None = None,
        max_entry_bytes: int = 64 * 1024**2,
        read_only: bool = False,
        count: Callable[[str, int], object] = count_nowhere,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if max_entry_bytes < 0:
            raise ConfigError(f"max_entry_bytes is {max_entry_bytes}; give 0 or more bytes")
        self.url = backend.url
        self.max_entry_bytes = max_entry_bytes
        self.read_only = read_only
        self._backend = backend
        self._seal = Seal(secret) if secret is not None else None
        self._base = f"{self._seal.key_id}/{_LAYOUT}" if self._seal else _LAYOUT
        self._tally = Tally(Faults(self.url, SHARED), count)
        # Guards what is below; the backend is called without it.
        self._lock = fork_lock()
        self._link = Breaker(clock)  # for all calls
        self._writes = Breaker(clock)  # for puts and removals, in addition
        self._last_error: str | None = None

    def get(self, key_digest: bytes) -> Artifact | None:
        """Look up an artifact by the 32 bytes of its key's digest.

        Raises
        ------
        ValueError
            If the digest is not 32 bytes.
        """
        found = self._load_artifact(key_digest)
        if isinstance(found, str):
            self._tally.miss(found)
            return None
        self._tally.hit()
        return found

    def put(self, artifact: Artifact) -> bool:
        """Send an artifact; False after a fault, if it is too large, or if this only reads."""
        name = self._name("objects", artifact.key_digest)
        done = self._send(name, lambda: encode(artifact))
        if done:
            self._tally.put()
        return done

    def get_direct(self, source_digest: bytes) -> bytes | None:
        """Look up the digest of the key that a source had; neither a hit nor a miss of `stats`.

        Raises
        ------
        ValueError
            If the digest is not 32 bytes.
        """
        name = self._name("direct", source_digest)
        found = self._load(name, lambda data: decode_record(data, source_digest))
        return None if isinstance(found, str) else found

    def put_direct(self, source_digest: bytes, key_digest: bytes) -> bool:
        """Remember which key a source has; False after a fault, or if this only reads.

        Raises
        ------
        ValueError
            If a digest is not 32 bytes.
        """
        check_digest(key_digest)
        name = self._name("direct", source_digest)
        return self._send(name, lambda: encode_record(source_digest, key_digest))

    def contains(self, key_digest: bytes) -> bool:
        """Whether `get` would find an entry, which is fetched for it; counts as no lookup."""
        return not isinstance(self._load_artifact(key_digest), str)

    def discard(self, key_digest: bytes, why: ArtifactError) -> None:
        """Take back what `get` gave, since it turned out to be of no use: its hit was a miss.

        A fault is reported, and the entry removed unless it may be intact
        (`ArtifactUnavailableError`) or this only reads.
        """
        self._tally.hit(-1)
        self._tally.miss(reason_of(why))
        if not isinstance(why, ArtifactUnavailableError):
            self.remove(key_digest)
        self._tally.fault(type(why)(f"{self._name('objects', key_digest)}: {why}"))

    def remove(self, key_digest: bytes) -> None:
        """Remove an entry, if there is one and this does not only read; no fault."""
        name = self._name("objects", key_digest)
        if not self.read_only:
            with suppress(_NoAnswerError):  # counted and warned of
                self._ask(lambda: self._backend.remove(name), writes=True)

    def stats(self) -> StoreStats:
        """Count this object's events."""
        return self._tally.stats()

    def condition(self) -> Condition:
        """Say how the store is getting on, without asking the backend."""
        with self._lock:
            return Condition(
                self.url,
                is_down=self._link.is_open,
                takes_puts=not (self.read_only or self._link.is_open or self._writes.is_open),
                retry_in=self._link.retry_in,
                last_error=self._last_error,
            )

    def _name(self, folder: str, digest: bytes) -> str:
        check_digest(digest)
        return f"{self._base}/{folder}/{digest.hex()}"

    def _load_artifact(self, key_digest: bytes) -> Artifact | MissReason:
        name = self._name("objects", key_digest)
        return self._load(name, lambda data: parse_object(data, key_digest))

    def _load(self, name: str, parse: Callable[[bytes], T]) -> T | MissReason:
        """Fetch and check an entry; say why where that gives none."""
        try:
            data = self._ask(lambda: self._backend.get(name))
            return "absent" if data is None else parse(self._open(name, data))
        except _NoAnswerError as error:
            return error.reason
        except (EntryTooLargeError, ArtifactVersionError) as error:  # no fault: others may read it
            return reason_of(error)
        except ArtifactError as error:
            self._tally.fault(type(error)(f"{name}: {error}"))
            return reason_of(error)
        except MemoryError as error:
            self._tally.fault(error)
            return reason_of(error)

    def _open(self, name: str, data: object) -> bytes:
        """Check what a backend gave; it may be anything."""
        if not isinstance(data, bytes):
            raise ArtifactError(f"the backend gave a {type(data).__name__}, not bytes")
        if len(data) > self.max_entry_bytes:
            raise EntryTooLargeError(f"{len(data)} bytes")
        return self._seal.unwrap(name, data) if self._seal else data

    def _send(self, name: str, encoded: Callable[[], bytes]) -> bool:
        """Put an entry, which is not even encoded where puts are refused."""

        def put() -> None:
            data = self._seal.wrap(name, encoded()) if self._seal else encoded()
            if len(data) > self.max_entry_bytes:
                raise EntryTooLargeError(f"{len(data)} bytes")
            self._backend.put(name, data)

        if self.read_only:
            return False
        try:
            self._ask(put, writes=True)
        except (_NoAnswerError, EntryTooLargeError):
            return False
        except ArtifactError as error:
            self._tally.fault(error)
            return False
        return True

    def _ask(self, operation: Callable[[], T], *, writes: bool = False) -> T:
        """Call the backend, unless it failed a moment ago.

        An ArtifactError says something of an entry and nothing of the backend: it passes.
        """
        with self._lock:
            call = self._enter(writes)
        if call is None:
            raise _NoAnswerError("down")
        try:
            answer = operation()
        except ArtifactError:
            if not writes:  # a put may end like this before it reaches the backend
                self._note_answer(call)
            raise
        except Exception as error:
            self._note_failure(call, error)
            self._tally.fault(error)
            raise _NoAnswerError("failed") from error
        self._note_answer(call)
        return answer

    def _enter(self, writes: bool) -> _Call | None:
        write = self._writes.enter() if writes else None
        if writes and write is None:
            return None
        link = self._link.enter()
        return None if link is None else _Call(link, write)

    def _note_answer(self, call: _Call) -> None:
        with self._lock:
            self._link.succeeded(call.link)
            if call.write is not None:
                self._writes.succeeded(call.write)

    def _note_failure(self, call: _Call, error: Exception) -> None:
        if isinstance(error, MemoryError):
            return
        with self._lock:
            self._last_error = f"{type(error).__name__}: {error}"
            if call.write is None or isinstance(error, (ConnectionError, TimeoutError)):
                self._link.failed(call.link)
            else:
                self._writes.failed(call.write)


class _Call(NamedTuple):
    """What `Breaker.enter` gave for one call."""

    link: int
    write: int | None  # None for a call that only reads


class _NoAnswerError(Exception):
    def __init__(self, reason: MissReason) -> None:
        super().__init__(reason)
        self.reason = reason


def open_shared(
    settings: Settings, count: Callable[[str, int], object] = count_nowhere
) -> SharedStore | None:
    """Make the shared store that settings name; nothing is connected before it is first used.

    Where the address has the option ``read-only``, entries are only read.

    Returns
    -------
    SharedStore or None
        None if no address is set.

    Raises
    ------
    ConfigError
        If the address, the secret or a limit cannot be used, or a package that the kind of address
        needs is not installed.
    """
    if settings.shared_url is None:
        return None
    url, read_only = split_read_only(settings.shared_url)
    backend = open_backend(
        url,
        settings.shared_timeout,
        None if read_only else settings.shared_ttl,  # to renew it is to write
        max_bytes=settings.shared_max_entry_bytes,
    )
    return SharedStore(
        backend,
        secret=settings.shared_secret,
        max_entry_bytes=settings.shared_max_entry_bytes,
        read_only=read_only,
        count=count,
    )
