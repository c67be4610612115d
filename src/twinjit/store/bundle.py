"""What a store holds, in one file: to warm the stores of containers and other machines.

Who can write a bundle can run code in whoever imports it, unless a secret is asked for.
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from io import BufferedWriter, FileIO
from typing import BinaryIO, NamedTuple, Protocol

from twinjit.artifact import Artifact, encode
from twinjit.errors import ArtifactError, BundleError, SealError
from twinjit.key import DIGEST_SIZE
from twinjit.store.base import Store
from twinjit.store.direct import decode_record, encode_record
from twinjit.store.examination import Bad, parse_whole
from twinjit.store.publish import write_whole
from twinjit.store.seal import Seal

__all__ = ["Exported", "Imported", "export_bundle", "import_bundle"]

# A bundle is a tar file (POSIX.1-1988 ustar, not compressed) of regular members:
#
#   objects/<64 digits>.tj    one artifact (entry.py), by its key's digest in lower-case hexadecimal
#   direct/<64 digits>.ref    one direct record (direct.py), by its source's digest
#
# sorted by name, without times and owners, so that the same entries give the same bytes. In a
# signed bundle, each is sealed under its name (seal.py). A bundle has no version: each member has.
_OBJECT = ("objects/", ".tj")
_RECORD = ("direct/", ".ref")

_MEMBER_LIMIT = 1 << 30

# A tar file ends with two blocks of zeros, and then more up to a multiple of RECORDSIZE.
_END = 2 * tarfile.BLOCKSIZE

# Types of members that have no content, whatever size they say.
_EMPTY = (
    tarfile.LNKTYPE,
    tarfile.SYMTYPE,
    tarfile.DIRTYPE,
    tarfile.FIFOTYPE,
    tarfile.CHRTYPE,
    tarfile.BLKTYPE,
)


class WalkedStore(Protocol):
    """What a store must be able to do to be exported."""

    def digests(self) -> Iterable[bytes]:
        """Walk the key digests of all artifacts."""
        ...

    def records(self) -> Iterable[tuple[bytes, bytes]]:
        """Walk the direct records: the digests of source and key."""
        ...

    def inspect(self, key_digest: bytes) -> Artifact | Bad:
        """Read an artifact, or say why a lookup would not take it."""
        ...


class Exported(NamedTuple):
    """What `export_bundle` did.

    Attributes
    ----------
    entries, records
        How many artifacts and direct records were written.
    bytes
        Size of the file.
    left_out
        Why artifacts were not written, by the name of the member they would have been.
    """

    entries: int
    records: int
    bytes: int
    left_out: Mapping[str, str]


class Imported(NamedTuple):
    """What `import_bundle` did, artifacts and direct records taken together.

    Attributes
    ----------
    taken
        Members that were put into the store.
    present
        Members that the store had already, which were left as they were there.
    refused
        Why other members were not taken, by their names.
    """

    taken: int
    present: int
    refused: Mapping[str, str]


def export_bundle(
    store: WalkedStore,
    path: str | os.PathLike[str],
    keys: Iterable[bytes] | None = None,
    *,
    secret: bytes | None = None,
) -> Exported:
    """Write what a store holds as one file, for this user alone, whole or not at all.

    Parameters
    ----------
    store
        Such as a `DiskStore`. To export entries is not to use them.
    path
        The file; one that is there is replaced. A link stays, and what it leads to is replaced.
    keys
        Digests of the keys to export, with the direct records that lead to them; by default all.
    secret
        Signs the members; see `Seal`.

    Raises
    ------
    ConfigError
        If the secret is too short.
    BundleError
        If the path is none, or that of a device, a pipe or a folder.
    OSError
        If the file cannot be written.
    """
    path = os.path.realpath(_checked(path))
    if os.path.lexists(path) and not os.path.isfile(path):
        raise BundleError(f"{path} is there, and no file that a bundle could take the place of")
    wanted = set(store.digests() if keys is None else keys)
    records = sorted(record for record in store.records() if record[1] in wanted)
    seal = Seal(secret) if secret is not None else None

    def write(unbuffered: FileIO) -> Exported:
        left_out: dict[str, str] = {}
        with BufferedWriter(unbuffered) as file:
            for source_digest, key_digest in records:
                name = _name(source_digest, _RECORD)
                _write(file, name, encode_record(source_digest, key_digest), seal)
            for key_digest in sorted(wanted):
                name = _name(key_digest, _OBJECT)
                data = _encoded(store.inspect(key_digest))
                if isinstance(data, str):
                    left_out[name] = data
                else:
                    _write(file, name, data, seal)
            file.write(bytes(_END + -(file.tell() + _END) % tarfile.RECORDSIZE))
            size = file.tell()
        return Exported(len(wanted) - len(left_out), len(records), size, left_out)

    temporary = f"{path}.{os.getpid()}-{os.urandom(8).hex()}.part"
    try:
        return write_whole(path, temporary, write)
    except OSError as error:  # the user knows nothing of the other name
        error.filename, error.filename2 = path, None
        raise


def _encoded(found: Artifact | Bad) -> bytes | str:
    """Write an artifact as a member, or say why it is left out."""
    if isinstance(found, Bad):
        return f"{found.reason}: {found.message}"
    data = encode(found)
    return data if len(data) <= _MEMBER_LIMIT else "it is too large"


def import_bundle(
    store: Store,
    path: str | os.PathLike[str],
    *,
    secret: bytes | None = None,
    max_member_bytes: int = _MEMBER_LIMIT,
) -> Imported:
    """Put what a bundle holds into a store; each member is checked first as far as it can be.

    Parameters
    ----------
    store
        Any store; it may refuse what exceeds its bounds.
    path
        A file that `export_bundle` wrote.
    secret
        With it, only members that were signed with it are taken. Without it, only unsigned ones:
        then it must be certain who wrote the file.
    max_member_bytes
        Larger members are refused without being read.

    Raises
    ------
    BundleError
        If the path is none, or the file no bundle, or ends before its end. What came whole before
        that was taken.
    ConfigError
        If the secret is too short.
    OSError
        If the file cannot be read.
    """
    importing = _Import(store, Seal(secret) if secret is not None else None, max_member_bytes)
    with open(_checked(path), "rb") as file:
        try:
            importing.take_all(file)
        except BundleError as error:
            raise BundleError(
                f"{os.fspath(path)}: {error.message}; {importing.taken} members were taken, and "
                f"{importing.present} were there already. Export the bundle again."
            ) from None
    return Imported(importing.taken, importing.present, importing.refused)


class _Import:
    def __init__(self, store: Store, seal: Seal | None, max_member_bytes: int) -> None:
        self._store = store
        self._seal = seal
        self._max_member_bytes = max_member_bytes
        self.taken = self.present = 0
        self.refused: dict[str, str] = {}

    def take_all(self, file: BinaryIO) -> None:
        for member in _members(file):
            self._take(member, file)

    def _take(self, member: tarfile.TarInfo, file: BinaryIO) -> None:
        try:
            self._try_take(member, file)
        except ArtifactError as error:
            self.refused[member.name] = error.message

    def _try_take(self, member: tarfile.TarInfo, file: BinaryIO) -> None:
        key_digest, source_digest = _digest(member.name, _OBJECT), _digest(member.name, _RECORD)
        if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
            raise ArtifactError("it is not a regular file")
        if not key_digest and not source_digest:
            raise ArtifactError("it has not the name of an entry")
        if member.size > self._max_member_bytes:
            raise ArtifactError(f"it is larger than {self._max_member_bytes} bytes")
        data = file.read(member.size)
        if self._seal:
            data = self._seal.unwrap(member.name, data)
        elif Seal.is_on(data):
            raise SealError(
                "the entry is signed; to check that, give the secret: TWINJIT_SHARED_SECRET_FILE"
            )
        if key_digest:
            self._take_artifact(key_digest, data)
        else:
            self._take_record(source_digest, data)

    def _take_artifact(self, key_digest: bytes, data: bytes) -> None:
        artifact = parse_whole(data, key_digest)
        is_present = self._store.contains(key_digest)
        self._count(is_present, is_present or self._store.put(artifact))

    def _take_record(self, source_digest: bytes, data: bytes) -> None:
        key_digest = decode_record(data, source_digest)
        is_present = self._store.get_direct(source_digest) == key_digest
        self._count(is_present, is_present or self._store.put_direct(source_digest, key_digest))

    def _count(self, is_present: bool, is_there: bool) -> None:
        if not is_there:
            raise ArtifactError("the store did not take it: see its faults and its bound")
        self.present += is_present
        self.taken += not is_present


def _name(digest: bytes, kind: tuple[str, str]) -> str:
    return digest.hex().join(kind)


def _digest(name: str, kind: tuple[str, str]) -> bytes:
    """Return the digest in a member's name; empty if it is not a name of that kind."""
    digits = name.removeprefix(kind[0]).removesuffix(kind[1])
    if len(digits) != 2 * DIGEST_SIZE or digits.strip("0123456789abcdef"):
        return b""
    digest = bytes.fromhex(digits)
    return digest if _name(digest, kind) == name else b""


