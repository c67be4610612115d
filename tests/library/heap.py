"""Bytes that malloc has given out."""

from __future__ import annotations

import ctypes


class _MallInfo(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in [
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
        ]
    ] + [("keepcost", ctypes.c_size_t)]


def heap_bytes() -> int:
    """Sum up all arenas, and what has mappings of its own."""
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = _MallInfo
    told = mallinfo()
    return int(told.uordblks) + int(told.hblkhd)
