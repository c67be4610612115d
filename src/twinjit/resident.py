"""What of this process is in physical memory, by what it is for."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Heap", "Resident", "heap", "resident"]

# glibc makes the heaps of threads at multiples of it: of every thread's, but the first's.
_HEAP_ALIGNMENT = 64 << 20


@dataclass(frozen=True)
class Resident:
    """Bytes in physical memory.

    Attributes
    ----------
    files
        Of mapped files: libraries, and what was written to their data.
    heap
        Of ``malloc``'s heaps, but for blocks that have mappings of their own.
    code
        Of given ranges of addresses.
    anonymous
        All else: Python's arenas, stacks, ``malloc``'s large blocks.
    """

    files: int
    heap: int
    code: int
    anonymous: int

    @property
    def total(self) -> int:
        """All of the process."""
        return self.files + self.heap + self.code + self.anonymous


@dataclass(frozen=True)
class Heap:
    """What ``malloc`` has handed out, in bytes.

    Attributes
    ----------
    in_heaps
        From its heaps.
    mapped
        As blocks with mappings of their own.
    """

    in_heaps: int
    mapped: int


class _Mallinfo(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd",
            "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    ]  # fmt: skip


def heap() -> Heap:
    """Ask glibc."""
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = _Mallinfo
    info = mallinfo2()
    return Heap(info.uordblks, info.hblkhd)


def resident(code: Sequence[tuple[int, int]]) -> Resident:
    """Ask the kernel, which goes through all pages.

    Parameters
    ----------
    code
        The first address of ranges, and the one after the last.
    """
    bytes_of = {"files": 0, "heap": 0, "code": 0, "anonymous": 0}
    for address, path, size in _mappings():
        bytes_of[_kind_of(address, path, code)] += size
    return Resident(**bytes_of)


def _kind_of(address: int, path: str, code: Sequence[tuple[int, int]]) -> str:
    if any(begin <= address < end for begin, end in code):
        return "code"
    if path.startswith("/"):
        return "files"
    if path == "[heap]" or (not path and address % _HEAP_ALIGNMENT == 0):
        return "heap"
    return "anonymous"


def _mappings() -> Iterator[tuple[int, str, int]]:
    """Give first address, path and resident bytes of each mapping of this process."""
    with open("/proc/self/smaps", "rb") as file:
        text = file.read()
    address, path = 0, ""
    for line in text.splitlines():
        if line.startswith(b"Rss:"):
            yield address, path, int(line[4:-2]) * 1024
        elif line[:1] in b"0123456789abcdef":
            head, _, *rest = line.split(None, 5)
            address = int(head[: head.index(b"-")], 16)
            path = rest[3].decode(errors="replace") if len(rest) == 4 else ""
