from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given

from tests.samples import numbered_artifact
from tests.store.backends import DictBackend, FaultyBackend
from tests.strategies import artifacts
from twinjit.artifact import Artifact, encode
from twinjit.errors import ArtifactError, CacheWarning, ConfigError, EntryTooLargeError
from twinjit.settings import Settings
from twinjit.store.base import MissReason, Store, StoreStats
from twinjit.store.direct import encode_record
from twinjit.store.seal import Seal
from twinjit.store.shared import SharedStore, open_shared

SECRET, OTHER_SECRET = b"a secret of 16 B", b"another one, 16B"
ARTIFACT = numbered_artifact(1)
DIGEST = ARTIFACT.key_digest
SOURCE = bytes(range(32))
OBJECT, RECORD = f"v2/objects/{DIGEST.hex()}", f"v2/direct/{SOURCE.hex()}"


def reasons(store: SharedStore) -> dict[MissReason, int]:
    return dict(store.stats().reasons)


def only_name(backend: DictBackend) -> str:
    (name,) = backend.entries
    return name


@given(artifact=artifacts)
@pytest.mark.parametrize("secret", [None, SECRET])
def test_round_trip(artifact: Artifact, secret: bytes | None) -> None:
    backend = DictBackend()
    store: Store = SharedStore(backend, secret=secret)
    assert store.get(artifact.key_digest) is None
    assert store.put(artifact)
    assert store.get(artifact.key_digest) == artifact
    assert SharedStore(backend, secret=secret).get(artifact.key_digest) == artifact
    assert store.stats() == StoreStats(hits=1, misses=1, puts=1, reasons={"absent": 1})


def test_names_and_what_is_under_them() -> None:
    backend = DictBackend()
    store = SharedStore(backend)
    assert store.put(ARTIFACT)
    assert store.put_direct(SOURCE, DIGEST)
    assert backend.entries == {OBJECT: encode(ARTIFACT), RECORD: encode_record(SOURCE, DIGEST)}


def test_names_and_what_is_under_them_with_a_secret() -> None:
    backend = DictBackend()
    store = SharedStore(backend, secret=SECRET)
    seal = Seal(SECRET)
    assert store.put(ARTIFACT)
    assert store.put_direct(SOURCE, DIGEST)
    plain = {OBJECT: encode(ARTIFACT), RECORD: encode_record(SOURCE, DIGEST)}
    signed = {f"{seal.key_id}/{name}": data for name, data in plain.items()}
    assert backend.entries == {name: seal.wrap(name, data) for name, data in signed.items()}
    assert all(len(name) <= 100 for name in backend.entries)


def test_direct_records_contains_and_remove() -> None:
    store = SharedStore(DictBackend(), secret=SECRET)
    assert store.get_direct(SOURCE) is None
    assert store.put_direct(SOURCE, DIGEST)
    assert store.get_direct(SOURCE) == DIGEST
    assert not store.contains(DIGEST)
    store.put(ARTIFACT)
    assert store.contains(DIGEST)
    store.remove(DIGEST)
    store.remove(DIGEST)
    assert not store.contains(DIGEST)
    assert store.stats() == StoreStats(puts=1)


def test_an_entry_that_turned_out_unusable_is_removed_and_told() -> None:
    store = SharedStore(DictBackend())
    store.put(ARTIFACT)
    with pytest.warns(CacheWarning, match="no such symbol"):
        store.discard(DIGEST, ArtifactError("no such symbol"))
    assert not store.contains(DIGEST)
    assert store.stats().faults == 1


def test_clients_with_other_secrets_or_none_do_not_meet() -> None:
    backend = DictBackend()
    stores = [SharedStore(backend, secret=secret) for secret in (None, SECRET, OTHER_SECRET)]
    for count, store in enumerate(stores, 1):
        assert store.get(DIGEST) is None
        assert store.put(ARTIFACT)
        assert len(backend.entries) == count
    assert all(store.get(DIGEST) == ARTIFACT for store in stores)
    assert all(store.stats().faults == 0 for store in stores)


