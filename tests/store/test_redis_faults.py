from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator

import pytest

from tests.redis_server import RedisServer, redis_server
from tests.samples import numbered_artifact
from tests.store.backends import Clock
from twinjit.errors import CacheWarning
from twinjit.store.redis import RedisBackend
from twinjit.store.shared import SharedStore

ARTIFACT = numbered_artifact(1)
DIGEST = ARTIFACT.key_digest
SOURCE = bytes(range(32))
PATIENT = 60.0


@pytest.fixture
def server() -> Iterator[RedisServer]:
    with redis_server() as server:
        yield server


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(server: RedisServer, clock: Clock) -> SharedStore:
    return SharedStore(RedisBackend(server.url, timeout=PATIENT, ttl=1000), clock=clock)


def comes_back(store: SharedStore, clock: Clock) -> None:
    """Check that a store works again after its wait."""
    clock.now += 60
    store.get(DIGEST)
    assert store.put(ARTIFACT)
    assert store.get(DIGEST) == ARTIFACT
    assert not store.condition().is_down
    assert store.condition().takes_puts


def test_the_server_is_killed_and_comes_back(
    server: RedisServer, store: SharedStore, clock: Clock
) -> None:
    store.put(ARTIFACT)
    server.kill()
    with pytest.warns(CacheWarning, match=r"ENOENT.*Start the server"):
        assert store.get(DIGEST) is None
    assert store.get(DIGEST) is None
    assert not store.put(ARTIFACT)
    assert store.stats().reasons == {"failed": 1, "down": 1}
    assert store.condition().is_down
    server.start()
    comes_back(store, clock)


def test_a_restart_between_calls_is_not_even_noticed(
    server: RedisServer, store: SharedStore
) -> None:
    store.put(ARTIFACT)
    server.kill()
    server.start()
    assert store.get(DIGEST) is None
    assert store.put(ARTIFACT)
    assert store.get(DIGEST) == ARTIFACT
    assert store.stats().faults == 0


def test_nobody_listens_on_the_port(server: RedisServer, clock: Clock) -> None:
    server.listen_on_a_port()
    store = SharedStore(
        RedisBackend(f"redis://127.0.0.1:{server.port}", timeout=PATIENT), clock=clock
    )
    server.kill()
    with pytest.warns(CacheWarning, match="ECONNREFUSED"):
        assert not store.put(ARTIFACT)
    server.start()
    comes_back(store, clock)


def test_a_host_without_an_address() -> None:
    store = SharedStore(RedisBackend("redis://nowhere.invalid"))
    with pytest.warns(CacheWarning, match=r"EHOSTUNREACH.*correct the address"):
        assert store.get(DIGEST) is None


def test_a_server_that_does_not_answer_costs_the_timeout(server: RedisServer, clock: Clock) -> None:
    store = SharedStore(RedisBackend(server.url, timeout=0.2), clock=clock)
    with server.stopped():
        start = time.monotonic()
        with pytest.warns(CacheWarning, match=r"ETIMEDOUT.*TWINJIT_SHARED_TIMEOUT"):
            assert store.get(DIGEST) is None
        for _ in range(100):
            assert store.get(DIGEST) is None
            assert not store.put(ARTIFACT)
        assert time.monotonic() - start < 4
        assert store.stats().reasons == {"failed": 1, "down": 100}
    patient = SharedStore(RedisBackend(server.url, timeout=PATIENT), clock=clock)
    comes_back(patient, clock)


def test_a_server_that_stops_answering_on_a_connection_in_use(
    server: RedisServer, clock: Clock
) -> None:
    others = [numbered_artifact(number) for number in range(2, 6)]
    patient = SharedStore(RedisBackend(server.url, timeout=PATIENT))
    for artifact in (ARTIFACT, *others):
        patient.put(artifact)
    store = SharedStore(RedisBackend(server.url, timeout=2), clock=clock)
    assert store.get(DIGEST) == ARTIFACT
    with server.stopped(), pytest.warns(CacheWarning, match="ETIMEDOUT"):
        assert store.get(DIGEST) is None
    clock.now += 1
    # The late answer to the call that was given up is not taken for that to another.
    assert [store.get(artifact.key_digest) for artifact in others] == others


def test_no_memory_stops_puts_and_not_gets(
    server: RedisServer, store: SharedStore, clock: Clock
) -> None:
    store.put(ARTIFACT)
    with server.admin as admin:
        admin.config_set("maxmemory-policy", "noeviction")
        admin.config_set("maxmemory", 1)
        with pytest.warns(CacheWarning, match=r"ENOSPC.*allkeys-lru"):
            assert not store.put(numbered_artifact(2))
        assert not store.put_direct(SOURCE, DIGEST)
        assert store.get(DIGEST) == ARTIFACT
        assert store.stats().faults == 1
        assert not store.condition().is_down
        assert not store.condition().takes_puts
        admin.config_set("maxmemory", 0)
    comes_back(store, clock)


