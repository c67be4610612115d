"""Work in threads whose results come in order."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from random import Random

import pytest

from twinjit.sql.execution.ordered import ordered_map

THREADS = [1, 2, 4]
WAIT = 30  # seconds, for what happens at once


class Items:
    """Numbers from 0 on, which know how many were taken."""

    def __init__(self, count: int, fails: bool = False) -> None:
        self.taken = 0
        self._count, self._fails = count, fails

    def __iter__(self) -> Iterator[int]:
        for number in range(self._count):
            self.taken += 1
            yield number
        if self._fails:
            raise OSError("no more items")


@pytest.mark.parametrize("threads", THREADS)
def test_results_are_in_order(threads: int) -> None:
    random = Random(3)
    waits = [random.choice([0, 0, 0.002, 0.01]) for _ in range(100)]

    def work(number: int) -> int:
        time.sleep(waits[number])
        return number * number

    assert list(ordered_map(work, range(100), threads)) == [each * each for each in range(100)]
    assert list(ordered_map(work, [], threads)) == []
    assert list(ordered_map(work, [7], threads)) == [49]


def test_one_thread_is_the_callers() -> None:
    found = set(ordered_map(lambda _: threading.get_ident(), range(5), 1))
    assert found == {threading.get_ident()}
    items = Items(5)
    results = ordered_map(str, items, 1)
    assert items.taken == 0
    assert next(results) == "0"
    assert items.taken == 1


def test_threads_work_at_once_and_no_more_than_they_are() -> None:
    barrier = threading.Barrier(3)
    lock = threading.Lock()
    running, most = 0, 0

    def work(_: int) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        barrier.wait(timeout=WAIT)  # which three threads pass, or none
        with lock:
            running -= 1

    list(ordered_map(work, range(30), 3))
    assert most == 3


@pytest.mark.parametrize("threads", [2, 4])
def test_few_items_are_taken_ahead(threads: int) -> None:
    """However slow the first is, and however slow who takes the results is."""
    go = threading.Event()
    items = Items(1000)
    started = []

    def work(number: int) -> int:
        started.append(number)
        if number == 0:
            assert go.wait(WAIT)
        return number

    results = ordered_map(work, items, threads)
    first: list[int] = []
    taker = threading.Thread(target=lambda: first.append(next(results)))
    taker.start()
    deadline = time.monotonic() + WAIT
    while items.taken < 2 * threads:
        assert time.monotonic() < deadline
        time.sleep(0.001)
    time.sleep(0.05)  # in which it could take more
    assert items.taken == 2 * threads
    go.set()
    taker.join(WAIT)
    assert first == [0]
    for expected in range(1, 100):
        assert next(results) == expected
        assert items.taken <= expected + 2 * threads
        time.sleep(0.0005)
    results.close()
    assert len(started) <= items.taken < 100 + 2 * threads


def test_what_is_done_is_given_before_slow_items_are_taken() -> None:
    go = threading.Event()

    def slow() -> Iterator[int]:
        yield 0
        assert go.wait(WAIT)
        yield 1

    results = ordered_map(lambda number: number, slow(), 4)
    assert next(results) == 0  # and not after the wait
    go.set()
    assert list(results) == [1]


@pytest.mark.parametrize("threads", THREADS)
def test_the_first_failure_is_raised_after_what_is_before_it(threads: int) -> None:
    second = threading.Event()

    def work(number: int) -> int:
        if number == 5:
            second.set()
            raise ValueError("five")
        if number == 3:
            # The later failure is there first, where a thread is free for it.
            second.wait(0.2 if threads > 2 else 0)
            raise ValueError("three")
        return number

    given: list[int] = []
    with pytest.raises(ValueError, match="three"):
        given.extend(ordered_map(work, range(10), threads))  # which keeps what came before
    assert given == [0, 1, 2]


@pytest.mark.parametrize("threads", THREADS)
def test_results_before_a_failure_are_given(threads: int) -> None:
    def work(number: int) -> int:
        if number < 3:
            time.sleep(0.02)
            return number
        raise ValueError("three")

    results = ordered_map(work, range(100), threads)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="three"):
        next(results)


@pytest.mark.parametrize("threads", THREADS)
def test_items_that_fail_do_so_in_their_turn(threads: int) -> None:
    """What fails, and what is given before, is the same for each number of threads."""

    def slow(number: int) -> int:
        time.sleep(0.02)
        return number

    results = ordered_map(slow, Items(3, fails=True), threads)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(OSError, match="no more items"):
        next(results)

    def failing(number: int) -> int:
        time.sleep(0.02)
        raise ValueError(f"work {number}")

    with pytest.raises(ValueError, match="work 0"):
        list(ordered_map(failing, Items(1, fails=True), threads))


@pytest.mark.parametrize("threads", [2, 4])
def test_what_is_not_wanted_any_more_is_not_begun(threads: int) -> None:
    before = threading.active_count()
    begun = []

    def work(number: int) -> int:
        begun.append(number)
        time.sleep(0.01)
        return number

    results = ordered_map(work, Items(1000), threads)
    assert next(results) == 0
    results.close()
    assert len(begun) <= 1 + 2 * threads
    assert threading.active_count() == before