def _members(file: BinaryIO) -> Iterator[tarfile.TarInfo]:
    """Give the headers of a tar file, each with the file at the content that belongs to it.

    They are read one by one rather than by `tarfile.open`, which would read what extended headers
    hold, follow what they say, and take a file that is cut short between members for whole.
    """
    end = os.fstat(file.fileno()).st_size
    while any(block := file.read(tarfile.BLOCKSIZE)):
        try:
            member = tarfile.TarInfo.frombuf(block, "utf-8", "backslashreplace")
        except tarfile.HeaderError as error:
            raise BundleError(f"no bundle, or a damaged one: tar header: {error}") from error
        size = 0 if member.type in _EMPTY else member.size
        following = file.tell() + size + -size % tarfile.BLOCKSIZE
        if size < 0 or following > end:
            raise BundleError(f"the bundle is cut short in {member.name!r}")
        yield member
        file.seek(following)
    if block + file.read(_END - len(block)) != bytes(_END):
        raise BundleError("no bundle, or one that is cut short: it has no end")


def _write(file: BinaryIO, name: str, data: bytes, seal: Seal | None) -> None:
    if seal:
        data = seal.wrap(name, data)
    member = tarfile.TarInfo(name)
    member.size = len(data)
    member.mode = 0o600
    file.write(member.tobuf(tarfile.USTAR_FORMAT))
    file.write(data)
    file.write(bytes(-len(data) % tarfile.BLOCKSIZE))


def _checked(path: str | os.PathLike[str]) -> str:
    """Return a path as text; a number would be a descriptor to `open`, which closed it."""
    if not isinstance(path, (str, os.PathLike)) or "\0" in (name := os.fspath(path)):
        raise BundleError(f"{path!r} is no path of a file; give one as text")
    return name