@pytest.mark.parametrize("digest", [b"", bytes(31), bytes(33)])
def test_a_wrong_digest(digest: bytes) -> None:
    store = SharedStore(DictBackend())
    for call in (
        lambda: store.get(digest),
        lambda: store.get_direct(digest),
        lambda: store.put_direct(digest, DIGEST),
        lambda: store.put_direct(DIGEST, digest),
        lambda: store.contains(digest),
        lambda: store.remove(digest),
    ):
        with pytest.raises(ValueError, match="32 bytes"):
            call()


def damages(seal: Seal | None, name: str) -> dict[str, bytes]:
    """Make what may be found in place of the entry of ARTIFACT, by what it is."""

    def sealed(data: bytes) -> bytes:
        return seal.wrap(name, data) if seal else data

    good = encode(ARTIFACT)
    return {
        "empty": b"",
        "noise": b"noise",
        "text": b"HTTP/1.1 502 Bad Gateway\r\n\r\n",
        "truncated": sealed(good)[:-1],
        "longer": sealed(good) + b"\0",
        "flipped": sealed(good)[:-40] + bytes([sealed(good)[-40] ^ 1]) + sealed(good)[-39:],
        "another key's": sealed(encode(numbered_artifact(2))),
        "a record": sealed(encode_record(DIGEST, DIGEST)),
    }


@pytest.mark.parametrize("kind", damages(None, ""))
@pytest.mark.parametrize("secret", [None, SECRET])
def test_damage_is_a_miss_that_the_next_put_heals(kind: str, secret: bytes | None) -> None:
    backend = DictBackend()
    store = SharedStore(backend, secret=secret)
    store.put(ARTIFACT)
    name = only_name(backend)
    backend.entries[name] = damages(Seal(secret) if secret else None, name)[kind]
    with pytest.warns(CacheWarning, match=f"{backend.url}.*{name}") as told:
        assert store.get(DIGEST) is None
        assert store.get(DIGEST) is None
        assert not store.contains(DIGEST)
    assert len(told) == 1
    signed_wrongly = secret and kind not in ("another key's", "a record")
    assert reasons(store) == {"unsigned" if signed_wrongly else "damaged": 2}
    assert store.stats().faults == 3
    assert not store.condition().is_down
    assert store.put(ARTIFACT)
    assert store.get(DIGEST) == ARTIFACT


@pytest.mark.parametrize("garbage", ["text", 5, [], bytearray(b"x"), object()])
def test_what_is_not_even_bytes_is_damage(garbage: object) -> None:
    backend = DictBackend()
    backend.entries[OBJECT] = garbage  # type: ignore[assignment]
    store = SharedStore(backend)
    with pytest.warns(CacheWarning, match=f"gave a {type(garbage).__name__}, not bytes"):
        assert store.get(DIGEST) is None
    assert reasons(store) == {"damaged": 1}


@pytest.mark.parametrize(
    "forge",
    [
        lambda name: encode(ARTIFACT),
        lambda name: Seal(OTHER_SECRET).wrap(name, encode(ARTIFACT)),
        lambda name: Seal(SECRET).wrap(name + "x", encode(ARTIFACT)),
        lambda name: Seal(SECRET).wrap("v2" + name.partition("v2")[2], encode(ARTIFACT)),
    ],
    ids=["unsigned", "with another secret", "for another name", "without the id"],
)
def test_forged_entries_are_misses(forge: Callable[[str], bytes]) -> None:
    backend = DictBackend()
    store = SharedStore(backend, secret=SECRET)
    store.put(ARTIFACT)
    name = only_name(backend)
    backend.entries[name] = forge(name)
    with pytest.warns(CacheWarning, match=r"unsigned.*same secret") as told:
        assert store.get(DIGEST) is None
    assert SECRET.decode() not in str(told[0].message)
    assert reasons(store) == {"unsigned": 1}
    assert store.put(ARTIFACT)
    assert store.get(DIGEST) == ARTIFACT


def test_a_forged_direct_record_is_a_miss() -> None:
    backend = DictBackend()
    store = SharedStore(backend, secret=SECRET)
    store.put_direct(SOURCE, DIGEST)
    backend.entries[only_name(backend)] = encode_record(SOURCE, bytes(32))
    with pytest.warns(CacheWarning, match="not signed"):
        assert store.get_direct(SOURCE) is None
    assert store.stats() == StoreStats(faults=1)


