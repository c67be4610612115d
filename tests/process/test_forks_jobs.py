"""Forks while programs are compiled in the background."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import as_completed, wait

import pytest

import twinjit
from tests.jobs.programs import PATIENCE, Desk, adds, executable, own_threads, wait_for
from tests.process.test_forks import fork, status_of, threads
from twinjit.errors import CompilationTimeoutError, ForkError

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


def test_futures_of_the_parent_fail_in_the_child():
    desk = Desk(1)
    (running,) = desk.occupy()
    waiting = [desk.submit("a", timeout=600), desk.submit("b")]
    called = []
    waiting[0].add_done_callback(called.append)
    cancelled = desk.submit("c")
    cancelled.cancel()

    def look() -> None:
        for future in (running, *waiting):
            assert future.done()
            assert not future.running()
            assert not future.cancel()
            with pytest.raises(ForkError, match="submit it here"):
                future.result(0)
        assert len({id(each.exception()) for each in (running, *waiting)}) == 3
        assert wait([running, *waiting], 0).not_done == set()
        assert len(list(as_completed([running, *waiting], 0))) == 3
        assert cancelled.cancelled()
        assert called == []

    assert status_of(fork(look)) == 0
    desk.leave.set()
    assert [each.result(PATIENCE) for each in (running, *waiting)] == [executable()] * 3
    assert called == [waiting[0]]
    desk.jobs.close(cancel=False)


def test_what_has_ended_is_the_childs_too():
    compiler = twinjit.Compiler(cache=False)
    future = compiler.submit(adds(4))
    future.result(PATIENCE)

    def look() -> None:
        assert future.result(0).f(1) == 5

    assert status_of(fork(look)) == 0


def test_a_child_submits_beside_its_parent():
    compiler = twinjit.Compiler(cache=False, max_workers=2)
    busy = [compiler.submit(adds(n), timeout=600) for n in range(10)]

    def work() -> None:
        assert [each.f(1) for each in compiler.map(map(adds, range(5, 15)))] == [*range(6, 16)]
        late = compiler.submit(adds(-1), timeout=0)
        assert isinstance(late.exception(PATIENCE), CompilationTimeoutError)
        compiler.close()
        assert own_threads() == []

    for _ in range(5):
        assert status_of(fork(work)) == 0
    wait(busy, PATIENCE)
    compiler.close()


def test_forks_at_any_moment_of_futures():
    compiler = twinjit.Compiler(cache=False, max_workers=3)

    def use(number: int) -> None:
        futures = [compiler.submit(adds(number % 7), timeout=30) for _ in range(3)]
        futures[0].cancel()
        compiler.submit("wrong").exception(PATIENCE)
        assert futures[1].result(PATIENCE).f(1) == number % 7 + 1

    seen: list[twinjit.CompileFuture] = []

    def look() -> None:
        for each in seen[-5:]:
            assert each.done()
        assert compiler.submit(adds(3)).result(PATIENCE).f(1) == 4

    with threads(use, 3):
        for number in range(60):
            seen.append(compiler.submit(adds(number % 11)))
            assert status_of(fork(look)) == 0
    compiler.close()
    wait_for(lambda: not own_threads())


def test_a_callback_may_fork():
    desk = Desk(1)
    statuses = []

    def use(_: object) -> None:
        statuses.append(status_of(fork(lambda: None)))

    futures = [desk.submit("a", request=bytes(32)) for _ in range(2)]
    futures[0].add_done_callback(use)
    desk.leave.set()
    wait(futures, PATIENCE)
    desk.jobs.close(cancel=False)
    assert statuses == [0]


def test_a_child_of_a_thread_that_waits_for_none():
    """A fork takes the locks of futures' jobs for moments only."""
    desk = Desk(2)
    desk.occupy(2)
    start = time.monotonic()
    for _ in range(20):
        child = os.fork()
        if child == 0:
            os._exit(threading.active_count())
        assert status_of(child) == 1
    desk.jobs.close(cancel=True)
    assert time.monotonic() - start < PATIENCE