@pytest.mark.parametrize("credentials", ["", ":wrong-word@", "nobody:wrong-word@"])
def test_a_missing_or_wrong_password(server: RedisServer, credentials: str) -> None:
    with server.admin as admin:
        admin.config_set("requirepass", "right-word")
    url = server.url.replace("unix://", f"unix://{credentials}")
    store = SharedStore(RedisBackend(url, timeout=PATIENT))
    with pytest.warns(CacheWarning, match=r"EACCES.*right password") as told:
        assert store.get(DIGEST) is None
    assert "wrong-word" not in str(told[0].message)
    assert "wrong-word" not in str(store.condition())


def test_the_right_password(server: RedisServer) -> None:
    with server.admin as admin:
        admin.config_set("requirepass", "right/word")
    url = server.url.replace("unix://", "unix://:right%2Fword@")
    store = SharedStore(RedisBackend(url, timeout=PATIENT))
    assert store.put(ARTIFACT)
    assert store.get(DIGEST) == ARTIFACT
    assert "word" not in store.url


def test_a_user_who_may_only_read(server: RedisServer, store: SharedStore) -> None:
    store.put(ARTIFACT)
    with server.admin as admin:
        admin.acl_setuser(
            "reader",
            enabled=True,
            passwords=["+pw"],
            keys=["*"],
            categories=["+@read", "+@connection"],
        )
    url = server.url.replace("unix://", "unix://reader:pw@")
    reader = SharedStore(RedisBackend(url, timeout=PATIENT, ttl=1000))
    assert reader.get(DIGEST) == ARTIFACT
    with pytest.warns(CacheWarning, match="EACCES"):
        assert not reader.put(ARTIFACT)
    assert reader.get(DIGEST) == ARTIFACT
    assert reader.stats().faults == 1


def test_a_replica_that_takes_no_writes(server: RedisServer, store: SharedStore) -> None:
    store.put(ARTIFACT)
    with server.admin as admin:
        admin.replicaof("127.0.0.1", "1")
        assert store.get(DIGEST) == ARTIFACT
        with pytest.warns(CacheWarning, match=r"EROFS.*read-only=true"):
            assert not store.put(ARTIFACT)
        assert store.get(DIGEST) == ARTIFACT


def test_everything_is_flushed_again_and_again_meanwhile(
    server: RedisServer, store: SharedStore
) -> None:
    artifacts = [numbered_artifact(number, size=100_000) for number in range(4)]
    done = threading.Event()

    def flush() -> None:
        with server.admin as admin:
            while not done.is_set():
                admin.flushall()

    thread = threading.Thread(target=flush)
    thread.start()
    try:
        for _ in range(100):
            for artifact in artifacts:
                assert store.put(artifact)
                assert store.get(artifact.key_digest) in (artifact, None)
    finally:
        done.set()
        thread.join()
    assert store.stats().faults == 0


def test_an_interrupted_call_leaves_no_answer_behind_for_another(
    server: RedisServer, store: SharedStore
) -> None:
    other = numbered_artifact(2)
    store.put(ARTIFACT)
    store.put(other)

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with server.stopped():
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(KeyboardInterrupt):
                store.get(DIGEST)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert store.get(other.key_digest) == other
    assert store.get(DIGEST) == ARTIFACT
    assert store.stats().faults == 0


def put_and_get(store: SharedStore, first: int) -> bool:
    """Use a store for entries of the caller's own; tell whether each came back."""
    return all(
        store.put(artifact) and store.get(artifact.key_digest) == artifact
        for artifact in (numbered_artifact(first + number, size=1000) for number in range(100))
    )


def test_threads(store: SharedStore) -> None:
    results: list[bool] = []
    threads = [
        threading.Thread(target=lambda first=100 * n: results.append(put_and_get(store, first)))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 8
    assert store.stats().hits == store.stats().puts == 800


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_and_its_parent_at_once(store: SharedStore) -> None:
    assert put_and_get(store, 0)
    children = []
    for number in (1, 2):
        pid = os.fork()
        if not pid:
            os._exit(not put_and_get(store, 1000 * number))
        children.append(pid)
    assert put_and_get(store, 5000)
    assert [os.waitpid(pid, 0)[1] for pid in children] == [0, 0]
