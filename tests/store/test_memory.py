from __future__ import annotations

import gc
import threading
import weakref
from collections import OrderedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinjit.store.base import StoreStats
from twinjit.store.memory import LruCache


class Value:
    """Something that can be watched."""


def test_get_counts_hits_and_misses() -> None:
    cache: LruCache[str, int] = LruCache(10)
    assert cache.get("a") is None
    assert cache.put("a", 1, 4)
    assert cache.get("a") == 1
    assert cache.stats() == StoreStats(entries=1, bytes=4, hits=1, misses=1, puts=1)


def test_the_value_used_longest_ago_goes_first() -> None:
    cache: LruCache[str, int] = LruCache(10)
    for key in "abc":
        cache.put(key, ord(key), 3)
    cache.get("a")
    cache.put("d", 4, 3)
    assert [key for key in "abcd" if key in cache] == ["a", "c", "d"]
    assert cache.stats().evictions == 1


def test_replacing_a_value_frees_its_bytes() -> None:
    cache: LruCache[str, int] = LruCache(10)
    cache.put("a", 1, 8)
    cache.put("a", 2, 3)
    assert cache.get("a") == 2
    assert cache.stats() == StoreStats(entries=1, bytes=3, hits=1, puts=2)


def test_a_value_beyond_the_bound_is_not_held_and_displaces_only_its_key() -> None:
    cache: LruCache[str, int] = LruCache(10)
    cache.put("a", 1, 3)
    cache.put("b", 1, 3)
    assert not cache.put("a", 2, 11)
    assert "a" not in cache
    assert "b" in cache


def test_a_bound_of_zero_keeps_nothing() -> None:
    cache: LruCache[str, int] = LruCache(0)
    assert not cache.put("a", 1, 0)
    assert len(cache) == 0


def test_negative_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="-1"):
        LruCache(-1)
    with pytest.raises(ValueError, match="-2"):
        LruCache[str, int](1).put("a", 1, -2)


def test_dropped_values_are_let_go_of_outside_the_lock() -> None:
    cache: LruCache[str, Value] = LruCache(1)
    free_when_destroyed = []

    def destroyed() -> None:
        free = cache._lock.acquire(blocking=False)
        free_when_destroyed.append(free)
        if free:
            cache._lock.release()

    def put(key: str) -> None:
        value = Value()
        weakref.finalize(value, destroyed)
        cache.put(key, value, 1)

    put("a")
    put("b")  # evicts
    put("b")  # replaces
    cache.clear()
    put("c")
    cache.remove("c")
    gc.collect()
    assert free_when_destroyed == [True] * 4


def test_an_evicted_value_stays_usable_for_its_holder() -> None:
    cache: LruCache[str, Value] = LruCache(1)
    value = Value()
    cache.put("a", value, 1)
    cache.put("b", Value(), 1)
    assert "a" not in cache
    assert isinstance(value, Value)


def test_clear_and_remove() -> None:
    cache: LruCache[str, int] = LruCache(10)
    cache.put("a", 1, 3)
    cache.put("b", 2, 3)
    assert cache.remove("a") == 1
    assert cache.remove("a") is None
    cache.clear()
    assert cache.stats() == StoreStats(puts=2)


@given(
    st.integers(0, 20),
    st.lists(
        st.tuples(st.sampled_from(["get", "put", "remove"]), st.integers(0, 5), st.integers(0, 9))
    ),
)
def test_agrees_with_a_plain_model(bound: int, steps: list[tuple[str, int, int]]) -> None:
    cache: LruCache[int, int] = LruCache(bound)
    model: OrderedDict[int, int] = OrderedDict()
    for step, key, size in steps:
        if step == "get":
            assert cache.get(key) == model.get(key)
            if key in model:
                model.move_to_end(key)
        elif step == "remove":
            assert cache.remove(key) == model.pop(key, None)
        else:
            model.pop(key, None)
            if bound and size <= bound:
                model[key] = size
            cache.put(key, size, size)
            while sum(model.values()) > bound:
                model.popitem(last=False)
        assert list(cache._entries) == list(model)
        assert cache.stats().bytes == sum(model.values()) <= bound


def test_threads() -> None:
    cache: LruCache[int, tuple[int, int]] = LruCache(500)
    barrier = threading.Barrier(8)
    wrong: list[object] = []
    rounds = 2000

    def work(seed: int) -> None:
        barrier.wait()
        for step in range(rounds):
            key = (seed * 31 + step * 7) % 40
            value = cache.get(key)
            if value is not None and value[0] != key:
                wrong.append((key, value))
            cache.put(key, (key, step), 10 + key)
            if step % 100 == 0:
                cache.remove(key)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stats = cache.stats()
    assert not wrong
    assert stats.hits + stats.misses == stats.puts == 8 * rounds
    assert stats.bytes == sum(size for _, size in cache._entries.values()) <= 500
    assert stats.entries == len(cache)
