"""Saving reproducers, and reading what others may have made of one."""

from __future__ import annotations

import dataclasses
import os
import stat
import threading
from pathlib import Path

import pytest

from tests.workers.jobs import IDENTITY, job
from twinjit.errors import ReproducerError
from twinjit.store.files import UntrustedError
from twinjit.workers import crash_folder
from twinjit.workers.crash_folder import read_reproducer, save_reproducer
from twinjit.workers.ending import Ending
from twinjit.workers.reproducer import Reproducer


def numbered(number: int, program: str = IDENTITY) -> Reproducer:
    """Another crash, each a second after that before it."""
    made = job(program, ending=Ending("SIGSEGV", cause=str(number)))
    return dataclasses.replace(made, when=1_700_000_000 + number)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "crashes"


@pytest.fixture
def saved(folder: Path) -> Path:
    return Path(save_reproducer(numbered(0), str(folder)))


def test_what_is_saved(folder: Path, saved: Path) -> None:
    assert saved.parent == folder
    assert os.listdir(folder) == [numbered(0).name]
    assert sorted(os.listdir(saved)) == ["README.txt", "crash.json", "program.mlir"]
    assert (saved / "program.mlir").read_text() == IDENTITY
    assert read_reproducer(str(saved)) == numbered(0)


def test_it_is_for_this_user_alone(folder: Path) -> None:
    before = os.umask(0)
    try:
        path = Path(save_reproducer(numbered(0), str(folder)))
    finally:
        os.umask(before)
    modes = {stat.S_IMODE(each.stat().st_mode) for each in path.iterdir()}
    assert modes == {0o600}
    assert {stat.S_IMODE(each.stat().st_mode) for each in (folder, path)} == {0o700}


def test_the_same_crash_is_saved_once(folder: Path, saved: Path) -> None:
    again = dataclasses.replace(numbered(0), when=1_800_000_000, output="other")
    assert save_reproducer(again, str(folder)) == str(saved)
    assert len(os.listdir(folder)) == 1


def test_the_oldest_are_removed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crash_folder, "KEPT", 3)
    for number in (4, 1, 2, 3, 5):
        save_reproducer(numbered(number), str(folder))
    assert sorted(os.listdir(folder)) == sorted(numbered(each).name for each in (3, 4, 5))


def test_bytes_are_bounded_but_for_the_newest(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crash_folder, "KEPT_BYTES", 100_000)
    large = IDENTITY + " " * 60_000
    for number in range(3):
        save_reproducer(numbered(number, large), str(folder))
        assert os.listdir(folder) == [numbered(number, large).name]
    huge = numbered(3, IDENTITY + " " * 200_000)
    assert os.listdir(folder) != [huge.name]
    save_reproducer(huge, str(folder))
    assert os.listdir(folder) == [huge.name]


def test_what_users_put_there_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crash_folder, "KEPT", 1)
    first = Path(save_reproducer(numbered(0), str(folder)))
    (first / "notes").write_text("mine")
    (folder / "mine").mkdir()
    (folder / "list").write_text("mine")
    for number in (1, 2):
        save_reproducer(numbered(number), str(folder))
    assert sorted(os.listdir(folder)) == sorted([first.name, "mine", "list", numbered(2).name])
    assert sorted(os.listdir(first)) == ["README.txt", "crash.json", "notes", "program.mlir"]


def test_links_in_the_folder_are_not_followed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crash_folder, "KEPT", 1)
    elsewhere = Path(save_reproducer(numbered(0), str(tmp_path / "elsewhere")))
    folder.mkdir(parents=True, mode=0o700)
    (folder / numbered(0).name).symlink_to(elsewhere)
    (folder / ".unfinished-1-0").symlink_to(elsewhere)
    os.utime(folder / ".unfinished-1-0", (0, 0), follow_symlinks=False)
    save_reproducer(numbered(1), str(folder))
    assert len(os.listdir(elsewhere)) == 3


def test_remains_of_killed_processes_are_removed(folder: Path, saved: Path) -> None:
    old, new = folder / ".unfinished-1-00", folder / ".unfinished-2-00"
    for each in (old, new):
        each.mkdir()
        (each / "crash.json").write_text("{")
    os.utime(old, (0, 0))
    save_reproducer(numbered(1), str(folder))
    assert not old.exists()
    assert new.exists()


def test_nothing_stays_of_one_that_failed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Reproducer) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(crash_folder, "to_readme", fail)
    with pytest.raises(OSError, match="No space"):
        save_reproducer(numbered(0), str(folder))
    assert os.listdir(folder) == []


def test_threads_that_save_at_once(folder: Path) -> None:
    barrier = threading.Barrier(8)
    paths: list[str] = []

    def save(number: int) -> None:
        barrier.wait()
        paths.append(save_reproducer(numbered(number % 2), str(folder)))

    threads = [threading.Thread(target=save, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    causes = [read_reproducer(path).ending.cause for path in paths]
    assert sorted(causes) == [*"00001111"]
    assert len(os.listdir(folder)) == 2


@pytest.mark.parametrize("path", ["crash.json", "program.mlir"])
@pytest.mark.parametrize("made", ["link", "pipe", "folder", "writable", "huge", "missing"])
def test_what_is_planted_is_refused(saved: Path, path: str, made: str, tmp_path: Path) -> None:
    file, other = saved / path, tmp_path / "other"
    if made == "writable":
        file.chmod(0o666)
    else:
        file.rename(other)
    if made == "link":
        file.symlink_to(other)
    elif made == "pipe":
        os.mkfifo(file)
    elif made == "folder":
        file.mkdir()
    elif made == "huge":
        with file.open("wb") as huge:
            huge.truncate(1 << 40)
    expected = ReproducerError if made in ("huge", "missing") else UntrustedError
    with pytest.raises(expected) as caught:
        read_reproducer(str(saved))
    assert str(saved) in str(caught.value)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_another_user_owns_is_refused(saved: Path) -> None:
    os.chown(saved / "crash.json", 12345, -1)
    with pytest.raises(UntrustedError, match="owned by another user"):
        read_reproducer(str(saved))


def test_two_programs_are_one_too_many(saved: Path) -> None:
    (saved / "program.bc").write_bytes(b"BC\xc0\xde")
    with pytest.raises(ReproducerError, match="is not a reproducer"):
        read_reproducer(str(saved))


def test_what_is_no_directory(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_reproducer(str(tmp_path / "missing"))
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NotADirectoryError):
        read_reproducer(str(tmp_path / "file"))
    with pytest.raises(ReproducerError, match="is not a reproducer"):
        read_reproducer(str(tmp_path))
