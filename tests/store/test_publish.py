from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tests.faults import largest_file, open_descriptors
from twinjit.store.publish import publish, sweep


@pytest.fixture
def staging(tmp_path: Path) -> Path:
    path = tmp_path / "tmp"
    path.mkdir()
    return path


def test_publishes_in_place_of_another(tmp_path: Path, staging: Path) -> None:
    target = tmp_path / "file"
    for data in (b"one", b"", b"three" * 100_000):
        publish(data, str(target), str(staging))
        assert target.read_bytes() == data
    assert os.listdir(staging) == []


def test_a_reader_of_the_old_file_keeps_it(tmp_path: Path, staging: Path) -> None:
    target = tmp_path / "file"
    publish(b"old", str(target), str(staging))
    with target.open("rb") as reader:
        publish(b"new", str(target), str(staging))
        assert reader.read() == b"old"


def test_a_failed_write_leaves_nothing(tmp_path: Path, staging: Path) -> None:
    target = tmp_path / "file"
    with largest_file(1000), pytest.raises(OSError, match="too large"):
        publish(bytes(5000), str(target), str(staging))
    assert not target.exists()
    assert os.listdir(staging) == []


def test_a_failed_move_leaves_nothing(tmp_path: Path, staging: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    before = open_descriptors()
    with pytest.raises(FileNotFoundError):
        publish(b"x", str(tmp_path / "missing" / "file"), str(staging))
    with pytest.raises(IsADirectoryError):
        publish(b"x", str(folder), str(staging))
    assert os.listdir(staging) == []
    assert open_descriptors() == before


def test_a_missing_staging_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        publish(b"x", str(tmp_path / "file"), str(tmp_path / "missing"))
    assert sweep(str(tmp_path / "missing")) == 0


# Python closes a file that an interrupt took before it was bound to a name, and warns of it.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_an_interrupt_while_writing_leaves_nothing(tmp_path: Path, staging: Path) -> None:
    target = tmp_path / "file"
    before = open_descriptors()
    writing: list[None] = []

    def interrupt(_number: int, _frame: object) -> None:
        if writing:  # not while pytest.raises begins or ends
            writing.clear()
            raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
        for _ in range(5):
            with pytest.raises(KeyboardInterrupt):
                while True:
                    writing.append(None)
                    publish(bytes(50_000_000), str(target), str(staging))
                    writing.clear()
            assert os.listdir(staging) == []
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert open_descriptors() == before


def test_sweep_removes_what_is_stale(staging: Path) -> None:
    for name, age in (("old", 3700), ("young", 3500)):
        (staging / name).write_bytes(b"x")
        os.utime(staging / name, (time.time() - age,) * 2)
    (staging / "folder").mkdir()
    os.utime(staging / "folder", (0, 0))
    assert sweep(str(staging)) == 1
    assert sorted(os.listdir(staging)) == ["folder", "young"]
    assert sweep(str(staging), older_than=100) == 1
