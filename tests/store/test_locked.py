from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults import open_descriptors
from twinjit.store.ledger import Ledger
from twinjit.store.locked import LockedFile

NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL


@contextmanager
def child_that_lives() -> Iterator[None]:
    """Fork a child that does nothing until it is killed."""
    lives, tells = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(tells, b"!")
        signal.pause()
        os._exit(0)
    os.read(lives, 1)  # it has closed then what it inherited
    os.close(lives)
    os.close(tells)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def is_locked(path: Path) -> bool:
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_a_child_does_not_hold_its_parents_lock(tmp_path: Path) -> None:
    path = tmp_path / "file"
    file = LockedFile(str(path), NEW)
    fcntl.flock(file, fcntl.LOCK_EX)
    with child_that_lives():
        assert is_locked(path)
        file.close()
        assert not is_locked(path)


def test_a_plain_file_would_stay_locked(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("xb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with child_that_lives():
            file.close()
            assert is_locked(path)


def test_a_recount_ends_for_all_though_a_child_was_forked_in_it(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path / "ledger"))
    ledger.add(1)
    with ledger.recount(wait=True) as recount, child_that_lives():
        assert recount
        recount.finish(5)
        with ledger.recount(wait=False) as other:
            assert other is None
    with ledger.recount(wait=False) as later:
        assert later


def test_a_child_has_no_descriptor_left(tmp_path: Path) -> None:
    before = open_descriptors()
    files = [LockedFile(str(tmp_path / str(number)), NEW) for number in range(10)]
    child = os.fork()
    if child == 0:
        os._exit(open_descriptors() - before)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert open_descriptors() - before == 10
    for file in files:
        file.close()


@pytest.mark.parametrize("flags", [os.O_RDWR, os.O_RDONLY])
def test_what_cannot_be_opened(tmp_path: Path, flags: int) -> None:
    with pytest.raises(FileNotFoundError):
        LockedFile(str(tmp_path / "missing"), flags)


def test_what_is_no_file_leaves_no_descriptor(tmp_path: Path) -> None:
    """`FileIO` does not close a descriptor that it was given, and refuses."""
    before = open_descriptors()
    for _ in range(3):
        with pytest.raises(IsADirectoryError):
            LockedFile(str(tmp_path), os.O_RDONLY)
    assert open_descriptors() == before
