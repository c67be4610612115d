"""What campaigns store and compile: artifacts and programs by number."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from blake3 import blake3

from twinjit import DiskStore, Target, machine
from twinjit.artifact import Artifact
from twinjit.errors import ArtifactError
from twinjit.key import Key

__all__ = [
    "UNBOUNDED",
    "OpenStore",
    "artifact",
    "open_disk_store",
    "program",
    "result",
    "same",
    "source",
]

OpenStore = Callable[[Path, int], DiskStore]
"""Makes a store in a directory, with a bound in bytes."""

UNBOUNDED = 1 << 40


def open_disk_store(root: Path, max_bytes: int) -> DiskStore:
    """Make the store that campaigns are about."""
    return DiskStore(root, max_bytes)


# Sizes of object code: powers of two between these exponents, so that small ones are as frequent
# as large ones.
_SMALLEST, _LARGEST = 6, 18


@lru_cache(maxsize=512)
def artifact(seed: int, number: int) -> Artifact:
    """Make an artifact with a key of its own, from 64 bytes to 256 KiB."""
    rng = random.Random(f"artifact {seed} {number}")
    size = int(2 ** rng.uniform(_SMALLEST, _LARGEST))
    return Artifact.build(
        key=Key((("campaign", f"{seed}/{number}"),)),
        object_code=rng.randbytes(size // 2) + bytes(size - size // 2),
        signatures=[{"name": f"f{number}"}],
        report={"number": number},
        target=machine.to_section(Target.host()),
    )


def source(seed: int, number: int) -> bytes:
    """Make the digest of a request that leads to `artifact`."""
    return blake3(f"source {seed} {number}".encode()).digest()


def same(found: Artifact, expected: Artifact) -> bool:
    """Whether two artifacts agree in all that is kept of them; one that is not whole does not."""
    try:
        return (
            found.key_digest == expected.key_digest
            and bytes(found.object_code) == bytes(expected.object_code)
            and (found.key, found.signatures) == (expected.key, expected.signatures)
            and (found.report, found.target) == (expected.report, expected.target)
            and found.extras == expected.extras
        )
    except ArtifactError:
        return False


def program(number: int) -> str:
    """Write a program of its own, whose function ``f`` gives `result`."""
    return f"""
        func.func @f(%x: i64) -> i64 {{
          %c = arith.constant {number} : i64
          %y = arith.addi %x, %c : i64
          return %y : i64
        }}"""


def result(number: int, argument: int) -> int:
    """What ``f`` of `program` gives."""
    return number + argument
