from __future__ import annotations

import multiprocessing
import os
import signal
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path
from random import Random

import pytest

from tests.samples import numbered_artifact
from tests.store.entries import BLOCK, files_in
from twinjit.artifact import Artifact
from twinjit.key import Key
from twinjit.store.disk import DiskStore, Pruned

spawn = multiprocessing.get_context("spawn")

RACED_KEY = Key((("raced", "yes"),))


def variant(number: int) -> Artifact:
    """Make one of several artifacts under one key; each has its own size and bytes."""
    return Artifact.build(
        key=RACED_KEY,
        object_code=Random(number).randbytes(1000 + 40_000 * number),
        signatures=[],
        report={"writer": number},
        target={},
    )


def race(root: str, number: int, barrier: Barrier) -> None:
    store = DiskStore(root)
    mine = variant(number)
    barrier.wait()
    for _ in range(300):
        assert store.put(mine)
        found = store.get(RACED_KEY.digest)
        assert found is not None
        assert found == variant(found.report["writer"])
    assert store.stats().faults == 0


def put_distinct(root: str, first: int, barrier: Barrier) -> None:
    store = DiskStore(root, max_bytes=50 * BLOCK)
    barrier.wait()
    for number in range(first, first + 200):
        assert store.put(numbered_artifact(number, size=6000))
        store.get(numbered_artifact(number - 5, size=6000).key_digest)
    assert store.stats().faults == 0


def publish_forever(root: str, size: int) -> None:
    store = DiskStore(root, max_bytes=1024**4)
    artifact = numbered_artifact(1, size=size)
    while True:
        store.put(artifact)
        os.unlink(next(file for file in files_in(Path(root)) if file.suffix == ".tj"))


def run(target: object, root: Path, numbers: list[int]) -> None:
    barrier = spawn.Barrier(len(numbers))
    workers = [
        spawn.Process(target=target, args=(str(root), number, barrier))  # type: ignore[arg-type]  # any function
        for number in numbers
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0


def test_processes_race_on_one_key(tmp_path: Path) -> None:
    run(race, tmp_path, [0, 1, 2, 3])
    found = DiskStore(tmp_path).get(RACED_KEY.digest)
    assert found is not None
    assert found == variant(found.report["writer"])
    assert os.listdir(tmp_path / "v1" / "tmp") == []


def test_the_bound_holds_among_processes(tmp_path: Path) -> None:
    run(put_distinct, tmp_path, [0, 200, 400])
    store = DiskStore(tmp_path, max_bytes=50 * BLOCK)
    assert store.put(numbered_artifact(1000))
    # One entry of two blocks per process may have been under way during the last count.
    assert 30 * BLOCK <= store.stats().bytes <= (50 + 2 * 3) * BLOCK


def test_a_writer_killed_while_publishing_leaves_no_entry(tmp_path: Path) -> None:
    staging = tmp_path / "v1" / "tmp"
    writer = spawn.Process(target=publish_forever, args=(str(tmp_path), 50_000_000))
    writer.start()
    deadline = time.monotonic() + 60
    while not (staging.is_dir() and os.listdir(staging)):
        assert time.monotonic() < deadline
    assert writer.pid is not None
    os.kill(writer.pid, signal.SIGKILL)
    writer.join()
    left = os.listdir(staging)
    if not left:
        pytest.skip("the writer finished this file before the signal came")
    store = DiskStore(tmp_path)
    assert list(store.digests()) == []
    assert store.get(numbered_artifact(1).key_digest) is None
    assert store.stats().faults == 0
    assert store.prune() == Pruned(temporaries=1)
    assert os.listdir(staging) == []
    assert store.put(numbered_artifact(1))
