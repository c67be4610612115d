from __future__ import annotations

import fcntl
import os
import shutil
import stat
import threading
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tests.samples import numbered_artifact
from tests.store.entries import BLOCK, files_in, path_of, set_age
from tests.strategies import artifacts
from twinjit.artifact import Artifact, encode
from twinjit.store.base import Store, StoreStats
from twinjit.store.disk import DiskStore, Pruned


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(artifact=artifacts)
def test_round_trip(tmp_path: Path, artifact: Artifact) -> None:
    store: Store = DiskStore(tmp_path)
    assert store.put(artifact)
    assert store.get(artifact.key_digest) == artifact
    assert DiskStore(tmp_path).get(artifact.key_digest) == artifact


def test_nothing_is_made_before_the_first_put(tmp_path: Path) -> None:
    root = tmp_path / "a" / "b"
    store = DiskStore(root)
    assert store.get(bytes(32)) is None
    assert store.get_direct(bytes(32)) is None
    assert store.stats() == StoreStats(misses=1, reasons={"absent": 1})
    assert store.prune() == Pruned()
    store.clear()
    assert list(store.digests()) == []
    assert not root.parent.exists()


def test_the_layout(tmp_path: Path) -> None:
    store = DiskStore(tmp_path / "new" / "cache")
    artifact = numbered_artifact(1)
    store.put(artifact)
    path = path_of(store, artifact.key_digest)
    assert path.read_bytes() == encode(artifact)
    assert set(os.listdir(os.path.join(store.root, "v1"))) == {"ledger", "objects", "swept", "tmp"}
    for folder in [*path.parents][:5]:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_modes_do_not_depend_on_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        store = DiskStore(tmp_path / "cache")
        artifact = numbered_artifact(1)
        assert store.put(artifact)
        assert store.get(artifact.key_digest) == artifact
    finally:
        os.umask(before)
    assert stat.S_IMODE(path_of(store, artifact.key_digest).stat().st_mode) == 0o600


def test_a_relative_root_stays_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = DiskStore("cache")
    monkeypatch.chdir("/")
    assert store.root == str(tmp_path / "cache")


