from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable

import pytest

from tests.samples import numbered_artifact
from tests.store.backends import Clock, DictBackend, FaultyBackend, HangingBackend
from twinjit import forks
from twinjit.errors import ArtifactError, CacheWarning
from twinjit.store.base import MissReason
from twinjit.store.deadline import DeadlineBackend
from twinjit.store.shared import SharedStore

ARTIFACT = numbered_artifact(1)
DIGEST = ARTIFACT.key_digest
SOURCE = bytes(range(32))


class Odd(Exception):
    """What no other package knows."""


FAULTS: list[Callable[[], Exception]] = [
    lambda: ConnectionRefusedError(111, "refused"),
    lambda: ConnectionResetError(104, "reset"),
    lambda: TimeoutError("late"),
    lambda: OSError(5, "input/output"),
    lambda: PermissionError(13, "no"),
    lambda: ValueError("value"),
    lambda: RecursionError(),
    lambda: ImportError("no module"),
    lambda: StopIteration(),
    lambda: AssertionError(),
    lambda: Odd("{}%s"),
]


def reasons(store: SharedStore) -> dict[MissReason, int]:
    return dict(store.stats().reasons)


def faulty() -> tuple[FaultyBackend, Clock, SharedStore]:
    backend, clock = FaultyBackend(), Clock()
    return backend, clock, SharedStore(backend, clock=clock)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault()).__name__)
def test_whatever_a_backend_raises_is_a_miss_and_it_comes_back(
    fault: Callable[[], Exception],
) -> None:
    backend, clock, store = faulty()
    store.put(ARTIFACT)
    backend.calls.clear()
    backend.fail("get", "put", "remove", error=fault)
    with pytest.warns(CacheWarning, match=backend.url) as told:
        assert store.get(DIGEST) is None
        assert store.get(DIGEST) is None
        assert store.get_direct(SOURCE) is None
        assert not store.contains(DIGEST)
        assert not store.put(ARTIFACT)
        assert not store.put_direct(SOURCE, DIGEST)
        store.remove(DIGEST)
    assert len(told) == 1
    assert backend.calls == ["get"]
    assert reasons(store) == {"failed": 1, "down": 1}
    assert store.stats().faults == 1
    condition = store.condition()
    assert condition.is_down
    assert not condition.takes_puts
    assert 0 < condition.retry_in <= 1
    assert condition.last_error == f"{type(fault()).__name__}: {fault()}"
    backend.heal()
    clock.now += 1
    assert store.get(DIGEST) == ARTIFACT
    assert not store.condition().is_down
    assert store.put(ARTIFACT)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault()).__name__)
@pytest.mark.parametrize("operation", ["put", "remove"])
def test_only_a_write_that_could_not_reach_the_server_stops_reading(
    operation: str, fault: Callable[[], Exception]
) -> None:
    backend, clock, store = faulty()
    store.put(ARTIFACT)
    backend.fail("put", "remove", error=fault)
    backend.calls.clear()
    with pytest.warns(CacheWarning):
        if operation == "put":
            assert not store.put(ARTIFACT)
        else:
            store.remove(DIGEST)
            backend.entries[f"v2/objects/{DIGEST.hex()}"] = b""
    unreachable = isinstance(fault(), (ConnectionError, TimeoutError))
    assert store.condition().is_down == unreachable
    assert not store.condition().takes_puts
    assert not store.put(ARTIFACT)
    store.remove(DIGEST)
    assert backend.calls == [operation]
    assert store.get_direct(SOURCE) is None
    assert backend.calls == [operation] + ["get"] * (not unreachable)
    backend.heal()
    clock.now += 1
    assert store.put(ARTIFACT)
    assert store.get(DIGEST) == ARTIFACT
    assert store.condition().takes_puts


def test_a_server_that_takes_no_puts_is_asked_ever_more_rarely() -> None:
    backend, clock, store = faulty()
    backend.fail("put", error=lambda: OSError(28, "OOM"))
    with pytest.warns(CacheWarning, match=r"ENOSPC.*allkeys-lru"):
        for _ in range(600):
            store.put(ARTIFACT)
            assert store.get_direct(SOURCE) is None
            clock.now += 1
    assert 10 <= backend.calls.count("put") <= 30
    assert backend.calls.count("get") == 600


