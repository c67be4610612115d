"""Who gets what of the programs that were submitted, and in which order they are compiled."""

from __future__ import annotations

import gc
import sys
import threading
import traceback
import weakref
from collections.abc import Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Future,
    as_completed,
    wait,
)
from functools import partial

import pytest

from tests.faults import interrupt_everywhere
from tests.jobs.programs import PATIENCE, Desk, executable, own_threads, wait_for
from twinjit.errors import (
    CompilationCancelledError,
    CompilationTimeoutError,
    ExecutorError,
    LoweringError,
)

KEY = bytes(32)


@pytest.fixture
def desk() -> Iterator[Desk]:
    made = Desk(1)
    yield made
    made.leave.set()
    made.jobs.close(cancel=True)
    wait_for(lambda: not own_threads())


def test_a_future_gets_its_executable(desk):
    future = desk.submit("a")
    desk.leave.set()
    assert future.result(PATIENCE) is executable()
    assert (future.done(), future.running(), future.cancelled()) == (True, False, False)
    assert not future.cancel()
    assert future.exception() is None


def test_no_more_threads_than_workers_and_none_without_work():
    desk = Desk(3)
    futures = [desk.submit(str(n)) for n in range(10)]
    wait_for(lambda: len(desk.begun) == 3)
    assert len(own_threads()) == 3
    assert [future.running() for future in futures] == [True] * 3 + [False] * 7
    desk.leave.set()
    desk.jobs.close(cancel=False)
    assert [future.result(0) for future in futures] == [executable()] * 10
    wait_for(lambda: not own_threads())


def test_the_most_urgent_first_and_ties_in_order(desk):
    (busy,) = desk.occupy()
    urgency = {"a": 0, "b": 5, "c": -1, "d": 5, "e": 0}
    futures = [desk.submit(name, priority=urgency[name]) for name in urgency]
    desk.leave.set()
    wait([busy, *futures])
    assert desk.begun[1:] == ["b", "d", "a", "e", "c"]


def test_who_joins_a_waiting_job_can_make_it_more_urgent(desk):
    (busy,) = desk.occupy()
    first = desk.submit("a", request=KEY, priority=1)
    others = [desk.submit("b", priority=2), desk.submit("c", priority=0)]
    joined = desk.submit("a", request=KEY, priority=3)
    lower = desk.submit("a", request=KEY, priority=-3)
    desk.leave.set()
    wait([busy, first, *others, joined, lower])
    assert desk.begun[1:] == ["a", "b", "c"]


def test_one_compilation_for_one_request(desk):
    futures = [desk.submit("a", request=KEY) for _ in range(64)]
    wait_for(lambda: desk.requests == [KEY])
    others = [desk.submit("b"), desk.submit("b")]
    desk.leave.set()
    assert {future.result(PATIENCE) for future in futures} == {executable()}
    wait(others)
    assert desk.begun == ["a", "b", "b"]
    desk.submit("a", request=KEY).result(PATIENCE)
    assert desk.begun == ["a", "b", "b", "a"]


def test_each_future_has_an_exception_of_its_own(desk):
    cause = ValueError("why")
    desk.failure = LoweringError("no")
    desk.failure.__cause__ = cause
    futures = [desk.submit("a", request=KEY) for _ in range(3)]
    desk.leave.set()
    errors = [future.exception(PATIENCE) for future in futures]
    assert len({id(error) for error in errors}) == 3
    for error in errors:
        assert (type(error), str(error), error.__cause__) == (LoweringError, "no", cause)
        assert traceback.extract_tb(error.__traceback__)[-1].name == "_compile"
    before = [len(traceback.extract_tb(error.__traceback__)) for error in errors]
    with pytest.raises(LoweringError):
        futures[0].result()
    after = [len(traceback.extract_tb(error.__traceback__)) for error in errors]
    assert after[0] > before[0]
    assert after[1:] == before[1:]


def test_an_exception_that_cannot_be_copied_is_shared(desk):
    class Odd(Exception):
        def __init__(self, one: object, two: object) -> None:
            super().__init__(one)

    desk.failure = Odd(1, 2)
    futures = [desk.submit("a", request=KEY) for _ in range(2)]
    desk.leave.set()
    assert [future.exception(PATIENCE) for future in futures] == [desk.failure] * 2


def test_what_waits_is_cancelled_before_it_begins(desk):
    (busy,) = desk.occupy()
    future = desk.submit("a")
    assert future.cancel()
    assert future.cancel()
    desk.leave.set()
    busy.result(PATIENCE)
    desk.jobs.close(cancel=False)
    assert desk.begun == ["busy 0"]


def test_what_runs_is_cancelled_at_once_and_told_to_end(desk):
    (busy,) = desk.occupy()
    seen: list[Future] = []
    busy.add_done_callback(seen.append)
    assert busy.running()
    assert busy.cancel()
    assert seen == [busy]
    assert busy.cancelled()
    assert not busy.running()
    for ask in (busy.result, busy.exception):
        with pytest.raises(CancelledError):
            ask()
    wait_for(lambda: desk.stopped == ["busy 0"])


