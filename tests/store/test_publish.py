from __future__ import annotations

import fcntl
import os
import signal
import stat
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from tests.faults import largest_file, open_descriptors
from twinjit.store.publish import publish, sweep, write_whole


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


def test_what_is_being_written_was_never_open_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fchmod", lambda *_: None)  # as if others came before it
    before = os.umask(0)
    try:
        mode = write_whole(
            str(tmp_path / "file"),
            str(tmp_path / "temporary"),
            lambda file: os.fstat(file.fileno()).st_mode,
        )
    finally:
        os.umask(before)
    assert stat.S_IMODE(mode) == 0o600


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


def test_sweep_removes_what_has_no_writer(staging: Path) -> None:
    left, written, folder, link = (f"{number}-0123456789abcdef" for number in range(1, 5))
    for name in (left, written, "not ours"):
        (staging / name).write_bytes(b"x")
    (staging / folder).mkdir()
    (staging / link).symlink_to(staging / "not ours")
    with (staging / written).open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert sweep(str(staging)) == 1
        assert sorted(os.listdir(staging)) == [written, folder, link, "not ours"]
    assert sweep(str(staging)) == 1


def test_sweep_follows_no_link(staging: Path) -> None:
    name = "1-0123456789abcdef"
    (staging / name).touch()
    link = staging.with_name("link")
    link.symlink_to(staging)
    with pytest.raises(OSError, match="link"):
        sweep(str(link))
    assert os.listdir(staging) == [name]


def test_a_file_is_locked_while_it_is_written(tmp_path: Path, staging: Path) -> None:
    swept: list[int] = []
    done = threading.Event()

    def sweep_on() -> None:
        while not done.is_set():
            swept.append(sweep(str(staging)))

    sweeper = threading.Thread(target=sweep_on)
    sweeper.start()
    published = 0
    try:
        for _ in range(300):
            with suppress(FileNotFoundError):  # swept in the moment before it was locked
                publish(bytes(100_000), str(tmp_path / "file"), str(staging))
                published += 1
    finally:
        done.set()
        sweeper.join()
    assert sum(swept) == 300 - published
    assert published > 200
    assert len(swept) > 10
