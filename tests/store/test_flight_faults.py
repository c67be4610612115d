"""Trouble with the file that turns are taken on: one goes on without, at worst."""

from __future__ import annotations

import os
import signal
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from tests.faults import (
    make_read_only,
    no_more_descriptors,
    open_descriptors,
    refuse_locks,
    small_disk,
)
from tests.flights import KEY, PATIENCE, Folder, descriptors, never, spawn, take_turns, wait_for


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_a_file_removed_meanwhile_is_made_anew(folder: Folder) -> None:
    with folder.flights.turn(KEY, 0, never):
        folder.locks.unlink()
        with folder.flights.turn(KEY, 0, never) as outcome:
            assert outcome == "owner"  # the worst that may happen: two of them
    assert folder.trouble == []


def test_who_waits_for_a_removed_file_goes_over_to_the_new_one(folder: Folder) -> None:
    outcomes: list[str] = []
    with folder.flights.turn(KEY, 0, never):
        (waiting,) = take_turns(folder, 1, outcomes.append)
        wait_for(lambda: folder.waiting == 1)
        folder.locks.unlink()
        new = folder.flights.turn(KEY, 0, never)
        assert new.__enter__() == "owner"
        folder.publish()  # so that the end of the first turn is none without an entry
        waiting.join()
        new.__exit__(None, None, None)
    assert outcomes == ["published"]


def remove_twice(path: Path, pipe: Connection) -> None:
    folder = Folder(path)
    first = folder.flights.turn(KEY, 0, folder.entry)
    first.__enter__()
    pipe.send("ready")
    assert pipe.recv() == "waiting"
    folder.locks.unlink()
    second = folder.flights.turn(KEY, 0, folder.entry)
    pipe.send(second.__enter__())
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_waiting_process_never_owns_a_removed_file(folder: Folder, tmp_path: Path) -> None:
    mine, its = spawn.Pipe()
    process = spawn.Process(target=remove_twice, args=(tmp_path, its))
    process.start()
    assert mine.recv() == "ready"
    old = folder.locks.stat().st_ino
    outcomes: list[str] = []
    (waiting,) = take_turns(folder, 1, lambda outcome: outcomes.append(outcome + named(folder)))

    def named(folder: Folder) -> str:
        (descriptor,) = descriptors(folder.locks)
        return " of old" if os.stat(descriptor).st_ino == old else " of new"

    wait_for(lambda: folder.waiting == 1)
    mine.send("waiting")
    assert mine.recv() == "owner"
    process.join()
    waiting.join()
    assert outcomes == ["owner of new"]


def expect_unlocked(folder: Folder) -> None:
    before = open_descriptors()
    for _ in range(2):
        with folder.flights.turn(KEY, PATIENCE, never) as outcome:
            assert outcome == "unlocked"
    assert open_descriptors() == before


def test_links_are_refused(folder: Folder, tmp_path: Path) -> None:
    with folder.flights.turn(KEY, 0, never):
        pass
    folder.locks.rename(tmp_path / "elsewhere")
    folder.locks.symlink_to(tmp_path / "elsewhere")
    expect_unlocked(folder)
    assert ["it is a link" in str(error) for error in folder.trouble] == [True]


def test_what_is_no_file_is_told_once(folder: Folder) -> None:
    folder.locks.mkdir(parents=True)
    expect_unlocked(folder)
    assert [type(error) for error in folder.trouble] == [IsADirectoryError]


def test_no_descriptors_left(folder: Folder) -> None:
    with no_more_descriptors():
        for _ in range(2):
            with folder.flights.turn(KEY, PATIENCE, never) as outcome:
                assert outcome == "unlocked"
    assert [error.strerror for error in folder.trouble] == ["Too many open files"]
    with folder.flights.turn(KEY, PATIENCE, never) as outcome:
        assert outcome == "owner"


def test_a_read_only_file_system_is_no_trouble_of_its_own(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "64k") as disk:
        make_read_only(disk)
        folder = Folder(disk)
        expect_unlocked(folder)
    assert folder.trouble == []


def test_a_full_disk(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "64k") as disk:
        folder = Folder(disk)
        (disk / "v1").mkdir()
        (disk / "filler").write_bytes(bytes(64 * 1024))
        with folder.flights.turn(KEY, 0, never) as outcome:
            assert outcome == "unlocked"
        assert [error.strerror for error in folder.trouble] == ["No space left on device"]


def go_without_locks(path: Path, pipe: Connection) -> None:
    folder = Folder(path)
    refuse_locks()
    turns = [folder.flights.turn(KEY, PATIENCE, never) for _ in range(2)]
    first, second = (turn.__enter__() for turn in turns)
    pipe.send((first, second, [(error.errno, str(error)) for error in folder.trouble]))


def test_a_file_system_without_locks_is_told_once(tmp_path: Path) -> None:
    mine, its = spawn.Pipe()
    process = spawn.Process(target=go_without_locks, args=(tmp_path, its))
    process.start()
    first, second, trouble = mine.recv()
    process.join()
    assert (first, second) == ("unlocked", "unlocked")
    ((number, text),) = trouble
    assert os.strerror(number) == "No locks available"
    assert "cannot be locked (Operation not supported)" in text
