"""Ways in which the bytes of a file go wrong."""

from __future__ import annotations

import random
from collections.abc import Callable

__all__ = ["DAMAGES", "Damage", "flip"]

Damage = Callable[[bytes, bytes, random.Random], bytes]
"""Damages a file's bytes, given those of another file too."""

_BLOCK = 4096
_HEAD, _TAIL = 256, 48


def flip(data: bytes, other: bytes, rng: random.Random) -> bytes:  # noqa: ARG001 -- a Damage
    """Change one bit; half of them where headers and checksums are."""
    place = rng.randrange(len(data))
    if rng.random() < 0.5:
        place = rng.choice([place % _HEAD, -1 - place % min(_TAIL, len(data))])
    changed = bytearray(data)
    changed[place] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _truncate(data: bytes, _other: bytes, rng: random.Random) -> bytes:
    return data[: rng.choice([0, len(data) - 1, rng.randrange(len(data))])]


def _append(data: bytes, other: bytes, rng: random.Random) -> bytes:
    return data + rng.choice([b"\0", rng.randbytes(_BLOCK), other, data])


def _splice(data: bytes, other: bytes, rng: random.Random) -> bytes:
    cut = rng.choice([0, rng.randrange(len(data))])
    return data[:cut] + other[min(cut, len(other) - 1) :]


def _zero_block(data: bytes, _other: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(-(-len(data) // _BLOCK)) * _BLOCK
    length = len(data[start : start + _BLOCK])
    return data[:start] + bytes(length) + data[start + length :]


def _move_bytes(data: bytes, _other: bytes, rng: random.Random) -> bytes:
    first, second = sorted(rng.sample(range(len(data) + 1), 2))
    return data[second:] + data[first:second] + data[:first]


DAMAGES: dict[str, Damage] = {
    "truncations": _truncate,
    "appended": _append,
    "splices": _splice,
    "zeroed_blocks": _zero_block,
    "moved_bytes": _move_bytes,
}
"""All kinds but `flip`."""
