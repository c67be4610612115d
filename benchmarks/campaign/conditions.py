"""Adverse conditions for a directory with a store in it.

Each is a context manager: it takes the root of a store that was used, spoils it or the process, and
makes it usable again.
"""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import pytest
from tests.faults import largest_file, make_read_only, no_more_descriptors, small_disk

__all__ = ["CONDITIONS", "Condition"]

Condition = Callable[[Path], AbstractContextManager[None]]

_NOBODY = 65534
_TIMES = {"clock_back": 4_102_444_800.0, "clock_ahead": 0.0}  # files from 2100 and from 1970


def _need_root() -> None:
    if os.geteuid():
        pytest.skip("giving files away needs root")


@contextmanager
def _on_small_disk(root: Path, size: str) -> Iterator[None]:
    """Move the store to a disk of its own, and back."""
    aside = root.with_name("aside")
    root.rename(aside)
    with small_disk(root, size):
        shutil.copytree(aside, root, dirs_exist_ok=True, symlinks=True)
        yield
    root.rmdir()
    aside.rename(root)


@contextmanager
def _full_disk(root: Path, left: int) -> Iterator[None]:
    """Fill the disk but for some bytes, so that it is full at once or amid an entry."""
    with _on_small_disk(root, "1m"):
        status = os.statvfs(root)
        (root / "filler").write_bytes(bytes(status.f_bavail * status.f_frsize - left))
        yield


@contextmanager
def _read_only_disk(root: Path) -> Iterator[None]:
    with _on_small_disk(root, "1m"):
        make_read_only(root)
        yield


@contextmanager
def _no_descriptors(root: Path) -> Iterator[None]:  # noqa: ARG001 -- a Condition
    with no_more_descriptors():
        yield


@contextmanager
def _file_limit(root: Path, size: int) -> Iterator[None]:  # noqa: ARG001 -- a Condition
    with largest_file(size):
        yield


@contextmanager
def _as_nobody(root: Path, owner: int, mode: int) -> Iterator[None]:
    """Be a user without root's rights, in front of folders of some owner and mode."""
    _need_root()
    for path in (root, *root.rglob("*")):
        os.chown(path, owner, -1)
        if path.is_dir():
            path.chmod(mode)
    os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        for path in (root, *root.rglob("*")):
            os.chown(path, 0, -1)
            if path.is_dir():
                path.chmod(0o700)


@contextmanager
def _given_away(root: Path) -> Iterator[None]:
    _need_root()
    paths = [root, *root.rglob("*")]
    for path in paths:
        os.chown(path, _NOBODY, -1)
    yield
    for path in paths:
        if path.exists():
            os.chown(path, 0, -1)


@contextmanager
def _others_may_write(root: Path) -> Iterator[None]:
    for path in (root, *root.rglob("*")):
        path.chmod(0o777)
    yield
    for path in (root, *root.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)


@contextmanager
def _vanished(root: Path) -> Iterator[None]:
    shutil.rmtree(root)
    yield


@contextmanager
def _parts_vanished(root: Path) -> Iterator[None]:
    """Remove what lies two levels down, as a cleaner of old files might."""
    for path in sorted(root.glob("*/*")):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    yield


@contextmanager
def _dated(root: Path, seconds: float) -> Iterator[None]:
    for path in (*root.rglob("*"), root):
        os.utime(path, (seconds, seconds))
    yield


@contextmanager
def _root_replaced(root: Path, replace: Callable[[Path, Path], None]) -> Iterator[None]:
    aside = root.with_name("aside")
    root.rename(aside)
    replace(root, aside)
    yield
    root.unlink()
    aside.rename(root)


@contextmanager
def _files_replaced(root: Path, replace: Callable[[Path], None]) -> Iterator[None]:
    """Put something else in the place of each file, and take it away again."""
    paths = [path for path in root.rglob("*") if path.is_file()]
    for path in paths:
        path.unlink()
        replace(path)
    yield
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _make_file(root: Path, _aside: Path) -> None:
    root.write_bytes(b"in the way")


def _make_link(root: Path, aside: Path) -> None:
    root.symlink_to(aside, target_is_directory=True)


def _make_dangling_link(root: Path, aside: Path) -> None:
    root.symlink_to(aside / "gone")


def _make_loop(root: Path, _aside: Path) -> None:
    root.symlink_to(root)


def _make_full_folder(path: Path) -> None:
    path.mkdir()
    (path / "inside").touch()


def _make_socket(path: Path) -> None:
    before = os.getcwd()
    os.chdir(path.parent)  # addresses of sockets are short
    try:
        with socket.socket(socket.AF_UNIX) as end:
            end.bind(path.name)
    finally:
        os.chdir(before)


def _make_garbage(path: Path) -> None:
    path.write_bytes(os.urandom(5000))


CONDITIONS: dict[str, Condition] = {
    "full_disk": partial(_full_disk, left=0),
    "filling_disk": partial(_full_disk, left=8192),
    "no_inodes": partial(_on_small_disk, size="1m,nr_inodes=60"),
    "read_only_disk": _read_only_disk,
    "no_descriptors": _no_descriptors,
    "no_file_growth": partial(_file_limit, size=0),
    "short_files": partial(_file_limit, size=1000),
    "read_only_directory": partial(_as_nobody, owner=_NOBODY, mode=0o500),
    "unsearchable_directory": partial(_as_nobody, owner=_NOBODY, mode=0o600),
    "unreadable_directory": partial(_as_nobody, owner=_NOBODY, mode=0o300),
    "forbidden_directory": partial(_as_nobody, owner=0, mode=0o700),
    "given_away": _given_away,
    "others_may_write": _others_may_write,
    "vanished_directory": _vanished,
    "vanished_parts": _parts_vanished,
    **{name: partial(_dated, seconds=seconds) for name, seconds in _TIMES.items()},
    "file_for_directory": partial(_root_replaced, replace=_make_file),
    "link_for_directory": partial(_root_replaced, replace=_make_link),
    "dangling_link": partial(_root_replaced, replace=_make_dangling_link),
    "link_to_itself": partial(_root_replaced, replace=_make_loop),
    "folders_for_files": partial(_files_replaced, replace=_make_full_folder),
    "pipes_for_files": partial(_files_replaced, replace=os.mkfifo),
    "sockets_for_files": partial(_files_replaced, replace=_make_socket),
    "garbage_for_files": partial(_files_replaced, replace=_make_garbage),
}
"""By name; those that need root skip the test without it, as in `tests.faults`."""
