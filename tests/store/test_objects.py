from __future__ import annotations

import os
import sys
import threading
import time
import uuid
from pathlib import Path

import pytest

from tests.samples import numbered_artifact
from twinjit.artifact import encode
from twinjit.errors import CacheWarning, ConfigError, EntryTooLargeError
from twinjit.settings import Settings
from twinjit.store.base import StoreStats
from twinjit.store.objects import FilesystemBackend
from twinjit.store.shared import SharedStore, open_shared

SECRET = b"a secret of 16 B"
ARTIFACT = numbered_artifact(1)
DIGEST = ARTIFACT.key_digest
OBJECT = f"v2/objects/{DIGEST.hex()}"


@pytest.fixture(params=["file", "memory"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"file://{tmp_path}/a/cache" if request.param == "file" else f"memory://{uuid.uuid4()}"


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_bytes_by_name(url: str) -> None:
    backend = FilesystemBackend(url)
    assert backend.url == url
    assert backend.get("a/b") is None
    for data in (b"", b"1", bytes(100_000), b"2"):
        backend.put("a/b", data)
        assert backend.get("a/b") == data
    assert FilesystemBackend(url + "/").get("a/b") == b"2"
    backend.remove("a/b")
    backend.remove("a/b")
    assert backend.get("a/b") is None


@pytest.mark.parametrize("size", [1, 100_000])
def test_the_size_limit(url: str, size: int) -> None:
    FilesystemBackend(url).put("a", bytes(size))
    assert FilesystemBackend(url, max_bytes=size).get("a") == bytes(size)
    assert FilesystemBackend(url, max_bytes=2**63 - 1).get("a") == bytes(size)
    with pytest.raises(EntryTooLargeError, match=f"more than {size - 1} bytes"):
        FilesystemBackend(url, max_bytes=size - 1).get("a")


@pytest.mark.parametrize("secret", [None, SECRET])
def test_a_store_on_it(url: str, secret: bytes | None) -> None:
    settings = Settings(shared_url=url, shared_secret=secret, shared_timeout=60)
    first, second = open_shared(settings), open_shared(settings)
    assert first is not None
    assert second is not None
    assert first.get(DIGEST) is None
    assert first.put(ARTIFACT)
    assert second.get(DIGEST) == ARTIFACT
    second.remove(DIGEST)
    assert first.get(DIGEST) is None
    assert first.stats() == StoreStats(misses=2, puts=1, reasons={"absent": 2})


def test_files_lie_where_their_names_say_and_nothing_else_does(tmp_path: Path) -> None:
    store = SharedStore(FilesystemBackend(f"file://{tmp_path}"))
    store.put(ARTIFACT)
    store.put(ARTIFACT)
    assert files_in(tmp_path) == [OBJECT]
    assert (tmp_path / OBJECT).read_bytes() == encode(ARTIFACT)


def test_a_put_that_fails_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "v2").write_bytes(b"in the way")
    store = SharedStore(FilesystemBackend(f"file://{tmp_path}"))
    with pytest.warns(CacheWarning, match=f"shared cache at file://{tmp_path}"):
        assert not store.put(ARTIFACT)
    assert files_in(tmp_path) == ["v2"]


def test_what_killed_writers_left_is_swept(tmp_path: Path) -> None:
    staging = tmp_path / "staging"
    staging.mkdir()
    for name, age in (("1-0123456789abcdef", 7200), ("2-0123456789abcdef", 60)):
        (staging / name).touch()
        os.utime(staging / name, (time.time() - age, time.time() - age))
    SharedStore(FilesystemBackend(f"file://{tmp_path}")).put(ARTIFACT)
    assert files_in(tmp_path) == ["staging/2-0123456789abcdef", OBJECT]


def test_a_planted_link_gives_nothing_to_be_swept(tmp_path: Path) -> None:
    home, shared = tmp_path / "home", tmp_path / "shared"
    for folder in (home, shared):
        folder.mkdir()
    for name in ("precious", "1-0123456789abcdef"):
        (home / name).touch()
        os.utime(home / name, (0, 0))
    (shared / "staging").symlink_to(home)
    SharedStore(FilesystemBackend(f"file://{shared}")).put(ARTIFACT)
    assert files_in(home) == ["1-0123456789abcdef", "precious"]


@pytest.mark.parametrize("max_bytes", [None, 1000])
def test_a_file_that_has_no_end_is_not_read_to_it(tmp_path: Path, max_bytes: int | None) -> None:
    (tmp_path / "a").symlink_to("/dev/zero")
    found = FilesystemBackend(f"file://{tmp_path}", max_bytes=max_bytes).get("a")
    assert found is None or len(found) <= 1


def test_the_umask_says_who_may_read_files(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        SharedStore(FilesystemBackend(f"file://{tmp_path}")).put(ARTIFACT)
    finally:
        os.umask(before)
    assert (tmp_path / OBJECT).stat().st_mode & 0o777 == 0o640


def test_a_directory_in_place_of_an_entry_is_damage(tmp_path: Path) -> None:
    (tmp_path / OBJECT).mkdir(parents=True)
    store = SharedStore(FilesystemBackend(f"file://{tmp_path}"))
    with pytest.warns(CacheWarning, match="is a directory"):
        assert store.get(DIGEST) is None
    assert store.stats().reasons == {"damaged": 1}
    assert not store.condition().is_down
    with pytest.warns(CacheWarning, match="EISDIR"):
        assert not store.put(ARTIFACT)
    assert files_in(tmp_path) == []


def test_readers_see_whole_entries_while_others_write(tmp_path: Path) -> None:
    values = [bytes([n]) * 1_000_000 for n in range(4)]
    backend = FilesystemBackend(f"file://{tmp_path}")
    backend.put("a", values[0])
    done = threading.Event()

    def write() -> None:
        while not done.is_set():
            for value in values:
                backend.put("a", value)

    writers = [threading.Thread(target=write) for _ in range(2)]
    for writer in writers:
        writer.start()
    try:
        for _ in range(200):
            assert backend.get("a") in values
    finally:
        done.set()
        for writer in writers:
            writer.join()
    assert files_in(tmp_path) == ["a"]


def test_a_forked_child_makes_its_own_file_system(tmp_path: Path) -> None:
    backend = FilesystemBackend(f"file://{tmp_path}")
    store = SharedStore(backend)
    store.put(ARTIFACT)
    pid = os.fork()
    if not pid:
        os._exit(store.get(DIGEST) != ARTIFACT or backend._opened[0] != os.getpid())
    assert os.waitpid(pid, 0)[1] == 0
    assert backend._opened[0] == os.getpid()


def test_a_bucket_is_asked_through_the_package_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(ConfigError, match=r"s3://bucket/x needs.*s3fs.*twinjit\[fsspec\] and s3fs"):
        FilesystemBackend("s3://bucket/x")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ConfigError, match=r"needs the package fsspec; install twinjit\[fsspec\]$"):
        FilesystemBackend("file:///x")


def test_what_cannot_be_read_is_an_error_of_the_backend(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        FilesystemBackend(f"file://{tmp_path}").get("a")
