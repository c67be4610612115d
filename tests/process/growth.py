"""``python -m tests.process.growth``: what some thousand compilations leave behind, as JSON."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import twinjit
from tests.nightly import rounds
from twinjit.executable import LoadedCode
from twinjit.settings import Settings

# A context is used 256 times: counted are whole lives, after one and what is made once.
CONTEXT_USES = 256
COMPILATIONS = CONTEXT_USES * rounds(4, 80)
HELD = 150  # images that the memory tier keeps; more are evicted
PAGE = os.sysconf("SC_PAGESIZE")


_MALLINFO_FIELDS = (
    "arena",
    "ordblks",
    "smblks",
    "hblks",
    "hblkhd",  # bytes in maps of their own
    "usmblks",
    "fsmblks",
    "uordblks",  # bytes in use in all arenas
    "fordblks",
    "keepcost",
)


class _Mallinfo(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_size_t) for name in _MALLINFO_FIELDS)


@dataclass(frozen=True)
class Growth:
    """What was there more after `COMPILATIONS` compilations than before them.

    Attributes
    ----------
    heap_bytes
        In use, as malloc counts them.
    python_blocks
        Small objects of Python's allocator.
    mappings, descriptors
        Of the process.
    accounted_bytes, held_bytes
        Of code, in the end: as `Compiler.stats` says, and of the images that the process has.
    """

    heap_bytes: int
    python_blocks: int
    mappings: int
    descriptors: int
    accounted_bytes: int
    held_bytes: int

    @staticmethod
    def from_json(text: str) -> Growth:
        return Growth(**json.loads(text))


def measure(compiler: twinjit.Compiler) -> tuple[int, int, int, int]:
    compiler.clear_memory()  # the index of requests, too, which may have 65,536
    gc.collect()
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = _Mallinfo
    info = mallinfo()
    mappings = len(Path("/proc/self/maps").read_text().splitlines())
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    return info.uordblks + info.hblkhd, sys.getallocatedblocks(), mappings, descriptors


def held_bytes() -> int:
    gc.collect()
    return sum(each.size for each in gc.get_objects() if isinstance(each, LoadedCode))


def compile_all(compiler: twinjit.Compiler, numbers: range) -> None:
    for number in numbers:
        text = (
            f"func.func @f(%x: i64) -> i64 {{ %c = arith.constant {number} : i64 "
            "%y = arith.addi %x, %c : i64 return %y : i64 }"
        )
        assert compiler.compile(text).f(1) == number + 1


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(memory_max_bytes=HELD * 3 * PAGE)
        compiler = twinjit.Compiler(opt_level=0, cache=folder, settings=settings)
        warm = 2 * CONTEXT_USES
        compile_all(compiler, range(warm))
        before = measure(compiler)
        compile_all(compiler, range(warm, warm + COMPILATIONS))
        growth = [after - earlier for earlier, after in zip(before, measure(compiler), strict=True)]
        compile_all(compiler, range(-HELD - 50, 0))
        print(json.dumps(asdict(Growth(*growth, compiler.stats()["code_bytes"], held_bytes()))))


if __name__ == "__main__":
    main()
