"""One piece of work at a time for each key."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from twinjit.once import Once


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


def test_failure_frees_the_next_and_nothing_is_kept():
    once = Once()
    with pytest.raises(RuntimeError), once.turn("key"):
        raise RuntimeError
    with once.turn("key"):
        pass
    assert once._turns == {}


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
