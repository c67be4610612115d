"""The identity of one compilation: an ordered table of named parts and its digest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from struct import Struct
from struct import error as StructError
from typing import Any, NamedTuple

from blake3 import blake3

from twinjit.errors import KeyPartError

__all__ = ["DIGEST_SIZE", "Key", "PartDifference", "PartValue"]

PartValue = str | bytes

DIGEST_SIZE = 32
"""Bytes in a key's digest."""

# The digest is BLAKE3-256 over the framing below. Integers are little-endian, text is UTF-8.
#
#   framing := domain version:u32 count:u32 part{count}
#   domain  := "twinjit.key" 0x00
#   part    := size:u64 name{size} kind:u8 size:u64 value{size}
#   kind    := 0 (bytes) | 1 (text)
#
# Every field is of fixed size or preceded by its size, so a framing can be read back in one way
# only: two tables that differ, if only in order or in text against bytes, frame differently.
_DOMAIN = b"twinjit.key\0"
_STARTED = blake3(_DOMAIN)  # here, since the first hasher of a process looks the CPU up

# 1: as above.
_FRAMING_VERSION = 1

_KIND_BYTES = 0
_KIND_TEXT = 1

_HEAD = Struct("<II")
_NAME = Struct("<Q")
_VALUE = Struct("<BQ")


class PartDifference(NamedTuple):
    """One part in which two keys differ.

    Attributes
    ----------
    name
        The part's name.
    mine, theirs
        The values; None where that key lacks the part. Equal values mean that the part stands at
        another place in the table.
    """

    name: str
    mine: PartValue | None
    theirs: PartValue | None


@dataclass(frozen=True)
class Key:
    """An ordered table of named parts; every input that can change the code is one of them.

    Attributes
    ----------
    parts
        Pairs of name and value. Order counts; names are unique and not empty.
    digest
        BLAKE3-256 over the parts' framing: the same in every process and on every machine.

    Raises
    ------
    KeyPartError
        For a name that is empty or occurs twice, a name or value of another type, or text that
        UTF-8 cannot express (a lone surrogate).
    """

    parts: tuple[tuple[str, PartValue], ...]
    digest: bytes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", start_digest(self.parts).digest())

    @property
    def hex(self) -> str:
        """The digest in 64 lower-case hexadecimal digits."""
        return self.digest.hex()

    def differences(self, other: Key) -> tuple[PartDifference, ...]:
        """Compare two keys part by part.

        Parts come in the order of this key, then those that only the other has in its order.

        Returns
        -------
        tuple of PartDifference
            Empty exactly when the keys are equal. A part with the same value on both sides is
            listed only if order is all that tells the tables apart.
        """
        mine, theirs = dict(self.parts), dict(other.parts)
        found = [
            PartDifference(name, mine.get(name), theirs.get(name))
            for name in {**mine, **theirs}
            if mine.get(name) != theirs.get(name)
        ]
        if not found:
            found = [
                PartDifference(name, value, value)
                for (name, value), there in zip(self.parts, other.parts, strict=True)
                if name != there[0]
            ]
        return tuple(found)

    def to_data(self) -> list[list[Any]]:
        """Express the key as JSON-able data: ``[name, text]`` or ``[name, {"hex": digits}]``."""
        return [
            [name, value if isinstance(value, str) else {"hex": value.hex()}]
            for name, value in self.parts
        ]

    @classmethod
    def from_data(cls, data: object) -> Key:
        """Rebuild a key from what `to_data` gave.

        Raises
        ------
        KeyPartError
            If `data` has any other shape.
        """
        if not isinstance(data, list):
            raise KeyPartError(f"a key's data is a list of parts, not {type(data).__name__}")
        return cls(tuple(_part_from_data(part) for part in data))

    @classmethod
    def from_framing(cls, data: bytes) -> Key:
        """Rebuild a key from what `frame` gave.

        Raises
        ------
        KeyPartError
            If `data` is no framing, or is of another version.
        """
        start = len(_DOMAIN) + _HEAD.size
        try:
            version, count = _HEAD.unpack_from(data, len(_DOMAIN))
            if not data.startswith(_DOMAIN) or version != _FRAMING_VERSION:
                raise KeyPartError("not the framing of a key's parts in a version known here")
            key = cls(tuple(_read_parts(data, start, count)))
        except (StructError, OverflowError, UnicodeDecodeError) as error:
            raise KeyPartError(f"a key's framing is cut short or no text: {error}") from error
        if frame(key.parts) != data:
            raise KeyPartError("a key's framing is not filled exactly")
        return key


def start_digest(parts: tuple[tuple[str, PartValue], ...]) -> blake3:
    """Return a hasher that was fed the framing of a table of parts.

    Raises
    ------
    KeyPartError
        As for `Key`.
    """
    hasher = _STARTED.copy()
    hasher.update(frame(parts)[len(_DOMAIN) :])
    return hasher


def frame(parts: tuple[tuple[str, PartValue], ...]) -> bytes:
    """Frame a table of parts by the grammar above.

    Raises
    ------
    KeyPartError
        As for `Key`.
    """
    chunks = [_DOMAIN, _HEAD.pack(_FRAMING_VERSION, len(parts))]
    names = set()
    for name, value in parts:
        if not isinstance(name, str) or not name:
            raise KeyPartError(f"the name of a key's part is text that is not empty, not {name!r}")
        if name in names:
            raise KeyPartError(f"the key has two parts named {name!r}")
        names.add(name)
        chunks += _frame_part(name, value)
    return b"".join(chunks)


def _read_parts(data: bytes, position: int, count: int) -> Iterator[tuple[str, PartValue]]:
    for _ in range(count):
        (size,) = _NAME.unpack_from(data, position)
        position += _NAME.size
        name = data[position : position + size].decode()
        position += size
        kind, size = _VALUE.unpack_from(data, position)
        position += _VALUE.size
        value = data[position : position + size]
        yield name, value.decode() if kind == _KIND_TEXT else value
        position += size


def _frame_part(name: str, value: PartValue) -> tuple[bytes, bytes, bytes, bytes]:
    try:
        raw_name = name.encode()
        if isinstance(value, bytes):
            kind, raw = _KIND_BYTES, value
        elif isinstance(value, str):
            kind, raw = _KIND_TEXT, value.encode()
        else:
            raise KeyPartError(
                f"part {name!r} of the key is text or bytes, not {type(value).__name__}"
            )
    except UnicodeEncodeError as error:
        raise KeyPartError(f"part {name!r} of the key is not valid Unicode: {error}") from error
    return _NAME.pack(len(raw_name)), raw_name, _VALUE.pack(kind, len(raw)), raw


def _part_from_data(part: object) -> tuple[str, PartValue]:
    match part:
        case [str(name), str(text)]:
            return name, text
        case [str(name), {"hex": str(digits), **rest}] if not rest:
            try:
                return name, bytes.fromhex(digits)
            except ValueError as error:
                raise KeyPartError(f"part {name!r} of the key: {error}") from error
    raise KeyPartError(f"not a part of a key: {part!r}")
