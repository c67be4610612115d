"""One piece of work at a time for each key."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections import Counter

import pytest

from twinjit.errors import CompilationError, Diagnostic, LoweringError
from twinjit.once import Once

TURN = Once.turn.__wrapped__.__code__


def start(function, count):
    threads = [threading.Thread(target=function) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads


def test_turns_of_one_key_do_not_overlap():
    once, inside, most = Once(), [], []
    together = threading.Barrier(16)

    def work():
        together.wait()
        with once.turn("key"):
            inside.append(1)
            time.sleep(0.001)
            most.append(len(inside))
            inside.pop()

    for thread in start(work, 16):
        thread.join()
    assert most == [1] * 16


def test_keys_do_not_wait_for_each_other():
    once, both = Once(), threading.Barrier(2, timeout=10)

    def work(key):
        with once.turn(key):
            both.wait()

    first, second = (threading.Thread(target=work, args=[key]) for key in "ab")
    first.start()
    second.start()
    first.join()
    second.join()
    assert not both.broken


@pytest.mark.parametrize("kind", [RuntimeError, CompilationError])
def test_failure_frees_the_next_and_nothing_is_kept(kind):
    once = Once()
    with pytest.raises(kind), once.turn("key"):
        raise kind("no")
    with once.turn("key"):
        pass
    assert once._turns == {}


def waiting():
    """Count the threads that wait for a turn."""
    frames = sys._current_frames().values()
    return sum(each.f_code is TURN and "turn" in each.f_locals for each in frames)


def fail_before_waiting_threads(error, count):
    """Fail in one turn while threads wait for it, which would fail in theirs; return all errors."""
    once, tried, errors = Once(), [], []

    def work():
        try:
            with once.turn("key"):
                tried.append(1)
                while waiting() < count - 1:
                    time.sleep(0.001)
                raise error
        except BaseException as raised:
            errors.append(raised)

    for thread in start(work, count):
        thread.join()
    assert once._turns == {}
    return len(tried), errors


def test_those_that_waited_for_a_failing_compilation_get_its_error():
    diagnostics = (Diagnostic("error", "not lowered"),)
    tried, errors = fail_before_waiting_threads(LoweringError("no", diagnostics=diagnostics), 8)
    assert tried == 1
    assert len(errors) == 8
    assert {(type(each), str(each)) for each in errors} == {
        (LoweringError, "no\n  error: not lowered")
    }
    assert all(each.diagnostics == diagnostics for each in errors)


def test_errors_of_several_threads_share_nothing_that_changes():
    _, errors = fail_before_waiting_threads(CompilationError("no"), 4)
    assert len(set(map(id, errors))) == 4
    for each in errors:
        assert each.__cause__ is None
        assert each.__context__ is None
    frames = [frame for each in errors for frame, _ in traceback.walk_tb(each.__traceback__)]
    assert len(set(map(id, frames))) == len(frames)
    errors[0].message = "changed"
    assert [each.message for each in errors[1:]] == ["no"] * 3


class Cancelled(BaseException):
    pass


def test_an_error_of_the_thread_alone_lets_the_next_try():
    once, tried, results = Once(), [], []
    together = threading.Barrier(4)

    def work():
        together.wait()
        try:
            with once.turn("key"):
                tried.append(1)
                while len(tried) == 1 and waiting() < 3:
                    time.sleep(0.001)
                if len(tried) < 3:
                    raise MemoryError if len(tried) == 1 else Cancelled
                results.append(None)
        except (MemoryError, Cancelled) as raised:
            results.append(type(raised))

    for thread in start(work, 4):
        thread.join()
    assert Counter(results) == {MemoryError: 1, Cancelled: 1, None: 2}


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_forked_child_does_not_wait_for_its_parents_threads():
    once, entered, leave = Once(), threading.Event(), threading.Event()

    def work():
        with once.turn("key"):
            entered.set()
            leave.wait()

    (thread,) = start(work, 1)
    entered.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends a child that waits
        with once.turn("key"):
            os._exit(7)
    leave.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_forked_child_may_leave_its_turn():
    once = Once()
    with once.turn("key"):
        child = os.fork()
    if child == 0:
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
