"""Bundles: whole or refused, the same bytes for the same entries, and nothing but entries."""

from __future__ import annotations

import io
import json
import os
import re
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults import largest_file, open_descriptors
from tests.samples import numbered_artifact, sample_artifact, with_sections
from twinjit.artifact import Artifact, encode
from twinjit.errors import BundleError, ConfigError
from twinjit.packing import Packed
from twinjit.store.bundle import Exported, Imported, export_bundle, import_bundle
from twinjit.store.direct import encode_record
from twinjit.store.disk import DiskStore

BLOCK = 512
V1 = Path(__file__).parent.parent / "golden" / "artifact-v1.tj"
ARTIFACTS = [sample_artifact(), *(numbered_artifact(number, 1500) for number in range(3))]


def source(number: int) -> bytes:
    return bytes([number]) * 32


class Store(DiskStore):
    """A disk store whose records can be walked."""

    def records(self) -> Iterator[tuple[bytes, bytes]]:
        for path in Path(self.root).rglob("*.ref"):
            data = path.read_bytes()
            yield data[12:44], data[44:76]


@pytest.fixture
def full(tmp_path: Path) -> Store:
    store = Store(tmp_path / "full")
    for number, artifact in enumerate(ARTIFACTS):
        assert store.put(artifact)
        assert store.put_direct(source(number), artifact.key_digest)
    return store


@pytest.fixture
def empty(tmp_path: Path) -> Store:
    return Store(tmp_path / "empty")


@pytest.fixture
def bundle(full: Store, tmp_path: Path) -> Path:
    export_bundle(full, tmp_path / "bundle.tar")
    return tmp_path / "bundle.tar"


def name_of(artifact: Artifact) -> str:
    return f"objects/{artifact.key_digest.hex()}.tj"


def write_tar(path: Path, members: list[tuple[str, bytes]], **fields: object) -> Path:
    """Make a tar file of regular members, whose headers have fields of their own."""
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as tar:
        for name, data in members:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            for field, value in fields.items():
                setattr(member, field, value)
            tar.addfile(member, io.BytesIO(data))
    return path


def test_round_trip(full: Store, empty: Store, tmp_path: Path) -> None:
    path = tmp_path / "bundle.tar"
    assert export_bundle(full, path) == Exported(4, 4, path.stat().st_size, {})
    assert path.stat().st_mode & 0o777 == 0o600
    assert import_bundle(empty, path) == Imported(8, 0, {})
    for number, artifact in enumerate(ARTIFACTS):
        assert empty.get(artifact.key_digest) == artifact
        assert empty.get_direct(source(number)) == artifact.key_digest
    assert import_bundle(empty, path) == Imported(0, 8, {})
    assert empty.stats().puts == 4