def test_counters(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    first, second = numbered_artifact(1), numbered_artifact(2, size=5000)
    store.get(first.key_digest)
    store.put(first)
    store.put(second)
    store.put(second)
    store.get(first.key_digest)
    store.put_direct(bytes(32), first.key_digest)
    assert store.stats() == StoreStats(
        entries=2, bytes=4 * BLOCK, hits=1, misses=1, puts=3, reasons={"absent": 1}
    )
    assert set(store.digests()) == {first.key_digest, second.key_digest}


def test_direct_records(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    source, key = b"s" * 32, b"k" * 32
    assert store.get_direct(source) is None
    assert store.put_direct(source, key)
    assert store.get_direct(source) == key
    assert store.put_direct(source, b"l" * 32)
    assert store.get_direct(source) == b"l" * 32
    assert Path(store.root, "v1", "direct", "73", "73" * 31 + ".ref").is_file()


@pytest.mark.parametrize("digest", [b"", bytes(31), bytes(33)])
def test_digests_of_another_size_are_refused(tmp_path: Path, digest: bytes) -> None:
    store = DiskStore(tmp_path)
    for call in (
        lambda: store.get(digest),
        lambda: store.get_direct(digest),
        lambda: store.put_direct(digest, bytes(32)),
        lambda: store.put_direct(bytes(32), digest),
    ):
        with pytest.raises(ValueError, match="32 bytes"):
            call()


def test_a_negative_bound_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="-1"):
        DiskStore(tmp_path, max_bytes=-1)
    for age in (-1, float("nan")):
        with pytest.raises(ValueError, match=str(age)):
            DiskStore(tmp_path, max_age=age)


def test_clear(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    store.put(numbered_artifact(1))
    store.put_direct(bytes(32), bytes(32))
    (tmp_path / "v1" / "tmp" / "1-0123456789abcdef").write_bytes(b"x")
    store.clear()
    assert files_in(tmp_path) == []
    assert (tmp_path / "v1" / "ledger").stat().st_size == 0
    assert store.stats() == StoreStats(puts=1)
    assert store.get(numbered_artifact(1).key_digest) is None
    assert store.stats().reasons == {"absent": 1}
    assert store.put(numbered_artifact(1))


def test_the_bound_holds_at_every_moment(tmp_path: Path) -> None:
    store = DiskStore(tmp_path, max_bytes=40 * BLOCK)
    for number in range(300):
        assert store.put(numbered_artifact(number, size=(number * 997) % 20_000))
        store.put_direct(number.to_bytes(32, "little"), bytes(32))
        assert store.stats().bytes <= 40 * BLOCK
    stats = store.stats()
    assert stats.bytes >= 30 * BLOCK
    assert stats.puts == 300
    assert stats.evictions > 200


def test_the_bound_holds_for_short_lived_processes(tmp_path: Path) -> None:
    for number in range(100):
        DiskStore(tmp_path, max_bytes=20 * BLOCK).put(numbered_artifact(number))
    assert DiskStore(tmp_path).stats().bytes <= 20 * BLOCK


def test_the_bound_holds_after_the_ledger_is_lost(tmp_path: Path) -> None:
    store = DiskStore(tmp_path, max_bytes=20 * BLOCK)
    for number in range(20):
        store.put(numbered_artifact(number))
        (tmp_path / "v1" / "ledger").unlink()
    for number in range(20, 60):
        store.put(numbered_artifact(number))
    assert store.stats().bytes <= 20 * BLOCK


def test_puts_below_the_bound_do_not_scan(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    store.put(numbered_artifact(0))
    left = tmp_path / "v1" / "tmp" / "1-0123456789abcdef"
    left.write_bytes(b"x")
    for number in range(50):
        store.put(numbered_artifact(number))
    assert left.exists()  # a scan would have swept it
    set_age(tmp_path / "v1" / "swept", 2 * 86400)
    later = DiskStore(tmp_path, max_age=1000)
    set_age(path_of(store, numbered_artifact(0).key_digest), 2000)
    later.put(numbered_artifact(1))
    assert not left.exists()
    assert later.stats().evictions == 1
    assert time.time() - (tmp_path / "v1" / "swept").stat().st_mtime < 100


def test_remains_of_a_killed_writer_are_swept_by_the_next_run(tmp_path: Path) -> None:
    DiskStore(tmp_path).put(numbered_artifact(0))
    left = tmp_path / "v1" / "tmp" / "1-0123456789abcdef"
    left.write_bytes(b"x")
    assert DiskStore(tmp_path).put(numbered_artifact(1))
    assert not left.exists()


def test_what_is_too_old_is_a_miss(tmp_path: Path) -> None:
    store = DiskStore(tmp_path, max_age=1000)
    for number, age in enumerate((900, 1100, -10_000)):
        store.put(numbered_artifact(number))
        set_age(path_of(store, numbered_artifact(number).key_digest), age)
    assert store.get(numbered_artifact(0).key_digest)
    assert store.get(numbered_artifact(1).key_digest) is None
    assert store.get(numbered_artifact(2).key_digest)  # from the future: the clock went back
    assert store.stats().reasons == {"expired": 1}
    assert store.stats().entries == 2
    assert store.put(numbered_artifact(1))
    assert store.get(numbered_artifact(1).key_digest)


def test_prune_by_age(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    for number in range(10):
        store.put(numbered_artifact(number))
        set_age(path_of(store, numbered_artifact(number).key_digest), 100 * number + 50)
    assert store.prune(max_age=500) == Pruned(entries=5, bytes=5 * BLOCK)
    assert store.prune(max_bytes=4 * BLOCK, max_age=400) == Pruned(entries=1, bytes=BLOCK)
    assert (tmp_path / "v1" / "ledger").stat().st_size == 4
    kept = [number for number in range(10) if store.contains(numbered_artifact(number).key_digest)]
    assert kept == [0, 1, 2, 3]


def test_prune_by_age_and_bound(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    for number in range(10):
        store.put(numbered_artifact(number))
        set_age(path_of(store, numbered_artifact(number).key_digest), 1000 * number)
    assert store.prune(max_bytes=4 * BLOCK, max_age=6500).entries == 6  # 7 to 9, then 4 to 6
    left = {entry.key_digest for entry in store.entries()}
    assert left == {numbered_artifact(number).key_digest for number in range(4)}


def test_misses_that_eviction_caused_are_told(tmp_path: Path) -> None:
    store = DiskStore(tmp_path, max_bytes=10 * BLOCK)
    for number in range(30):
        store.put(numbered_artifact(number))
        set_age(path_of(store, numbered_artifact(number).key_digest), 1000 - number)
    other = DiskStore(tmp_path)
    assert other.get(numbered_artifact(0).key_digest) is None
    assert other.get(numbered_artifact(0).key_digest) is None  # it is not there now
    assert other.get(numbered_artifact(99).key_digest) is None
    assert other.stats().reasons == {"evicted": 1, "absent": 2}


def test_what_was_used_longest_ago_goes_first(tmp_path: Path) -> None:
    store = DiskStore(tmp_path, max_bytes=10 * BLOCK)
    entries = [numbered_artifact(number) for number in range(10)]
    for age, artifact in enumerate(entries):
        store.put(artifact)
        set_age(path_of(store, artifact.key_digest), 1000 - age)
    assert store.get(entries[0].key_digest)  # used again: now the newest
    store.put(numbered_artifact(10))
    kept = {number for number in range(11) if store.get(numbered_artifact(number).key_digest)}
    assert kept == {0, 3, 4, 5, 6, 7, 8, 9, 10}


def test_a_hit_marks_an_entry_as_used_at_most_once_a_minute(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    artifact = numbered_artifact(1)
    store.put(artifact)
    path = path_of(store, artifact.key_digest)
    for age, touched in [(30, False), (90, True), (-7200, True)]:
        set_age(path, age)
        before = path.stat().st_mtime_ns
        assert store.get(artifact.key_digest)
        assert (path.stat().st_mtime_ns != before) == touched
    assert abs(path.stat().st_mtime - time.time()) < 30


def test_an_entry_that_takes_most_of_the_bound_is_not_taken(tmp_path: Path) -> None:
    store = DiskStore(tmp_path, max_bytes=10 * BLOCK)
    small = numbered_artifact(1)
    store.put(small)
    assert not store.put(numbered_artifact(2, size=10 * BLOCK))
    assert store.get(small.key_digest)
    assert store.stats().faults == 0


def test_a_bound_of_zero_keeps_nothing(tmp_path: Path) -> None:
    store = DiskStore(tmp_path, max_bytes=0)
    assert not store.put(numbered_artifact(1))
    assert not store.put_direct(bytes(32), bytes(32))
    assert files_in(tmp_path) == []


def test_prune_to_another_bound_and_of_stale_temporaries(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    for number in range(10):
        store.put(numbered_artifact(number))
    staging = tmp_path / "v1" / "tmp"
    (staging / "1-0123456789abcdef").write_bytes(b"x")
    with (staging / "2-0123456789abcdef").open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert store.prune(4 * BLOCK + 100) == Pruned(entries=6, bytes=6 * BLOCK, temporaries=1)
        assert os.listdir(staging) == ["2-0123456789abcdef"]
    (staging / "2-0123456789abcdef").unlink()
    assert store.prune() == Pruned()
    assert (tmp_path / "v1" / "ledger").stat().st_size == 4


def test_foreign_files_are_left_alone(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    store.put(numbered_artifact(1))
    strangers = [tmp_path / "v1" / "objects" / "README", tmp_path / "v1" / "objects" / "ab" / "x"]
    for path in strangers:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")
    odd = tmp_path / "v1" / "objects" / "ab" / "nothex.tj"
    odd.write_bytes(b"x")
    assert list(store.digests()) == [numbered_artifact(1).key_digest]
    store.clear()
    assert files_in(tmp_path) == strangers or set(files_in(tmp_path)) == set(strangers)


def test_a_directory_removed_meanwhile_is_made_again(tmp_path: Path) -> None:
    store = DiskStore(tmp_path / "cache")
    artifact = numbered_artifact(1)
    for folder in ("", "v1", "v1/tmp", "v1/objects"):
        assert store.put(artifact)
        assert store.get(artifact.key_digest) == artifact
        shutil.rmtree(tmp_path / "cache" / folder)
        if folder != "v1/tmp":
            assert store.get(artifact.key_digest) is None
    assert store.put(artifact)
    assert store.stats().faults == 0


def test_a_directory_that_keeps_being_removed_raises_nothing(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    store = DiskStore(tmp_path / "cache")
    done = threading.Event()

    def remove() -> None:
        while not done.is_set():
            shutil.rmtree(tmp_path / "cache", ignore_errors=True)

    thread = threading.Thread(target=remove)
    thread.start()
    try:
        for number in range(300):
            artifact = numbered_artifact(number)
            store.put(artifact)
            assert store.get(artifact.key_digest) in (None, artifact)
            store.stats()
            store.prune()
    finally:
        done.set()
        thread.join()
    assert store.put(numbered_artifact(1))


def test_threads_share_one_store(tmp_path: Path) -> None:
    store = DiskStore(tmp_path, max_bytes=30 * BLOCK)
    entries = [numbered_artifact(number, size=3000) for number in range(20)]
    barrier = threading.Barrier(4)
    wrong: list[object] = []

    def work(seed: int) -> None:
        barrier.wait()
        for step in range(200):
            artifact = entries[(seed * 5 + step) % len(entries)]
            if not store.put(artifact) or store.get(artifact.key_digest) not in (None, artifact):
                wrong.append(artifact)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stats = store.stats()
    assert not wrong
    assert stats.faults == 0
    assert stats.puts == stats.hits + stats.misses == 800


def test_marks_of_a_clock_that_was_set_back_are_the_oldest(tmp_path):
    store = DiskStore(tmp_path)
    artifacts = [numbered_artifact(number) for number in range(3)]
    for artifact in artifacts:
        store.put(artifact)
    years = 10 * 365 * 86400
    for entry in store.entries():
        if entry.key_digest == artifacts[1].key_digest:
            os.utime(entry.path, (time.time() + years,) * 2)
    store.prune(max_bytes=2 * 4096)
    assert {entry.key_digest for entry in store.entries()} == {
        artifacts[0].key_digest,
        artifacts[2].key_digest,
    }
