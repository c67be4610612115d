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


@contextmanager
def child_that_lives() -> Iterator[None]:
    """Fork a child that does nothing until it is killed."""
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(tell, b"x")
        signal.pause()
        os._exit(0)
    try:
        os.read(ready, 1)  # the hooks of the fork have run
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(ready)
        os.close(tell)


def is_locked(path: Path) -> bool:
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_a_child_does_not_hold_its_parents_lock(tmp_path: Path) -> None:
    path = tmp_path / "file"
    file = LockedFile(str(path), "xb")
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
    files = [LockedFile(str(tmp_path / str(number)), "xb") for number in range(10)]
    child = os.fork()
    if child == 0:
        os._exit(open_descriptors() - before)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert open_descriptors() - before == 10
    for file in files:
        file.close()


@pytest.mark.parametrize("mode", ["r+b", "rb"])
def test_what_cannot_be_opened(tmp_path: Path, mode: str) -> None:
    with pytest.raises(FileNotFoundError):
        LockedFile(str(tmp_path / "missing"), mode)
