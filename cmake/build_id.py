"""Print the GNU build ID of an ELF file in hex, or nothing where the linker wrote none.

The core compares it at import with the library it then finds (``native/codegen/host.cpp`` reads it
the same way).
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

PT_NOTE = 4
NT_GNU_BUILD_ID = 3


def build_id(data: bytes) -> str:
    """Return the build ID among the notes of a 64-bit little-endian ELF file."""
    (offset,) = struct.unpack_from("<Q", data, 0x20)
    entry_size, count = struct.unpack_from("<HH", data, 0x36)
    for index in range(count):
        at = offset + index * entry_size
        (kind,) = struct.unpack_from("<I", data, at)
        start, _, _, size = struct.unpack_from("<QQQQ", data, at + 8)
        if kind != PT_NOTE:
            continue
        position = start
        while position < start + size:
            name_size, length, note = struct.unpack_from("<III", data, position)
            content = position + 12 + (name_size + 3) // 4 * 4
            if note == NT_GNU_BUILD_ID and data[position + 12 : content].startswith(b"GNU\0"):
                return data[content : content + length].hex()
            position = content + (length + 3) // 4 * 4
    return ""


print(build_id(Path(sys.argv[1]).read_bytes()))
