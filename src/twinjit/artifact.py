"""What one compilation produces, and the one self-checking file it is kept in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from struct import Struct
from struct import error as StructError
from typing import Any

from blake3 import blake3

from twinjit.errors import ArtifactError, ArtifactVersionError, KeyPartError
from twinjit.key import DIGEST_SIZE, Key
from twinjit.lazily import lazily

__all__ = ["Artifact", "decode", "encode"]

# One entry is one file. Integers are little-endian, names are UTF-8.
#
#   entry    := magic version:u32 count:u32 key{32} section{count} content{count} checksum{32}
#   magic    := 0x89 "TWINJIT"
#   key      := digest of the key (see key.py)
#   section  := codec:u8 name-size:u8 size:u64 name{name-size}
#   codec    := 0 (content as it is)
#   content  := 0x00 up to the next multiple of 16 in the file, then `size` bytes;
#               contents come in the order of the sections
#   checksum := BLAKE3-256 over all bytes before it
#
# The sections "key", "object", "signatures", "report" and "target" are always there, in any order;
# other names are extras: "constants" lists what the code looks for outside of its object
# (constants.py), "program" is what it was compiled from (confirmation.py). All but "object" and the
# extras are JSON in ASCII: "key" as in Key.to_data, "signatures" a list of objects, "report" and
# "target" one object each.
#
# Object code starts at a multiple of 16 because LLVM refuses objects at odd addresses.
#
# In every version the magic and the version come first and the checksum last, so that an intact
# entry of another version is told from a damaged one. Numbers of codecs are never used again for
# another codec; a new codec means a new version.
_MAGIC = b"\x89TWINJIT"

# 1: as above.
_VERSION = 1

_CODEC_RAW = 0

_HEADER = Struct(f"<8sII{DIGEST_SIZE}s")
_SECTION = Struct("<BBQ")
_CHECKSUM_SIZE = 32
_ALIGNMENT = 16
_REQUIRED = ("key", "object", "signatures", "report", "target")
_NAME_LIMIT = 255


@dataclass(frozen=True)
class Artifact:
    """One compiled program: object code and what is known about it.

    An artifact is made by `build` or `decode`. Its JSON sections are parsed when first asked for,
    and the parsed values are shared: treat them as constants.

    Attributes
    ----------
    key_digest
        Digest of the key, 32 bytes.
    sections
        Pairs of name and content, all of the entry; see the grammar in this file.
    """

    key_digest: bytes
    sections: tuple[tuple[str, bytes | memoryview], ...]

    @classmethod
    def build(
        cls,
        *,
        key: Key,
        object_code: bytes,
        signatures: Sequence[Mapping[str, Any]],
        report: Mapping[str, Any],
        target: Mapping[str, Any],
        extras: Mapping[str, bytes] | None = None,
    ) -> Artifact:
        """Make an artifact from its values.

        Parameters
        ----------
        key
            What the code was compiled from and how.
        object_code
            A relocatable object file.
        signatures
            One JSON-able object per callable function.
        report, target
            JSON-able objects. Keys that are not text come back as text.
        extras
            Further sections by name (1 to 255 bytes in UTF-8), kept in the order of their names.

        Raises
        ------
        ArtifactError
            If a value cannot be written as JSON (NaN and infinities included) or the name of an
            extra is empty, too long, or taken.
        """
        extras = extras or {}
        for name in extras:
            if name in _REQUIRED or not 0 < len(name.encode()) <= _NAME_LIMIT:
                raise ArtifactError(f"{name!r} cannot be the name of an artifact's section")
        return cls(
            key.digest,
            (
                ("key", _dump("key", key.to_data())),
                ("object", bytes(object_code)),
                ("signatures", _dump("signatures", list(signatures))),
                ("report", _dump("report", dict(report))),
                ("target", _dump("target", dict(target))),
                *((name, bytes(extras[name])) for name in sorted(extras)),
            ),
        )

    @property
    def object_code(self) -> bytes | memoryview:
        """The object file; at a 16-byte boundary in memory if it comes from `decode`."""
        return self._contents["object"]

    @lazily
    def key(self) -> Key:
        """The key with all its parts.

        Raises
        ------
        ArtifactError
            If the parts do not give `key_digest`.
        """
        try:
            key = Key.from_data(self._parse("key", list))
        except KeyPartError as error:
            raise ArtifactError(f"the artifact's key cannot be read: {error}") from error
        if key.digest != self.key_digest:
            raise ArtifactError("the artifact's key is not the one it was stored under")
        return key

    @lazily
    def signatures(self) -> list[dict[str, Any]]:
        """One object per callable function.

        Raises
        ------
        ArtifactError
            If the section is not a list of JSON objects.
        """
        signatures: list[dict[str, Any]] = self._parse("signatures", list)
        if not all(isinstance(signature, dict) for signature in signatures):
            raise ArtifactError("the artifact's section 'signatures' holds a non-object")
        return signatures

    @lazily
    def report(self) -> dict[str, Any]:
        """How the compilation went. Raises `ArtifactError` if the section is no JSON object."""
        report: dict[str, Any] = self._parse("report", dict)
        return report

    @lazily
    def target(self) -> dict[str, Any]:
        """What the code runs on. Raises `ArtifactError` if the section is no JSON object."""
        target: dict[str, Any] = self._parse("target", dict)
        return target

    def section(self, name: str) -> bytes | memoryview | None:
        """Return the content of a section as it is; None where there is none."""
        return self._contents.get(name)

    @property
    def extras(self) -> dict[str, bytes]:
        """Copies of the further sections, by name."""
        return {name: bytes(content) for name, content in self.sections if name not in _REQUIRED}

    @lazily
    def _contents(self) -> dict[str, bytes | memoryview]:
        return dict(self.sections)

    def _parse(self, name: str, kind: type) -> Any:
        try:
            value = json.loads(bytes(self._contents[name]))
        except (ValueError, RecursionError) as error:
            raise ArtifactError(f"the artifact's section {name!r} is not JSON: {error}") from error
        if not isinstance(value, kind):
            raise ArtifactError(f"the artifact's section {name!r} is not a JSON {kind.__name__}")
        return value


def encode(artifact: Artifact) -> bytes:
    """Write an artifact as one entry; the same artifact always gives the same bytes."""
    table = [_HEADER.pack(_MAGIC, _VERSION, len(artifact.sections), artifact.key_digest)]
    for name, content in artifact.sections:
        raw_name = name.encode()
        table += _SECTION.pack(_CODEC_RAW, len(raw_name), len(content)), raw_name
    chunks: list[bytes | memoryview] = [b"".join(table)]
    position = len(chunks[0])
    for _, content in artifact.sections:
        padding = -position % _ALIGNMENT
        chunks += bytes(padding), content
        position += padding + len(content)
    body = b"".join(chunks)
    return body + blake3(body).digest()


def decode(data: bytes) -> Artifact:
    """Read one entry, without a copy: the artifact's contents are views into `data`.

    Raises
    ------
    ArtifactVersionError
        If the entry is intact and of another version.
    ArtifactError
        If any bit of the entry is not as it was written.
    """
    if not data.startswith(_MAGIC):
        raise ArtifactError("not an artifact: it does not start with the magic number")
    view = memoryview(data)
    end = len(data) - _CHECKSUM_SIZE
    if end < _HEADER.size or blake3(view[:end]).digest() != data[end:]:
        raise ArtifactError("the artifact is damaged: its checksum does not match")
    _, version, count, key_digest = _HEADER.unpack_from(data)
    if version != _VERSION:
        raise ArtifactVersionError(
            f"the artifact has format version {version}, this Twinjit reads {_VERSION}"
        )
    try:
        sections = _read_sections(view[:end], count)
    except (StructError, UnicodeDecodeError) as error:
        raise ArtifactError(f"the artifact's table of sections is wrong: {error}") from error
    return Artifact(key_digest, sections)


def _read_sections(view: memoryview, count: int) -> tuple[tuple[str, memoryview], ...]:
    position = _HEADER.size
    table = []
    for _ in range(count):
        codec, name_size, size = _SECTION.unpack_from(view, position)
        if codec != _CODEC_RAW:
            raise ArtifactError(f"the artifact has a section in the unknown codec {codec}")
        position += _SECTION.size
        table.append((str(view[position : position + name_size], "utf-8"), size))
        position += name_size
    sections = []
    for name, size in table:
        start = position + -position % _ALIGNMENT
        if any(view[position:start]):
            raise ArtifactError("the artifact's padding is not zero")
        position = start + size
        sections.append((name, view[start:position]))
    if position != len(view):
        raise ArtifactError("the artifact's sections do not fill it exactly")
    names = [name for name, _ in table]
    if len(set(names)) != count or not set(_REQUIRED).issubset(names):
        raise ArtifactError(f"the artifact has the wrong sections: {', '.join(names)}")
    return tuple(sections)


def _dump(name: str, value: object) -> bytes:
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ArtifactError(f"section {name!r} cannot be written as JSON: {error}") from error
