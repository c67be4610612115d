"""Turns belong to the process that took them, whatever it forks."""

from __future__ import annotations

import os
import signal
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from tests.flights import KEY, PATIENCE, Folder, descriptors, never, spawn, start


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def fork_then_wait(path: Path, pipe: Connection, *, inside: bool) -> None:
    """Take the turn, fork a child, tell its id, and wait to be killed."""
    folder = Folder(path)
    ready = threading.Event()

    def hold() -> None:
        with folder.flights.turn(KEY, PATIENCE, folder.entry):
            ready.set()
            time.sleep(PATIENCE)

    def live_on() -> None:
        child = os.fork()
        if child == 0:
            time.sleep(PATIENCE)
            os._exit(0)
        pipe.send(child)
        time.sleep(PATIENCE)

    if inside:
        with folder.flights.turn(KEY, PATIENCE, folder.entry):
            live_on()
    threading.Thread(target=hold, daemon=True).start()
    ready.wait()
    live_on()


@pytest.mark.parametrize("inside", [False, True])
def test_a_forked_child_does_not_keep_its_dead_parents_turn(
    folder: Folder, tmp_path: Path, inside: bool
) -> None:
    mine, its = spawn.Pipe()
    parent = spawn.Process(target=fork_then_wait, args=(tmp_path, its), kwargs={"inside": inside})
    parent.start()
    child = mine.recv()
    try:
        with folder.flights.turn(KEY, 0, folder.entry) as outcome:
            assert outcome == "timed out"  # the parent has it, and the child did not unlock it
        parent.kill()
        parent.join()
        os.kill(child, 0)  # lives
        with folder.flights.turn(KEY, PATIENCE, folder.entry) as outcome:
            assert outcome == "owner"
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_child_forked_from_within_a_turn_leaves_it_to_the_parent(folder: Folder) -> None:
    with folder.flights.turn(KEY, PATIENCE, never):
        child = os.fork()
        if child:
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
            with folder.flights.turn(KEY, 0, never) as outcome:
                assert outcome == "timed out"
    if child == 0:
        with folder.flights.turn(KEY, 0, never) as outcome:
            os._exit(7 if outcome == "timed out" else 8)


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_children_forked_at_any_moment_inherit_no_turn(folder: Folder) -> None:
    leave = threading.Event()

    def work() -> None:
        key = os.urandom(32)
        while not leave.is_set():
            with folder.flights.turn(key, 0, never):
                pass

    with folder.flights.turn(os.urandom(32), 0, never):
        pass  # the file is made: until then, threads have it open, too, without a lock
    threads = start(work, 4)
    inherited = []
    for _ in range(100):
        child = os.fork()
        if child == 0:
            os._exit(len(descriptors(folder.locks)))
        inherited.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    leave.set()
    for thread in threads:
        thread.join()
    assert inherited == [0] * 100
