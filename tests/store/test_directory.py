"""What looks at a store without using it."""

from __future__ import annotations

import time
from pathlib import Path

from tests.samples import numbered_artifact
from tests.store.entries import path_of, set_age
from twinjit.artifact import Artifact, encode
from twinjit.store.disk import Bad, DiskStore


def test_records_and_entries_are_listed(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    store.put(numbered_artifact(1))
    store.put_direct(b"s" * 32, b"k" * 32)
    (entry,) = store.entries()
    assert entry.key_digest == numbered_artifact(1).key_digest
    assert entry.bytes == len(encode(numbered_artifact(1)))
    assert abs(entry.used - time.time()) < 100
    assert list(store.records()) == [(b"s" * 32, b"k" * 32)]


def test_verify_names_the_bad_and_changes_nothing(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    for number in range(5):
        store.put(numbered_artifact(number))
        store.put_direct(bytes([number]) * 32, bytes(32))
    assert list(store.verify()) == []
    damaged = path_of(store, numbered_artifact(1).key_digest)
    damaged.write_bytes(damaged.read_bytes()[:-1])
    path_of(store, numbered_artifact(2).key_digest).chmod(0o666)
    record = tmp_path / "v1" / "direct" / "03" / ("03" * 31 + ".ref")
    record.write_bytes(b"")
    odd = tmp_path / "v1" / "objects" / "ab"
    odd.mkdir(exist_ok=True)
    (odd / "nothex.tj").write_bytes(b"x")
    found = {(Path(bad.path).name, bad.reason) for bad in store.verify()}
    assert found == {
        (damaged.name, "damaged"),
        (path_of(store, numbered_artifact(2).key_digest).name, "untrusted"),
        (record.name, "damaged"),
        ("nothex.tj", "damaged"),
    }
    assert damaged.exists()
    assert store.stats().faults == 0


def test_what_is_examined_is_not_used(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    store.put(numbered_artifact(1))
    store.put_direct(b"s" * 32, numbered_artifact(1).key_digest)
    files = [entry for entry in tmp_path.rglob("*") if entry.suffix in (".tj", ".ref")]
    for file in files:
        set_age(file, 1000)
    before = [file.stat().st_mtime_ns for file in files]
    counts: list[tuple[int, int]] = []
    assert list(store.verify(lambda *count: counts.append(count))) == []
    assert counts == [(1, 2), (2, 2)]
    assert len(list(store.records())) == 1
    found = store.inspect(numbered_artifact(1).key_digest)
    assert isinstance(found, Artifact)
    assert found.key == numbered_artifact(1).key
    assert [file.stat().st_mtime_ns for file in files] == before
    assert store.totals() == {"puts": 1}
    assert len(files) == 2


def test_inspection_says_why_an_entry_is_none(tmp_path: Path) -> None:
    digest = numbered_artifact(1).key_digest

    def reason() -> str:
        found = DiskStore(tmp_path, max_age=500).inspect(digest)
        assert isinstance(found, Bad)
        assert found.message
        return found.reason

    assert reason() == "absent"
    store = DiskStore(tmp_path)
    store.put(numbered_artifact(2))
    assert reason() == "absent"
    store.put(numbered_artifact(1))
    path = path_of(store, digest)
    set_age(path, 1000)
    assert reason() == "expired"
    path.write_bytes(b"nonsense")
    assert reason() == "damaged"
    path.chmod(0o666)
    assert reason() == "untrusted"
    path.unlink()
    path.mkdir()
    assert reason() == "untrusted"
    (tmp_path / "v1").chmod(0o755)
    assert reason() == "untrusted"
    assert path.is_dir()


def test_verify_names_the_folder_that_is_not_trusted(tmp_path: Path) -> None:
    DiskStore(tmp_path).put(numbered_artifact(1))
    (tmp_path / "v1").chmod(0o755)
    (bad,) = DiskStore(tmp_path).verify()
    assert (bad.path, bad.reason) == (str(tmp_path / "v1"), "untrusted")
    assert "chmod 700" in bad.message
    assert list(DiskStore(tmp_path / "nowhere").verify()) == []