def test_an_entry_served_under_another_name_is_a_miss() -> None:
    backend = DictBackend()
    store = SharedStore(backend, secret=SECRET)
    store.put(ARTIFACT)
    first = only_name(backend)
    other = numbered_artifact(2)
    store.put(other)
    second = first.replace(DIGEST.hex(), other.key_digest.hex())
    backend.entries[first], backend.entries[second] = backend.entries[second], b"gone"
    with pytest.warns(CacheWarning, match="another name"):
        assert store.get(DIGEST) is None


def test_another_version_is_a_miss_without_a_fault() -> None:
    from blake3 import blake3

    backend = DictBackend()
    store = SharedStore(backend)
    body = encode_record(SOURCE, DIGEST)[:-32]
    body = body[:8] + b"\xee\0\0\0" + body[12:]
    backend.entries[RECORD] = body + blake3(body).digest()
    assert store.get_direct(SOURCE) is None
    assert store.stats().faults == 0


def test_sizes_on_both_sides_of_the_limit() -> None:
    backend = DictBackend()
    size = len(Seal(SECRET).wrap("", encode(ARTIFACT)))
    assert SharedStore(backend, secret=SECRET, max_entry_bytes=size).put(ARTIFACT)
    small = SharedStore(backend, secret=SECRET, max_entry_bytes=size - 1)
    assert small.get(DIGEST) is None
    assert not small.put(ARTIFACT)
    assert backend.calls == ["put", "get"]
    assert small.stats() == StoreStats(misses=1, reasons={"large": 1})
    assert small.condition().takes_puts


def test_a_backend_may_say_itself_that_an_entry_is_too_large() -> None:
    backend = FaultyBackend()
    backend.fail("get", error=lambda: EntryTooLargeError("2 GB"))
    store = SharedStore(backend)
    assert store.get(DIGEST) is None
    assert store.stats() == StoreStats(misses=1, reasons={"large": 1})
    assert not store.condition().is_down


def test_a_backend_may_say_that_an_entry_is_unusable() -> None:
    backend = FaultyBackend()
    backend.fail("get", error=lambda: ArtifactError("a list"))
    store = SharedStore(backend)
    with pytest.warns(CacheWarning, match="damaged"):
        assert store.get(DIGEST) is None
    assert reasons(store) == {"damaged": 1}
    assert not store.condition().is_down


def test_read_only() -> None:
    backend = DictBackend()
    SharedStore(backend).put(ARTIFACT)
    backend.calls.clear()
    store = SharedStore(backend, read_only=True)
    assert store.get(DIGEST) == ARTIFACT
    assert not store.put(ARTIFACT)
    assert not store.put_direct(SOURCE, DIGEST)
    store.remove(DIGEST)
    with pytest.warns(CacheWarning):
        store.discard(DIGEST, ArtifactError("unusable"))
    assert backend.calls == ["get"]
    assert not store.condition().takes_puts
    assert not store.condition().is_down


def test_settings_without_an_address() -> None:
    assert open_shared(Settings()) is None


def test_settings_with_one() -> None:
    settings = Settings(
        shared_url="memory://test_settings?read-only",
        shared_secret=SECRET,
        shared_max_entry_bytes=123,
    )
    store = open_shared(settings)
    assert store is not None
    assert store.url == "memory://test_settings"
    assert store.read_only
    assert store.max_entry_bytes == 123
    assert store._base == f"{Seal(SECRET).key_id}/v2"
    assert SECRET.decode() not in repr(settings)


def test_settings_that_cannot_be_used() -> None:
    for unusable in (
        {"shared_url": "nonsense"},
        {"shared_url": "gopher://x"},
        {"shared_url": "memory://x", "shared_secret": b"short"},
        {"shared_url": "memory://x", "shared_timeout": 0},
        {"shared_url": "memory://x", "shared_max_entry_bytes": -1},
    ):
        with pytest.raises(ConfigError):
            open_shared(Settings(**unusable))
