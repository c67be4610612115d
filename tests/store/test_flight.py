"""Turns among threads and processes: who gets one, who waits, and what ends a wait."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from tests.faults import open_descriptors
from tests.flights import (
    KEY,
    OTHER,
    PATIENCE,
    Folder,
    find_lock,
    never,
    owner,
    take_turns,
    wait_for,
)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_threads_do_the_work_once(folder: Folder) -> None:
    outcomes: list[str] = []
    done: list[int] = []

    def work(outcome: str) -> None:
        outcomes.append(outcome)
        if folder.entry() is None:
            done.append(1)
            wait_for(lambda: folder.waiting == 16)  # this one, too, has asked twice
            folder.publish()

    for thread in take_turns(folder, 16, work):
        thread.join()
    assert done == [1]
    assert outcomes[0] == "owner"
    assert outcomes[1:] == ["published"] * 15
    assert folder.trouble == []


def test_keys_do_not_wait_for_each_other(folder: Folder) -> None:
    both = threading.Barrier(2, timeout=PATIENCE)

    def work(key: bytes) -> None:
        with folder.flights.turn(key, PATIENCE, never) as outcome:
            assert outcome == "owner"
            both.wait()

    first, second = (threading.Thread(target=work, args=[key]) for key in (KEY, OTHER))
    first.start()
    second.start()
    first.join()
    second.join()
    assert not both.broken


def test_thousands_of_turns_at_once_and_nothing_is_left(folder: Folder) -> None:
    before = open_descriptors()
    keys = [number.to_bytes(8, "big") * 4 for number in range(0, 4000, 4)]
    turns = [folder.flights.turn(key, 0, never) for key in keys]
    assert {turn.__enter__() for turn in turns} == {"owner"}
    assert {turn.__enter__() for turn in [folder.flights.turn(keys[7], 0, never)]} == {"timed out"}
    for turn in turns:
        turn.__exit__(None, None, None)
    assert open_descriptors() == before
    assert os.listdir(folder.locks.parent) == ["locks"]
    assert folder.locks.stat().st_size == 4096
    assert folder.locks.stat().st_mode & 0o777 == 0o600


def test_the_limit_ends_a_wait_for_a_suspended_owner(folder: Folder, tmp_path: Path) -> None:
    with owner(tmp_path) as (process, _):
        os.kill(process, signal.SIGSTOP)
        for limit in (0, 0.05):
            with folder.flights.turn(KEY, limit, folder.entry) as outcome:
                assert outcome == "timed out"
    assert folder.trouble == []


def test_a_published_entry_ends_all_waits(folder: Folder, tmp_path: Path) -> None:
    outcomes: list[str] = []
    with owner(tmp_path) as (_, pipe):
        threads = take_turns(folder, 4, outcomes.append)
        wait_for(lambda: folder.waiting == 4)
        pipe.send("end")
        for thread in threads:
            thread.join()
    assert outcomes == ["published"] * 4


def test_an_entry_that_was_there_before_ends_no_wait(folder: Folder, tmp_path: Path) -> None:
    folder.publish()
    with owner(tmp_path), folder.flights.turn(KEY, 0.05, folder.entry) as outcome:
        assert outcome == "timed out"


def test_a_killed_owner_is_followed_by_one_of_those_waiting(folder: Folder, tmp_path: Path) -> None:
    inside: list[str] = []
    done: list[str] = []
    with owner(tmp_path) as (process, _):

        def work(outcome: str) -> None:
            if folder.entry() is None:
                done.append(outcome)
                time.sleep(0.2)  # others would come now
                folder.publish()
            inside.append(outcome)

        threads = take_turns(folder, 6, work)
        wait_for(lambda: folder.waiting == 6)
        os.kill(process, signal.SIGKILL)
        for thread in threads:
            thread.join()
    assert done == ["owner"]
    assert len(inside) == 6


def test_an_owner_that_ends_without_an_entry_frees_all(folder: Folder) -> None:
    outcomes: list[str] = []
    together = threading.Barrier(4, timeout=PATIENCE)

    def work(outcome: str) -> None:
        outcomes.append(outcome)
        together.wait()  # broken if they went one after another

    with (
        pytest.raises(RuntimeError, match="no"),
        folder.flights.turn(KEY, PATIENCE, folder.entry),
    ):
        threads = take_turns(folder, 4, work)
        wait_for(lambda: folder.waiting == 4)
        raise RuntimeError("no")
    for thread in threads:
        thread.join()
    # One may have met the free byte before the mark.
    assert sorted(outcomes) in (["freed"] * 4, ["freed"] * 3 + ["owner"])
    assert not together.broken


@pytest.mark.parametrize("key", [KEY, OTHER], ids=["its own turn", "a wait"])
def test_an_interrupt_ends_it_and_leaves_nothing_open(folder: Folder, key: bytes) -> None:
    class Interrupt(BaseException):
        pass

    def interrupt(*_: object) -> None:
        raise Interrupt

    before = open_descriptors()
    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        with folder.flights.turn(OTHER, 0, never), pytest.raises(Interrupt):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with folder.flights.turn(key, PATIENCE, never):
                time.sleep(PATIENCE)
    finally:
        signal.signal(signal.SIGALRM, previous)
    assert open_descriptors() == before
    with folder.flights.turn(key, 0, never) as outcome:
        assert outcome == "owner"


def test_another_keys_mark_frees_nobody(folder: Folder, tmp_path: Path) -> None:
    same_mark = OTHER[:7] + KEY[7:8] + OTHER[8:]
    outcomes: list[str] = []
    with owner(tmp_path) as (_, pipe):
        (waiting,) = take_turns(folder, 1, outcomes.append)
        wait_for(lambda: folder.waiting == 1)
        with folder.flights.turn(same_mark, 0, never) as outcome:
            assert outcome == "owner"
        asked = folder.asked
        wait_for(lambda: folder.asked > asked + 2)
        assert outcomes == []
        pipe.send("end")
        waiting.join()
    assert outcomes == ["published"]


def test_where_a_keys_byte_and_mark_are(folder: Folder) -> None:
    key = bytes.fromhex("0123456789abcdef 1122334455667788") + bytes(16)
    with folder.flights.turn(key, 0, never):
        assert find_lock(folder.locks) == (0x0123456789ABCDEF >> 2, 1)
        assert folder.locks.read_bytes() == bytes(4096)
    marks = folder.locks.read_bytes()
    at = 0xEF * 16
    assert marks[at : at + 8] == key[8:16]
    assert marks[at + 8 : at + 16] != bytes(8)
    assert marks[:at] + marks[at + 16 :] == bytes(4080)