def test_a_dead_server_is_asked_ever_more_rarely() -> None:
    backend, clock, store = faulty()
    backend.fail("get", "put", error=lambda: ConnectionRefusedError(111, "refused"))
    with pytest.warns(CacheWarning, match=r"ECONNREFUSED.*TWINJIT_SHARED_URL"):
        for _ in range(600):
            assert store.get(DIGEST) is None
            assert not store.put(ARTIFACT)
            clock.now += 1
    assert 10 <= len(backend.calls) <= 30
    assert store.stats().misses == 600
    assert reasons(store)["failed"] == len(backend.calls) == store.stats().faults


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_the_user_waits_for_passes(error: type[BaseException]) -> None:
    backend, _clock, store = faulty()
    store.put(ARTIFACT)
    backend.fail("get", "put", error=error)
    for call in (lambda: store.get(DIGEST), lambda: store.put(ARTIFACT)):
        with pytest.raises(error):
            call()
    assert store.stats().faults == 0
    backend.heal()
    assert store.get(DIGEST) == ARTIFACT


def test_an_interrupted_try_leaves_the_next_one_free() -> None:
    backend, clock, store = faulty()
    store.put(ARTIFACT)
    backend.fail("get", error=lambda: ConnectionResetError(104, "reset"))
    with pytest.warns(CacheWarning):
        store.get(DIGEST)
    clock.now += 1
    backend.fail("get", error=KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        store.get(DIGEST)
    backend.heal()
    clock.now += 1
    assert store.get(DIGEST) == ARTIFACT


def test_a_bad_entry_is_an_answer_too() -> None:
    backend, clock, store = faulty()
    backend.fail("get", error=lambda: ConnectionResetError(104, "reset"))
    with pytest.warns(CacheWarning):
        store.get(DIGEST)
    clock.now += 1
    backend.fail("get", error=lambda: ArtifactError("a list"))
    with pytest.warns(CacheWarning, match="damaged"):
        assert store.get(DIGEST) is None
    assert not store.condition().is_down


def test_memory_that_runs_out_is_no_fault_of_the_server() -> None:
    backend, _clock, store = faulty()
    store.put(ARTIFACT)
    backend.fail("get", "put", error=MemoryError)
    with pytest.warns(CacheWarning, match="ENOMEM"):
        assert store.get(DIGEST) is None
        assert not store.put(ARTIFACT)
    assert store.stats().faults == 2
    backend.heal()
    assert store.get(DIGEST) == ARTIFACT


def test_a_backend_that_hangs() -> None:
    backend, clock = HangingBackend(), Clock()
    store = SharedStore(DeadlineBackend(backend, 0.01), clock=clock)
    with pytest.warns(CacheWarning, match=r"ETIMEDOUT.*TWINJIT_SHARED_TIMEOUT"):
        assert store.get(DIGEST) is None
    assert not store.put(ARTIFACT)
    assert store.condition().is_down
    backend.release.set()
    clock.now += 1
    # Not through the deadline, which a busy machine might miss.
    assert SharedStore(backend).put(ARTIFACT)


def test_each_kind_is_warned_of_once_per_place() -> None:
    backend, clock, store = faulty()
    with pytest.warns(CacheWarning) as told:
        for fault in FAULTS[:3] * 3:
            backend.fail("get", error=fault)
            store.get(DIGEST)
            clock.now += 60
        SharedStore(backend).get(DIGEST)
    kinds = ["ECONNREFUSED", "ECONNRESET", "ETIMEDOUT"]
    assert [kind in str(warning.message) for kind, warning in zip(kinds, told, strict=True)]
    assert store.stats().faults == 9


def test_a_filter_that_makes_warnings_errors_is_obeyed_and_the_store_knows_of_the_fault() -> None:
    backend, _clock, store = faulty()
    backend.fail("get", error=lambda: OSError(5, "input/output"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(CacheWarning):
            store.get(DIGEST)
    assert store.condition().is_down


def test_threads_together_miss_once_and_lose_no_count() -> None:
    _backend, _clock, store = faulty()
    store.put(ARTIFACT)
    start = threading.Barrier(8)
    wrong: list[object] = []

    def work() -> None:
        start.wait()
        for _ in range(500):
            found = store.get(DIGEST)
            if found not in (ARTIFACT, None):
                wrong.append(found)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert store.stats().hits == 4000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_forked_while_another_thread_holds_the_locks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forks, "PATIENCE", 0.1)
    store = SharedStore(DictBackend())
    store.put(ARTIFACT)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with store._lock, store._tally._lock, store._tally._faults._count_lock:
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    pid = os.fork()
    if not pid:
        os._exit(store.get(DIGEST) != ARTIFACT or store.stats().hits != 1)
    done.set()
    thread.join()
    assert os.waitpid(pid, 0)[1] == 0