@pytest.mark.parametrize("what", ["wait", "first", "as_completed", "result"])
def test_whoever_waits_sees_that_it_is_cancelled(desk, what):
    (busy,) = desk.occupy()
    other = desk.submit("other")

    def look() -> None:
        if what == "result":
            with pytest.raises(CancelledError):
                busy.result()
        elif what == "as_completed":
            next(as_completed([busy, other]))
        elif what == "first":
            wait([busy, other], return_when=FIRST_COMPLETED)
        else:
            wait([busy])
        ended.set()

    ended = threading.Event()
    thread = threading.Thread(target=look)
    thread.start()
    assert not ended.wait(0.05)
    busy.cancel()
    assert ended.wait(PATIENCE)
    thread.join()


def test_one_who_leaves_takes_nothing_from_others(desk):
    (busy,) = desk.occupy()
    first, second, third = (desk.submit("a", request=KEY) for _ in range(3))
    first.cancel()
    desk.leave.set()
    busy.result(PATIENCE)
    assert second.result(PATIENCE) is executable()
    assert third.result(PATIENCE) is executable()
    assert desk.stopped == []


def test_the_last_who_leaves_stops_it_and_who_comes_then_starts_anew(desk):
    first, second = (desk.submit("a", request=KEY) for _ in range(2))
    wait_for(lambda: desk.begun)
    first.cancel()
    second.cancel()
    third = desk.submit("a", request=KEY)
    desk.leave.set()
    assert third.result(PATIENCE) is executable()
    assert desk.begun == ["a", "a"]