def test_two_exports_are_the_same_bytes(full: Store, empty: Store, tmp_path: Path) -> None:
    export_bundle(full, tmp_path / "a")
    import_bundle(empty, tmp_path / "a")
    export_bundle(empty, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_it_is_a_tar_file(bundle: Path) -> None:
    with tarfile.open(bundle, "r:") as tar:
        members = tar.getmembers()
        data = [tar.extractfile(member) for member in members]
    assert [member.name for member in members] == sorted(
        [f"direct/{source(number).hex()}.ref" for number in range(4)]
        + [name_of(artifact) for artifact in ARTIFACTS]
    )
    assert {(each.mtime, each.uid, each.gid, each.uname, each.mode) for each in members} == {
        (0, 0, 0, "", 0o600)
    }
    assert bundle.stat().st_size % tarfile.RECORDSIZE == 0
    assert len(data) == 8


def test_some_keys(full: Store, empty: Store, tmp_path: Path) -> None:
    path = tmp_path / "bundle.tar"
    unknown = bytes(32)
    wanted = [ARTIFACTS[2].key_digest, unknown, ARTIFACTS[0].key_digest]
    exported = export_bundle(full, path, keys=iter(wanted))
    assert exported[:2] == (2, 2)
    assert list(exported.left_out) == [f"objects/{unknown.hex()}.tj"]
    assert import_bundle(empty, path) == Imported(4, 0, {})
    assert empty.get_direct(source(2)) == ARTIFACTS[2].key_digest
    assert empty.get_direct(source(1)) is None


def test_an_empty_store(empty: Store, tmp_path: Path) -> None:
    path = tmp_path / "bundle.tar"
    assert export_bundle(empty, path) == Exported(0, 0, tarfile.RECORDSIZE, {})
    assert import_bundle(empty, path) == Imported(0, 0, {})


def test_a_damaged_entry_is_left_out(full: Store, empty: Store, tmp_path: Path) -> None:
    (damaged,) = Path(full.root).rglob(f"{ARTIFACTS[1].key_digest.hex()[2:]}.tj")
    damaged.write_bytes(b"damaged")
    before = full.totals()
    exported = export_bundle(full, tmp_path / "bundle.tar")
    (why,) = exported.left_out.items()
    assert why[0] == name_of(ARTIFACTS[1])
    assert why[1].startswith("damaged: ")
    assert full.totals() == before
    assert import_bundle(empty, tmp_path / "bundle.tar").taken == exported.entries + 4 == 7


def test_an_export_that_fails_changes_nothing(full: Store, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "bundle.tar").write_bytes(b"before")
    before = open_descriptors()
    with largest_file(3000), pytest.raises(OSError, match="too large"):
        export_bundle(full, folder / "bundle.tar")
    assert [path.name for path in folder.iterdir()] == ["bundle.tar"]
    assert (folder / "bundle.tar").read_bytes() == b"before"
    assert open_descriptors() == before
    missing = str(tmp_path / "no" / "folder")
    with pytest.raises(FileNotFoundError) as raised:
        export_bundle(full, missing)
    assert raised.value.filename == missing


@pytest.mark.parametrize("kind", ["folder", "pipe", "device"])
def test_an_export_replaces_nothing_but_files(full: Store, tmp_path: Path, kind: str) -> None:
    """As root, a bundle took the place of ``/dev/null``."""
    there = tmp_path / "there"
    if kind == "folder":
        there.mkdir()
    elif kind == "pipe":
        os.mkfifo(there)
    else:
        try:
            os.mknod(there, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        except PermissionError:
            pytest.skip("making devices needs root")
    (tmp_path / "link").symlink_to(there)
    before = there.lstat()
    for path in (there, tmp_path / "link"):
        with pytest.raises(BundleError, match=f"{there} is there, and no file"):
            export_bundle(full, path)
    assert (there.lstat().st_ino, there.lstat().st_mode) == (before.st_ino, before.st_mode)
    assert (tmp_path / "link").is_symlink()


def test_an_export_through_a_link(full: Store, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere" / "bundle.tar")
    export_bundle(full, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "elsewhere" / "bundle.tar").stat().st_size > 0


def test_cut_short_anywhere(bundle: Path, tmp_path: Path) -> None:
    """At each block, and one byte to each side of it."""
    data = bundle.read_bytes()
    end = len(data.rstrip(b"\0"))
    end += -end % BLOCK + 2 * BLOCK
    near = (block + more for block in range(0, len(data), BLOCK) for more in (-1, 0, 1))
    taken_before = 0
    for size in sorted(size for size in near if size >= 0):
        bundle.write_bytes(data[:size])
        store = Store(tmp_path / f"store-{size}")
        if size >= end:
            assert import_bundle(store, bundle) == Imported(8, 0, {})
            continue
        with pytest.raises(BundleError, match=r"bundle.tar: .*Export the bundle again") as caught:
            import_bundle(store, bundle)
        taken = len([*store.digests(), *store.records()])
        assert f"; {taken} members were taken" in str(caught.value)
        assert taken_before <= taken <= 8
        taken_before = taken
    assert taken_before == 8


@pytest.mark.parametrize("content", [b"", b"a", b"PK\3\4" * 1000, b"\x1f\x8b" * 512, b"\0" * 512])
def test_what_is_no_bundle(empty: Store, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(BundleError, match="no bundle"):
        import_bundle(empty, path)
    with pytest.raises(FileNotFoundError):
        import_bundle(empty, tmp_path / "missing")
    assert not Path(empty.root).exists()


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "objects/../../etc/passwd",
        "objects/" + "0" * 63 + ".tj",
        "objects/" + "A" * 64 + ".tj",
        "objects/" + "0" * 64 + ".ref",
        "direct/" + "0" * 64 + ".tj",
        "objects/" + "0" * 64 + ".tj\n",
        "x/objects/" + "0" * 64 + ".tj",
        "objects/" + "x" * 300,
        "größe",
    ],
)
def test_foreign_names(empty: Store, tmp_path: Path, name: str) -> None:
    good = ARTIFACTS[1]
    path = write_tar(tmp_path / "bundle.tar", [(name, encode(good)), (name_of(good), encode(good))])
    before = {each for each in tmp_path.rglob("*") if empty.root not in str(each)}
    imported = import_bundle(empty, path)
    assert (imported.taken, imported.present) == (1, 0)
    assert set(imported.refused.values()) <= {
        "it has not the name of an entry",
        "it is not a regular file",  # the header for a long name
    }
    assert list(empty.digests()) == [good.key_digest]
    assert {each for each in tmp_path.rglob("*") if empty.root not in str(each)} == before


@pytest.mark.parametrize(
    "kind",
    [
        tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE,
        tarfile.DIRTYPE, tarfile.CONTTYPE, tarfile.GNUTYPE_SPARSE, b"Z",
    ],
)  # fmt: skip
def test_what_is_no_regular_file(empty: Store, tmp_path: Path, kind: bytes) -> None:
    path = tmp_path / "bundle.tar"
    bad, good = ARTIFACTS[1:3]
    with tarfile.open(path, "w") as tar:
        member = tarfile.TarInfo(name_of(bad))
        member.type, member.linkname = kind, "/etc/passwd"
        if kind in (tarfile.CONTTYPE, b"Z"):
            member.size = len(encode(bad))
        tar.addfile(member, io.BytesIO(encode(bad)[: member.size]))
        member = tarfile.TarInfo(name_of(good))
        member.size = len(encode(good))
        tar.addfile(member, io.BytesIO(encode(good)))
    assert import_bundle(empty, path) == Imported(1, 0, {name_of(bad): "it is not a regular file"})
    assert list(empty.digests()) == [good.key_digest]


def test_a_folder_packed_by_others(full: Store, empty: Store, bundle: Path) -> None:
    """With folders, owners, times and extended headers."""
    with tarfile.open(bundle) as tar:
        contents = {each.name: tar.extractfile(each).read() for each in tar}  # type: ignore[union-attr]
    with tarfile.open(bundle, "w", format=tarfile.PAX_FORMAT) as tar:
        for name, data in contents.items():
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.uname = len(data), 1.5, "größe"
            member.pax_headers = {"path": "../../etc/passwd"} if name == min(contents) else {}
            tar.addfile(member, io.BytesIO(data))
    imported = import_bundle(empty, bundle)
    assert imported.taken == 8
    assert set(imported.refused.values()) == {"it is not a regular file"}


def test_members_that_are_not_what_their_names_say(empty: Store, tmp_path: Path) -> None:
    one, other = ARTIFACTS[1:3]
    sections = [*one.sections, ("more", Packed(b"no frame", 100))]
    listed = json.dumps({**one.manifest, "more": "0" * 64}).encode()
    unpackable = Artifact(one.key_digest, tuple({**dict(sections), "manifest": listed}.items()))
    damaged = encode(sample_artifact()).replace(b"second extra", b"second EXTRA")
    members = {
        name_of(one): (encode(unpackable), "not in the codec"),
        name_of(other): (encode(one), "another key"),
        f"objects/{'1' * 64}.tj": (b"", "not an artifact"),
        name_of(ARTIFACTS[0]): (damaged, "checksum"),
        name_of(ARTIFACTS[3]): (
            encode(with_sections(ARTIFACTS[3], {"report": b"{"}, listed=True)),
            "not JSON",
        ),
        f"objects/{'0' * 64}.tj": (V1.read_bytes(), "format version 1"),
        f"direct/{source(1).hex()}.ref": (encode_record(source(2), one.key_digest), "another"),
        f"direct/{source(2).hex()}.ref": (encode(one), "damaged"),
    }
    path = write_tar(tmp_path / "b", [(name, data) for name, (data, _) in members.items()])
    imported = import_bundle(empty, path)
    assert imported[:2] == (0, 0)
    assert set(imported.refused) == set(members)
    for name, (_, why) in members.items():
        assert why in imported.refused[name]
    assert not Path(empty.root).exists()


def test_duplicates(empty: Store, tmp_path: Path) -> None:
    one, other = ARTIFACTS[1:3]
    record = f"direct/{source(1).hex()}.ref"
    members = [
        (name_of(one), encode(other)),
        (name_of(one), encode(one)),
        (name_of(one), encode(one)),
        (record, encode_record(source(1), one.key_digest)),
        (record, encode_record(source(1), other.key_digest)),
        (record, encode_record(source(1), other.key_digest)),
    ]
    imported = import_bundle(empty, write_tar(tmp_path / "b", members))
    assert imported[:2] == (3, 2)
    assert list(imported.refused) == [name_of(one)]
    assert empty.get_direct(source(1)) == other.key_digest


def test_huge_members_are_not_read(empty: Store, tmp_path: Path) -> None:
    path = tmp_path / "b"
    size = 1 << 40
    member = tarfile.TarInfo(name_of(ARTIFACTS[1]))
    member.size = size
    good = write_tar(tmp_path / "good", [(name_of(ARTIFACTS[2]), encode(ARTIFACTS[2]))])
    with open(path, "wb") as file:
        file.write(member.tobuf(tarfile.GNU_FORMAT))
        file.seek(size, os.SEEK_CUR)  # a hole
        file.write(good.read_bytes())
    imported = import_bundle(empty, path)
    assert imported == Imported(1, 0, {name_of(ARTIFACTS[1]): "it is larger than 1073741824 bytes"})


@pytest.mark.parametrize("size", [1 << 40, 1 << 62, 1 << 80, -1, -512, -(1 << 80)])
def test_sizes_that_the_file_does_not_have(empty: Store, tmp_path: Path, size: int) -> None:
    path = write_tar(tmp_path / "b", [(name_of(ARTIFACTS[1]), encode(ARTIFACTS[1]))])
    header = bytearray(path.read_bytes()[:BLOCK])
    header[124:136] = (size % 256**12 | 128 << 88).to_bytes(12, "big")
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    path.write_bytes(bytes(header) + path.read_bytes()[BLOCK:])
    with pytest.raises(BundleError, match="cut short"):
        import_bundle(empty, path)


def test_a_limit_of_ones_own(empty: Store, bundle: Path) -> None:
    imported = import_bundle(empty, bundle, max_member_bytes=108)
    assert imported.taken == 4
    assert set(imported.refused.values()) == {"it is larger than 108 bytes"}


def test_a_store_that_takes_nothing(bundle: Path, tmp_path: Path) -> None:
    imported = import_bundle(Store(tmp_path / "none", max_bytes=0), bundle)
    assert imported[:2] == (0, 0)
    assert {each.partition(":")[0] for each in imported.refused.values()} == {
        "the store did not take it"
    }
    assert len(imported.refused) == 8


SECRET = b"sixteen bytes or more"


def test_signed(full: Store, empty: Store, tmp_path: Path) -> None:
    path = tmp_path / "bundle.tar"
    assert export_bundle(full, path, secret=SECRET)[:2] == (4, 4)
    first = path.read_bytes()
    export_bundle(full, path, secret=SECRET)
    assert path.read_bytes() == first
    assert import_bundle(empty, path, secret=SECRET) == Imported(8, 0, {})
    assert empty.get(ARTIFACTS[0].key_digest) == ARTIFACTS[0]
    assert import_bundle(empty, path, secret=SECRET) == Imported(0, 8, {})


def test_signed_with_another_secret_or_not_at_all(
    full: Store, empty: Store, bundle: Path, tmp_path: Path
) -> None:
    signed = tmp_path / "signed.tar"
    export_bundle(full, signed, secret=SECRET)
    for path, secret, why in [
        (bundle, SECRET, "not signed"),
        (signed, SECRET + b"x", "does not match"),
        (signed, None, "is signed"),
    ]:
        imported = import_bundle(empty, path, secret=secret)
        assert imported[:2] == (0, 0)
        assert len(imported.refused) == 8
        for each in imported.refused.values():
            assert re.search(why, each)
    assert not Path(empty.root).exists()


def test_a_signed_member_under_another_name(full: Store, empty: Store, tmp_path: Path) -> None:
    """The index is signed by name too: no signed record can lead another program astray."""
    path = tmp_path / "bundle.tar"
    export_bundle(full, path, secret=SECRET)
    with tarfile.open(path) as tar:
        data = {each.name: tar.extractfile(each).read() for each in tar}  # type: ignore[union-attr]
    names = sorted(data)
    swapped = list(zip(names, [data[name] for name in [*names[1:], names[0]]], strict=True))
    imported = import_bundle(empty, write_tar(path, swapped), secret=SECRET)
    assert imported[:2] == (0, 0)
    assert set(imported.refused) == set(names)


@pytest.mark.parametrize("secret", [b"", b"short"])
def test_a_secret_that_can_be_guessed(
    full: Store, empty: Store, bundle: Path, secret: bytes
) -> None:
    before = bundle.read_bytes()
    with pytest.raises(ConfigError, match="secret"):
        export_bundle(full, bundle, secret=secret)
    with pytest.raises(ConfigError, match="secret"):
        import_bundle(empty, bundle, secret=secret)
    assert bundle.read_bytes() == before


@pytest.mark.parametrize("path", [-1, 0, True, None, b"x", "a\0b", 2.5])
def test_what_is_no_path(full: Store, path: object) -> None:
    with pytest.raises(BundleError, match="no path"):
        export_bundle(full, path)  # type: ignore[arg-type]
    with pytest.raises(BundleError, match="no path"):
        import_bundle(full, path)  # type: ignore[arg-type]
    os.fstat(0)  # was not closed


def test_nobody_else_can_read_a_bundle(full: Store, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        export_bundle(full, tmp_path / "bundle")
    finally:
        os.umask(before)
    assert (tmp_path / "bundle").stat().st_mode & 0o777 == 0o600
