from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from tests.redis_server import RedisServer, redis_server
from tests.samples import numbered_artifact
from tests.threads import at_once
from twinjit.artifact import encode
from twinjit.errors import ArtifactError, CacheWarning, ConfigError, EntryTooLargeError
from twinjit.settings import Settings
from twinjit.store.base import StoreStats
from twinjit.store.redis import RedisBackend
from twinjit.store.seal import Seal
from twinjit.store.shared import SharedStore, open_shared

SECRET = b"a secret of 16 B"
ARTIFACT = numbered_artifact(1)
DIGEST = ARTIFACT.key_digest
SOURCE = bytes(range(32))
OBJECT = f"v2/objects/{DIGEST.hex()}"
KEY = f"twinjit:{OBJECT}"
PATIENT = 60.0
SIZES = [1, 2, 65535, 65536, 65537, 1_000_000]


@pytest.fixture
def server() -> Iterator[RedisServer]:
    with redis_server() as server:
        yield server


@pytest.fixture
def backend(server: RedisServer) -> RedisBackend:
    return RedisBackend(server.url, timeout=PATIENT)


def test_bytes_by_name(server: RedisServer, backend: RedisBackend) -> None:
    assert backend.url == server.url
    assert backend.get("a/b") is None
    for size in SIZES:
        data = bytes(size)
        backend.put("a/b", data)
        assert backend.get("a/b") == data
        with server.admin as admin:
            assert admin.keys() == [b"twinjit:a/b"]
    backend.remove("a/b")
    backend.remove("a/b")
    assert backend.get("a/b") is None


@pytest.mark.parametrize("size", SIZES[1:])
def test_the_size_limit(server: RedisServer, backend: RedisBackend, size: int) -> None:
    backend.put("a", bytes(size))
    assert RedisBackend(server.url, timeout=PATIENT, max_bytes=size).get("a") == bytes(size)
    unlimited = RedisBackend(server.url, timeout=1e6, ttl=9e9, max_bytes=2**63 - 1)
    assert unlimited.get("a") == bytes(size)
    unlimited.put("a", bytes(size))
    with pytest.raises(EntryTooLargeError, match=f"{size} bytes"):
        RedisBackend(server.url, timeout=PATIENT, max_bytes=size - 1).get("a")


def test_a_hundred_megabytes(server: RedisServer) -> None:
    artifact = numbered_artifact(7, size=100_000_000)
    large = SharedStore(RedisBackend(server.url, timeout=PATIENT), max_entry_bytes=2**28)
    assert large.put(artifact)
    found = large.get(artifact.key_digest)
    assert found is not None
    assert found.object_code == artifact.object_code
    with server.admin as admin:
        sent = admin.info("stats")["total_net_output_bytes"]
        small = open_shared(Settings(shared_url=server.url, shared_timeout=PATIENT))
        assert small is not None
        assert small.get(artifact.key_digest) is None
        assert not small.put(artifact)
        assert small.stats() == StoreStats(misses=1, reasons={"large": 1})
        assert admin.info("stats")["total_net_output_bytes"] - sent < 200_000


@pytest.mark.parametrize("ttl", [None, 100.0])
def test_time_to_live(server: RedisServer, ttl: float | None) -> None:
    backend = RedisBackend(server.url, timeout=PATIENT, ttl=ttl)
    backend.put("a", b"1")
    with server.admin as admin:
        left = admin.pttl("twinjit:a")
        assert left == -1 if ttl is None else 10_000 < left <= 100_000
        admin.pexpire("twinjit:a", 10_000)
        assert backend.get("a") == b"1"
        left = admin.pttl("twinjit:a")
        assert 0 < left <= 10_000 if ttl is None else 10_000 < left <= 100_000
        backend.put("a", b"2")
        assert (admin.pttl("twinjit:a") == -1) == (ttl is None)