def test_many_cancel_one_future_at_once():
    desk = Desk(1)
    for _ in range(100):
        future = desk.submit("a")
        seen: list[Future] = []
        future.add_done_callback(seen.append)
        together = threading.Barrier(4)

        def cancel() -> None:
            together.wait()  # noqa: B023
            assert future.cancel()  # noqa: B023

        threads = [threading.Thread(target=cancel) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert seen == [future]
        assert wait([future], PATIENCE).done == {future}
    desk.jobs.close(cancel=False)


def test_each_future_has_its_own_deadline(desk):
    soon, late = (desk.submit("a", request=KEY, timeout=each) for each in (0.05, 600))
    forever = desk.submit("a", request=KEY)
    with pytest.raises(CompilationTimeoutError, match=r"within 0\.05 s"):
        soon.result(PATIENCE)
    assert not late.done()
    desk.leave.set()
    assert late.result(PATIENCE) is executable()
    assert forever.result(PATIENCE) is executable()
    wait_for(lambda: not own_threads())  # though 600 s are not over


def test_a_deadline_counts_the_wait_and_ends_what_nobody_waits_for(desk):
    (busy,) = desk.occupy()
    waiting = desk.submit("a", timeout=0.02)
    assert isinstance(waiting.exception(PATIENCE), CompilationTimeoutError)
    busy.cancel()
    running = desk.submit("b", timeout=0.05)
    assert isinstance(running.exception(PATIENCE), CompilationTimeoutError)
    desk.jobs.close(cancel=False)
    assert desk.begun == ["busy 0", "b"]
    assert desk.stopped == ["busy 0", "b"]


@pytest.mark.parametrize("timeout", [0, -1.0])
def test_no_time_at_all(desk, timeout):
    desk.occupy()
    assert isinstance(
        desk.submit("a", timeout=timeout).exception(PATIENCE), CompilationTimeoutError
    )


def test_all_the_time_there_is(desk):
    future = desk.submit("a", timeout=float("inf"))
    desk.leave.set()
    assert future.result(PATIENCE) is executable()


def test_deadlines_in_any_order(desk):
    desk.occupy()
    futures = [desk.submit("a", timeout=each) for each in (0.2, 0.05, 600, 0.1)]
    ended = [futures.index(each) for each in as_completed([*futures[:2], futures[3]], PATIENCE)]
    assert ended == [1, 3, 0]
    assert not futures[2].done()


def test_close_waits(desk):
    futures = [desk.submit(str(n)) for n in range(3)]
    threading.Timer(0.05, desk.leave.set).start()
    desk.jobs.close(cancel=False)
    assert [each.result(0) for each in futures] == [executable()] * 3
    with pytest.raises(ExecutorError, match="closed"):
        desk.submit("late")
    desk.jobs.close(cancel=False)
    desk.jobs.close(cancel=True)


def test_close_cancels(desk):
    futures = [desk.submit(str(n)) for n in range(3)]
    wait_for(lambda: desk.begun)
    desk.jobs.close(cancel=True)
    assert all(each.cancelled() for each in futures)
    assert desk.stopped == ["0"]


def test_close_in_a_callback_does_not_wait_for_itself(desk):
    closed = threading.Event()
    future, other = desk.submit("a"), desk.submit("b")
    future.add_done_callback(lambda _: (desk.jobs.close(cancel=True), closed.set()))
    desk.leave.set()
    assert closed.wait(PATIENCE)
    assert other.cancelled()


def test_close_in_a_callback_of_a_late_future_does_not_wait(desk):
    """Nor does it end what the others use before they have ended."""
    (running,) = desk.occupy()
    calls = []
    # Were it late before it has its callback, that would run in this thread, and wait.
    rescue = threading.Timer(PATIENCE, desk.leave.set)
    rescue.daemon = True
    rescue.start()
    closing, late = desk.submit("a", timeout=0.5), desk.submit("b", timeout=0.6)
    closing.add_done_callback(
        lambda _: desk.jobs.close(cancel=False, then=lambda: calls.append(running.done()))
    )
    assert isinstance(late.exception(PATIENCE), CompilationTimeoutError)
    assert not running.done()
    assert calls == []
    rescue.cancel()
    desk.leave.set()
    wait_for(lambda: calls)
    assert calls == [True]


@pytest.mark.parametrize("timeout", [None, PATIENCE])
def test_an_exception_of_a_signal_handler_costs_nobody_else_anything(timeout):
    desk = Desk(1)
    desk.leave.set()
    work = partial(desk.submit, "a", request=KEY, timeout=timeout)
    moments = 0
    for moments in interrupt_everywhere(work):  # noqa: B007 -- used below
        assert work().result(PATIENCE) is executable()
        assert desk.submit("b").result(PATIENCE) is executable()
        wait_for(lambda: not own_threads())
        assert not desk.jobs._jobs
        assert not desk.jobs._by_request
    assert moments > 10
    desk.jobs.close(cancel=False)


def test_a_hook_for_exceptions_that_raises_harms_nobody(desk, monkeypatch, capsys):
    monkeypatch.setattr(threading, "excepthook", lambda _: sys.exit("of the hook"))
    late, future = desk.submit("late", timeout=0.001), desk.submit("a", request=KEY)
    joined = desk.submit("a", request=KEY)
    for each in (late, future):
        each.add_done_callback(lambda _: sys.exit("of the callback"))
    assert isinstance(late.exception(PATIENCE), CompilationTimeoutError)
    late_too = desk.submit("late, too", timeout=0.001)
    assert isinstance(late_too.exception(PATIENCE), CompilationTimeoutError)
    desk.leave.set()
    assert joined.result(PATIENCE) is executable()
    assert desk.submit("b").result(PATIENCE) is executable()
    desk.jobs.close(cancel=False)
    assert "of the hook" in capsys.readouterr().err


def test_a_callback_that_raises_harms_nobody(desk, monkeypatch):
    told = []
    monkeypatch.setattr(threading, "excepthook", lambda what: told.append(what.exc_type))

    def fail(_: object) -> None:
        raise KeyboardInterrupt

    futures = [desk.submit("a", request=KEY) for _ in range(3)]
    futures[0].add_done_callback(fail)
    next_one = desk.submit("b")
    desk.leave.set()
    assert [each.result(PATIENCE) for each in futures] == [executable()] * 3
    assert next_one.result(PATIENCE) is executable()
    assert told == [KeyboardInterrupt]


def test_without_threads_it_says_so(desk, monkeypatch):
    def start(_: object) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        with pytest.raises(ExecutorError, match="can't start new thread"):
            desk.submit("a")
    desk.leave.set()
    assert desk.submit("b").result(PATIENCE) is executable()
    assert desk.begun == ["b"]
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        with pytest.raises(ExecutorError, match="can't start new thread"):
            desk.submit("a", timeout=5)


def test_a_missing_thread_leaves_work_to_the_others(monkeypatch):
    desk = Desk(2)
    desk.occupy()
    real = threading.Thread.start

    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    future = desk.submit("a")
    monkeypatch.setattr(threading.Thread, "start", real)
    desk.leave.set()
    assert future.result(PATIENCE) is executable()
    desk.jobs.close(cancel=False)


def test_nothing_keeps_what_has_ended():
    desk = Desk(1)
    desk.failure = LoweringError("no")
    desk.leave.set()
    futures = [desk.submit("a", request=KEY, timeout=600), desk.submit("b")]
    wait(futures)
    wait_for(lambda: not own_threads())
    desk.failure = None
    ended = [weakref.ref(future) for future in futures]
    gc.disable()
    try:
        del futures
        assert [each() for each in ended] == [None, None]
    finally:
        gc.enable()


def test_a_job_that_was_stopped_raises_nothing_into_anyone(desk):
    future = desk.submit("a")
    wait_for(lambda: desk.begun)
    errors: list[BaseException | None] = []
    future.add_done_callback(lambda each: errors.append(each.cancelled()))
    future.cancel()
    desk.jobs.close(cancel=False)
    assert errors == [True]
    assert desk.stopped == ["a"]
    with pytest.raises(CancelledError) as caught:
        future.result()
    assert not isinstance(caught.value, CompilationCancelledError)
