"""The self-checking file that an artifact is kept in: named sections under one key."""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from struct import error as StructError

from blake3 import blake3

from twinjit.errors import ArtifactError, ArtifactVersionError
from twinjit.key import DIGEST_SIZE
from twinjit.packing import UNPACKED_LIMIT, Packed, pack

__all__ = ["NAME_LIMIT", "Content", "Sections", "read_entry", "write_entry"]

# One entry is one file. Integers are little-endian, names are UTF-8, JSON is in ASCII.
#
#   entry    := magic version:u32 count:u32 key{32} section{count} content{count} checksum{32}
#   magic    := 0x89 "TWINJIT"
#   key      := digest of the key (key.py): BLAKE3-256 over the section "key"
#   section  := codec:u8 name-size:u8 stored-size:u64 raw-size:u64 name{name-size}
#   codec    := 0 (the content as it is; both sizes are the same)
#             | 1 (the content as one frame of zstd, without a dictionary, that unpacks to raw-size
#                  bytes, 2^30 at most)
#   content  := 0x00 up to the next multiple of 16 in the file, then stored-size bytes;
#               contents come in the order of the sections, whose names differ
#   checksum := BLAKE3-256 over all bytes before it
#
# Sections that are always there, in any order:
#
#   key         the key's parts, framed as in key.py; always in codec 0
#   manifest    a JSON object with all names of sections but "key" and "manifest", and for each, in
#               hexadecimal, BLAKE3-256 keyed with the key's digest over
#                 name-size:u8 name{name-size} content{raw-size}
#               so that no section can be missing, or be another artifact's
#   object      a relocatable object file
#   signatures  a JSON list of objects, one for each callable function (signature.py)
#   report      a JSON object: "pipeline" names the pipeline, "phases" has seconds by
#               phase, "language" is "llvm" for what was compiled from LLVM IR, "imported" counts
#               functions of libraries, where there are any
#   target      a JSON object (machine.py): the texts "triple", "cpu" and "features" as LLVM writes
#               them, "instruction_sets", a list of texts, and "toolchain", an object: the build of
#               each library that made the code, by the library's name (toolchain.py)
#
# All other names are extras: "constants" lists what the code looks for outside of its object
# (constants.py), "program" is what it was compiled from (confirmation.py).
#
# Object code starts at a multiple of 16 because LLVM refuses objects at odd addresses.
#
# In every version the magic and the version come first and the checksum last, so that an intact
# entry of another version is told from a damaged one. Numbers of codecs are never used again for
# another codec; a new codec means a new version.
_MAGIC = b"\x89TWINJIT"

# 1: sections in codec 0 alone, with one size; "key" was JSON; no "manifest".
# 2: as above.
_VERSION = 2

_CODEC_RAW = 0
_CODEC_ZSTD = 1

_HEADER = Struct(f"<8sII{DIGEST_SIZE}s")
_SECTION = Struct("<BBQQ")
_CHECKSUM_SIZE = 32
_ALIGNMENT = 16

NAME_LIMIT = 255
"""Bytes in the longest name of a section."""

Content = bytes | memoryview | Packed
Sections = tuple[tuple[str, Content], ...]


def write_entry(key_digest: bytes, sections: Iterable[tuple[str, Content]]) -> bytes:
    """Write sections as one entry.

    Contents that are `bytes` are compressed where it pays, but for "key". What came from
    `read_entry` is written as it was found.
    """
    stored = [(name, *_store(name, content)) for name, content in sections]
    table = [_HEADER.pack(_MAGIC, _VERSION, len(stored), key_digest)]
    for name, codec, raw_size, data in stored:
        raw_name = name.encode()
        table += _SECTION.pack(codec, len(raw_name), len(data), raw_size), raw_name
    chunks: list[bytes | memoryview] = [b"".join(table)]
    position = len(chunks[0])
    for *_, data in stored:
        padding = -position % _ALIGNMENT
        chunks += bytes(padding), data
        position += padding + len(data)
    body = b"".join(chunks)
    return body + blake3(body).digest()


def _store(name: str, content: Content) -> tuple[int, int, bytes | memoryview]:
    """Give the codec, the raw size and the bytes that stand for a content."""
    if isinstance(content, bytes) and name != "key":
        content = pack(content)
    if isinstance(content, Packed):
        return _CODEC_ZSTD, len(content), content.stored
    return _CODEC_RAW, len(content), content


def read_entry(data: bytes) -> tuple[bytes, Sections]:
    """Read the key's digest and the sections of one entry, without a copy: as views into `data`.

    Nothing is unpacked.

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
        table, position = _read_table(view[:end], count)
    except (StructError, UnicodeDecodeError) as error:
        raise ArtifactError(f"the artifact's table of sections is wrong: {error}") from error
    return key_digest, _read_contents(view[:end], table, position)


_Table = list[tuple[str, int, int, int]]


def _read_table(view: memoryview, count: int) -> tuple[_Table, int]:
    """Read names, codecs, stored and raw sizes, and the place where the table ends."""
    position = _HEADER.size
    table = []
    for _ in range(count):
        codec, name_size, stored_size, raw_size = _SECTION.unpack_from(view, position)
        position += _SECTION.size
        name = str(view[position : position + name_size], "utf-8")
        position += name_size
        if codec not in (_CODEC_RAW, _CODEC_ZSTD):
            raise ArtifactError(f"the artifact's section {name!r} is in the unknown codec {codec}")
        if raw_size != stored_size if codec == _CODEC_RAW else raw_size > UNPACKED_LIMIT:
            raise ArtifactError(f"the artifact's section {name!r} cannot have {raw_size} bytes")
        table.append((name, codec, stored_size, raw_size))
    return table, position


def _read_contents(view: memoryview, table: _Table, position: int) -> Sections:
    sections: list[tuple[str, Content]] = []
    for name, codec, stored_size, raw_size in table:
        start = position + -position % _ALIGNMENT
        if any(view[position:start]):
            raise ArtifactError("the artifact's padding is not zero")
        position = start + stored_size
        stored = view[start:position]
        sections.append((name, stored if codec == _CODEC_RAW else Packed(stored, raw_size)))
    if position != len(view):
        raise ArtifactError("the artifact's sections do not fill it exactly")
    if len(dict(sections)) != len(sections):
        raise ArtifactError("the artifact has two sections of one name")
    return tuple(sections)