def test_an_entry_whose_time_is_over_is_a_miss(server: RedisServer) -> None:
    store = SharedStore(RedisBackend(server.url, timeout=PATIENT, ttl=0.001))
    assert store.put(ARTIFACT)
    with server.admin as admin:
        while admin.exists(KEY):
            time.sleep(0.001)
    assert store.get(DIGEST) is None
    assert store.stats().faults == 0


def test_reading_only_renews_nothing(server: RedisServer) -> None:
    SharedStore(RedisBackend(server.url, timeout=PATIENT, ttl=10)).put(ARTIFACT)
    store = open_shared(Settings(shared_url=f"{server.url}?read-only", shared_timeout=PATIENT))
    assert store is not None
    assert store.get(DIGEST) == ARTIFACT
    with server.admin as admin:
        assert 0 < admin.pttl(KEY) <= 10_000


def test_tcp_and_databases(server: RedisServer) -> None:
    server.listen_on_a_port()
    first = RedisBackend(f"redis://127.0.0.1:{server.port}/1", timeout=PATIENT)
    second = RedisBackend(f"redis://127.0.0.1:{server.port}?db=2", timeout=PATIENT)
    first.put("a", b"1")
    assert first.get("a") == b"1"
    assert second.get("a") is None
    assert RedisBackend(f"{server.url}?db=1", timeout=PATIENT).get("a") == b"1"


def test_something_else_than_bytes_is_damage_that_a_put_heals(
    server: RedisServer, backend: RedisBackend
) -> None:
    with server.admin as admin:
        admin.rpush(KEY, "a", "list")
    with pytest.raises(ArtifactError, match="WRONGTYPE"):
        backend.get(OBJECT)
    store = SharedStore(backend)
    with pytest.warns(CacheWarning, match="damaged"):
        assert store.get(DIGEST) is None
    assert store.stats().reasons == {"damaged": 1}
    assert store.put(ARTIFACT)
    assert store.get(DIGEST) == ARTIFACT


def test_an_empty_value_is_none(server: RedisServer, backend: RedisBackend) -> None:
    with server.admin as admin:
        admin.set(KEY, b"")
    assert backend.get(OBJECT) is None


def test_signatures(server: RedisServer, backend: RedisBackend) -> None:
    store = SharedStore(backend, secret=SECRET)
    store.put(ARTIFACT)
    assert store.get(DIGEST) == ARTIFACT
    key = f"twinjit:{Seal(SECRET).key_id}/{OBJECT}"
    other = numbered_artifact(2)
    store.put(other)
    with server.admin as admin:
        good = admin.get(key)
        assert isinstance(good, bytes)
        forged = {
            "unsigned": encode(ARTIFACT),
            "with another secret": Seal(b"another one, 16B").wrap(key, encode(ARTIFACT)),
            "renamed": admin.get(key.replace(DIGEST.hex(), other.key_digest.hex())),
            "tampered": good[:60] + bytes([good[60] ^ 1]) + good[61:],
            "truncated": good[:-1],
        }
        with pytest.warns(CacheWarning, match="unsigned") as told:
            for data in forged.values():
                assert isinstance(data, bytes)
                admin.set(key, data)
                assert store.get(DIGEST) is None
        assert len(told) == 1
        assert store.stats().reasons == {"unsigned": len(forged)}
        admin.set(key, good)
    assert store.get(DIGEST) == ARTIFACT


def test_threads_use_a_new_backend_at_once(server: RedisServer) -> None:
    for _ in range(20):
        backend = RedisBackend(server.url, timeout=30)
        at_once(lambda _, backend=backend: backend.get("none"), 8)


def test_the_package_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(ConfigError, match=r"redis://host needs.*twinjit\[redis\]"):
        RedisBackend("redis://host")


def test_nothing_is_imported_before_the_first_use() -> None:
    script = """if True:
        import sys, twinjit
        from twinjit.settings import Settings
        from twinjit.store.shared import open_shared
        for url in ("redis://localhost", "memory://x"):
            assert open_shared(Settings(shared_url=url))
        assert not {"redis", "fsspec"} & set(sys.modules), sorted(sys.modules)
    """
    subprocess.run([sys.executable, "-c", script], check=True)
