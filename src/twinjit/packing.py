"""Bytes in the codecs of entries: as they are, or compressed where that pays."""

from __future__ import annotations

import sys
from typing import Any

from twinjit.errors import ArtifactError, ArtifactUnavailableError
from twinjit.forks import held_off

__all__ = ["UNPACKED_LIMIT", "Packed", "pack"]

UNPACKED_LIMIT = 1 << 30
"""The most bytes that anything unpacks to; more is kept as it is, and refused when read."""

# Measured with the programs of tests/programs and examples, on disk hits. Objects of 29 and 34 kB
# shrink to 0.47 and 0.29 of their size, but their hits take a fifth longer for it (260 µs become
# 320). Those of 107 and 217 kB shrink to 0.71 and 0.66, and their hits take 350 and 510 µs, or 470
# and 700. The import of zstd takes the first hit of a process 2 ms, which is more than all else
# that it does. So what most programs give is kept as it is, and space is saved where there is much
# of it. Programs that hold large constants shrink to 0.92, and stay as they are, too. Level 3 saves
# 1 % more and level 9 3 %, at 1.2 and 6 times the time to pack.
_WORTH_PACKING = 256 << 10
_WORTH_KEEPING = 0.8
_LEVEL = 1


class Packed:
    """Bytes kept as one frame of zstd; equal to what they unpack to.

    Parameters
    ----------
    stored
        The frame.
    raw_size
        How many bytes it unpacks to; this object's length.
    """

    __slots__ = ("_raw_size", "stored")

    def __init__(self, stored: bytes | memoryview, raw_size: int) -> None:
        self.stored = stored
        self._raw_size = raw_size

    def unpack(self) -> bytes:
        """Return the bytes, which are made anew for each call.

        Raises
        ------
        ArtifactUnavailableError
            If there is not the memory for them, zstd cannot be loaded (where no descriptor is
            left), or this Python has none.
        ArtifactError
            If the frame is not whole, is followed by anything, or gives another number of bytes
            than `raw_size`.
        """
        try:
            zstd = _zstd()
            unpacker = zstd.ZstdDecompressor()
            # One byte more than it should give, and no more whatever it holds.
            content: bytes = unpacker.decompress(self.stored, self._raw_size + 1)
        except (ImportError, MemoryError) as error:
            raise ArtifactUnavailableError(f"a section cannot be unpacked: {error!r}") from error
        except (zstd.ZstdError, EOFError) as error:
            raise ArtifactError(f"a section is not in the codec it says: {error}") from error
        if len(content) != self._raw_size or not unpacker.eof or unpacker.unused_data:
            raise ArtifactError(f"a section does not unpack to the {self._raw_size} bytes it says")
        return content

    def __len__(self) -> int:
        return self._raw_size

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Packed):
            return self.stored == other.stored or self.unpack() == other.unpack()
        return isinstance(other, (bytes, memoryview)) and self.unpack() == other

    def __hash__(self) -> int:
        return hash(self.unpack())

    def __repr__(self) -> str:
        return f"<Packed {self._raw_size} bytes in {len(self.stored)}>"


def pack(content: bytes) -> bytes | Packed:
    """Compress what is large and shrinks by a fifth at least; return all else as it is."""
    if not _WORTH_PACKING <= len(content) <= UNPACKED_LIMIT:
        return content
    try:
        zstd = _zstd()
    except ImportError:  # a Python that was built without it; entries are whole nevertheless
        return content
    stored: bytes = zstd.compress(content, _LEVEL)
    return Packed(stored, len(content)) if len(stored) <= _WORTH_KEEPING * len(content) else content


def _zstd() -> Any:
    """Import zstd, which is not done before it is needed."""
    with held_off():
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    return zstd
