"""Exceptions of signal handlers, in the middle of whatever a store does."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults import call_at, interrupt_everywhere, open_descriptors
from tests.flights import KEY, count_locks
from tests.samples import sample_artifact
from twinjit.store.disk import DiskStore
from twinjit.store.memory import LruCache


def evict(store: DiskStore) -> object:
    artifact = sample_artifact()
    return store.put(artifact), store.prune(max_bytes=0), store.get(artifact.key_digest)


def take_a_turn(store: DiskStore) -> None:
    with store.turn(KEY, 0):
        pass


def keep_the_account(store: DiskStore) -> None:
    store.account.add("events")
    store.account.flush()
    store.account.totals()


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("work", [evict, take_a_turn, keep_the_account])
def test_no_descriptor_and_no_lock_stays(
    work: Callable[[DiskStore], object], tmp_path: Path
) -> None:
    store = DiskStore(tmp_path)
    work(store)
    before = open_descriptors()
    moments = 0
    for moments in interrupt_everywhere(lambda: work(store), every=3):  # noqa: B007 -- used below
        assert open_descriptors() == before
        assert count_locks(tmp_path / "v1" / "locks") == 0
    assert moments > 10
    staging = tmp_path / "v1" / "tmp"
    assert not staging.exists() or not list(staging.iterdir())


def test_the_memory_tier_counts_its_bytes_right() -> None:
    cache: LruCache[int, str] = LruCache(10)

    def work() -> None:
        for key in range(8):
            cache.put(key, "value", 3)
        cache.remove(7)

    for _ in interrupt_everywhere(work):
        assert cache.stats().bytes == 3 * len(cache)


def test_a_child_forked_by_a_signal_handler_goes_on(tmp_path: Path) -> None:
    """At each moment of a put, a get, a turn and a prune, the child does the rest as well."""
    artifact = sample_artifact()
    store = DiskStore(tmp_path)

    def work() -> None:
        with store.turn(KEY, 0):
            assert store.put(artifact)
            assert store.get(artifact.key_digest)
            store.prune()

    work()
    for moment in range(0, 10_000, 3):
        child = 0

        def fork() -> None:
            nonlocal child
            child = os.fork()

        is_over = not call_at(work, moment, fork)
        if child == 0 and not is_over:
            os._exit(store.stats().faults)
        if is_over:
            break
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert store.stats().faults == 0
    assert moment > 100
