from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults import (
    give_away,
    largest_file,
    make_read_only,
    no_more_descriptors,
    open_descriptors,
    small_disk,
)
from tests.samples import numbered_artifact
from tests.store.entries import files_in, path_of
from twinjit.artifact import decode, encode
from twinjit.errors import CacheWarning
from twinjit.store.disk import DiskStore, Pruned

ARTIFACT = numbered_artifact(1)
KEY = ARTIFACT.key_digest


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def swap(path: Path) -> None:
    path.write_bytes(encode(numbered_artifact(2)))


@pytest.mark.parametrize("damage", [cut, empty, flip, swap])
def test_a_damaged_entry_is_a_miss_that_heals(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    store = DiskStore(tmp_path)
    store.put(ARTIFACT)
    path = path_of(store, KEY)
    damage(path)
    with pytest.warns(CacheWarning, match="damaged") as told:
        assert store.get(KEY) is None
    assert len(told) == 1
    assert told[0].filename == __file__
    assert not path.exists()
    assert (store.stats().faults, store.stats().misses) == (1, 1)
    assert store.stats().reasons == {"damaged": 1}
    assert store.put(ARTIFACT)
    assert store.get(KEY) == ARTIFACT


def test_a_damaged_direct_record_is_a_miss_that_heals(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    store.put_direct(b"s" * 32, KEY)
    (path,) = files_in(tmp_path)
    flip(path)
    with pytest.warns(CacheWarning, match="damaged"):
        assert store.get_direct(b"s" * 32) is None
    assert not path.exists()
    assert store.stats().faults == 1
    store.put_direct(b"s" * 32, KEY)
    assert store.get_direct(b"s" * 32) == KEY


def test_each_kind_is_warned_of_once_per_directory(tmp_path: Path) -> None:
    for name in ("one", "two"):
        with pytest.warns(CacheWarning) as told:
            for _ in range(3):
                store = DiskStore(tmp_path / name)
                store.put(ARTIFACT)
                flip(path_of(store, KEY))
                assert store.get(KEY) is None
        assert len(told) == 1
        assert str(tmp_path / name) in str(told[0].message)


def test_an_entry_of_another_version_is_a_plain_miss(tmp_path: Path) -> None:
    from blake3 import blake3

    store = DiskStore(tmp_path)
    store.put(ARTIFACT)
    path = path_of(store, KEY)
    body = bytearray(path.read_bytes()[:-32])
    body[8] = 99
    path.write_bytes(body + blake3(body).digest())
    assert store.get(KEY) is None
    assert path.exists()
    assert store.stats().faults == 0
    assert store.stats().reasons == {"version": 1}
    assert store.put(ARTIFACT)
    assert store.get(KEY) == ARTIFACT


@pytest.mark.parametrize("place", ["", "v1"])
def test_a_file_where_a_directory_should_be(tmp_path: Path, place: str) -> None:
    obstacle = tmp_path / "cache" / place
    obstacle.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
    for folder in (tmp_path / "cache", tmp_path / "cache" / "v1"):
        if folder.is_dir():
            folder.chmod(0o700)
    obstacle.write_bytes(b"precious")
    store = DiskStore(tmp_path / "cache")
    with pytest.warns(CacheWarning, match="ENOTDIR"):
        assert not store.put(ARTIFACT)
        assert store.get(KEY) is None
        store.prune()
        store.clear()
        store.stats()
    assert obstacle.read_bytes() == b"precious"
    assert store.stats().faults > 0
    obstacle.unlink()
    assert store.put(ARTIFACT)
    assert store.get(KEY) == ARTIFACT


@pytest.mark.parametrize("place", ["objects", "objects/xx", "objects/xx/entry", "tmp", "ledger"])
@pytest.mark.parametrize("kind", ["file", "folder", "link", "pipe"])
def test_what_is_in_the_way_of_an_entry_is_cleared_away(
    tmp_path: Path, place: str, kind: str
) -> None:
    entry = path_of(DiskStore(tmp_path), KEY).relative_to(tmp_path)
    named = place.replace("xx/entry", f"xx/{entry.name}").replace("xx", entry.parent.name)
    obstacle = tmp_path / "v1" / named
    obstacle.parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "v1").chmod(0o700)
    {
        "file": lambda: obstacle.write_bytes(b"x"),
        "folder": lambda: (obstacle / "deep").mkdir(parents=True),
        "link": lambda: obstacle.symlink_to(tmp_path / "elsewhere"),
        "pipe": lambda: os.mkfifo(obstacle),
    }[kind]()
    store = DiskStore(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CacheWarning)
        store.get(KEY)
    assert store.put(ARTIFACT)
    assert store.get(KEY) == ARTIFACT
    assert not (tmp_path / "elsewhere").exists()


def test_a_full_disk(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "64k") as root:
        store = DiskStore(root)
        assert store.put(ARTIFACT)
        with pytest.warns(CacheWarning, match="ENOSPC") as told:
            for number in range(2, 30):
                big = numbered_artifact(number, size=20_000)
                assert store.put(big) == (store.get(big.key_digest) == big)
        assert len(told) == 1
        assert os.listdir(root / "v1" / "tmp") == []
        assert store.get(KEY) == ARTIFACT
        assert store.stats().faults > 20
        assert store.prune(8192).entries > 0
        assert store.put(numbered_artifact(99))


def test_a_limit_on_file_sizes(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    big = numbered_artifact(2, size=50_000)
    with largest_file(10_000), pytest.warns(CacheWarning, match="EFBIG"):
        assert not store.put(big)
    assert files_in(tmp_path) == []
    assert store.stats().faults == 1
    assert store.put(big)


def test_a_disk_that_is_read_only(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "1m") as root:
        DiskStore(root).put(ARTIFACT)
        os.utime(path_of(DiskStore(root), KEY), (0, 0))  # a hit would mark it as used
        make_read_only(root)
        store = DiskStore(root)
        assert store.get(KEY) == ARTIFACT
        assert store.stats().faults == 0
        with pytest.warns(CacheWarning, match="EROFS"):
            assert not store.put(numbered_artifact(2))
            store.clear()
        assert store.get(KEY) == ARTIFACT


def test_permissions_that_deny_access(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    store.put(ARTIFACT)
    path = path_of(store, KEY)
    path.chmod(0)
    path.parent.chmod(0o500)
    try:
        if os.access(path, os.R_OK):
            pytest.skip("permissions do not bind this user")
        with pytest.warns(CacheWarning, match="EACCES"):
            assert store.get(KEY) is None
            assert not store.put(ARTIFACT)
            assert store.prune(0).entries == 0
            store.clear()
        assert store.stats().entries == 1
    finally:
        path.parent.chmod(0o700)
    assert store.put(ARTIFACT)
    assert store.get(KEY) == ARTIFACT


def test_no_more_descriptors(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    store.put(ARTIFACT)
    store.prune()  # imports what it needs, which would fail for want of descriptors too
    with pytest.warns(CacheWarning, match="EMFILE"), no_more_descriptors():
        assert store.get(KEY) is None
        assert not store.put(numbered_artifact(2))
        assert store.prune() == Pruned()
        store.clear()
        store.stats()
    assert store.stats().faults >= 5
    assert store.get(KEY) == ARTIFACT


def test_no_descriptors_leak(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    store = DiskStore(tmp_path / "cache", max_bytes=40_000)

    def everything() -> None:
        for number in range(30):
            artifact = numbered_artifact(number)
            store.put(artifact)
            store.get(artifact.key_digest)
            store.get(bytes(32))
        flip(path_of(store, artifact.key_digest))
        store.get(artifact.key_digest)
        with largest_file(10):
            store.put(ARTIFACT)
        store.prune()
        store.clear()
        shutil.rmtree(store.root)
        Path(store.root).write_bytes(b"")
        store.put(ARTIFACT)
        store.get(KEY)
        store.stats()
        os.unlink(store.root)

    everything()
    before = open_descriptors()
    for _ in range(5):
        everything()
    assert open_descriptors() == before


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_an_entry_that_others_can_change_is_refused(tmp_path: Path, mode: int) -> None:
    store = DiskStore(tmp_path)
    store.put(ARTIFACT)
    path_of(store, KEY).chmod(mode)
    with pytest.warns(CacheWarning, match="EPERM"):
        assert store.get(KEY) is None
    assert store.put(ARTIFACT)
    assert store.get(KEY) == ARTIFACT


def test_an_entry_of_another_user_is_refused(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    store.put(ARTIFACT)
    give_away(path_of(store, KEY))
    with pytest.warns(CacheWarning, match=r"another user.*12345"):
        assert store.get(KEY) is None
    assert store.put(ARTIFACT)
    assert store.get(KEY) == ARTIFACT


def test_a_directory_of_another_user_is_refused(tmp_path: Path) -> None:
    DiskStore(tmp_path).put(ARTIFACT)
    give_away(tmp_path / "v1")
    store = DiskStore(tmp_path)
    with pytest.warns(CacheWarning, match="another user"):
        assert store.get(KEY) is None
        assert not store.put(numbered_artifact(2))
    assert store.stats().entries == 1


def test_a_directory_that_others_can_write_to_is_refused(tmp_path: Path) -> None:
    DiskStore(tmp_path).put(ARTIFACT)
    (tmp_path / "v1").chmod(0o770)
    store = DiskStore(tmp_path)
    with pytest.warns(CacheWarning, match="others may write"):
        assert store.get(KEY) is None
        assert not store.put(numbered_artifact(2))
    (tmp_path / "v1").chmod(0o700)
    assert store.get(KEY) == ARTIFACT


@pytest.mark.parametrize("mode", [0o750, 0o705, 0o711])
def test_a_directory_that_others_can_look_into_is_refused(tmp_path: Path, mode: int) -> None:
    DiskStore(tmp_path).put(ARTIFACT)
    (tmp_path / "v1").chmod(mode)
    store = DiskStore(tmp_path)
    with pytest.warns(CacheWarning, match=f"chmod 700 {tmp_path}/v1"):
        assert store.get(KEY) is None
    assert store.stats().reasons == {"untrusted": 1}
    (tmp_path / "v1").chmod(0o700)
    assert store.get(KEY) == ARTIFACT


@pytest.mark.parametrize("through_link", [False, True])
def test_a_folder_above_that_everyone_can_write_to_is_refused(
    tmp_path: Path, *, through_link: bool
) -> None:
    shared = tmp_path / "shared"
    (shared / "mine").mkdir(parents=True)
    root = shared / "mine" / "cache"
    if through_link:
        (tmp_path / "link").symlink_to(shared / "mine")
        root = tmp_path / "link" / "cache"
    shared.chmod(0o777)
    store = DiskStore(root)
    with pytest.warns(CacheWarning, match=f"chmod o-w {shared}"):
        assert not store.put(ARTIFACT)
    shared.chmod(0o1777)  # as /tmp
    assert store.put(ARTIFACT)
    assert store.get(KEY) == ARTIFACT


def test_a_linked_base_is_refused(tmp_path: Path) -> None:
    DiskStore(tmp_path / "other").put(ARTIFACT)
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "v1").symlink_to(tmp_path / "other" / "v1")
    store = DiskStore(tmp_path / "cache")
    with pytest.warns(CacheWarning, match="a symbolic link"):
        assert store.get(KEY) is None


def test_links_are_refused(tmp_path: Path) -> None:
    store = DiskStore(tmp_path / "cache")
    store.put(ARTIFACT)
    path = path_of(store, KEY)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.warns(CacheWarning, match="a symbolic link"):
        assert store.get(KEY) is None
    assert store.put(ARTIFACT)
    assert not path.is_symlink()
    assert decode((tmp_path / "elsewhere").read_bytes()) == ARTIFACT


@pytest.mark.parametrize("root", ["link", "link/below", "/proc/nowhere"])
def test_a_directory_that_cannot_be_made(tmp_path: Path, root: str) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    store = DiskStore(tmp_path / root)
    with pytest.warns(CacheWarning, match="ENOENT"):
        assert not store.put(ARTIFACT)
    assert store.get(KEY) is None


def test_a_pipe_in_place_of_an_entry_does_not_block(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    store.put(ARTIFACT)
    path_of(store, KEY).unlink()
    os.mkfifo(path_of(store, KEY))
    with pytest.warns(CacheWarning, match="not a regular file"):
        assert store.get(KEY) is None
    assert store.put(ARTIFACT)
    assert store.get(KEY) == ARTIFACT


def test_a_filter_that_makes_warnings_errors_is_obeyed(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    store.put(ARTIFACT)
    flip(path_of(store, KEY))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(CacheWarning):
            store.get(KEY)
    assert store.put(ARTIFACT)
    assert store.get(KEY) == ARTIFACT
