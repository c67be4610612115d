"""One of several processes that share the code of many programs: see test_relocated.py.

Run as ``python -m tests.process.relocation CACHE FOLDER [--backwards]``. Writes ``report.json``
into the folder, and the object of each program.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import twinjit
from tests.relocated_programs import CALLS, every_text
from twinjit.errors import TwinjitError

Ranges: TypeAlias = list[tuple[int, int]]

_ORDINARY = 1 << 32


def mapped() -> Ranges:
    """Ranges of addresses that this process has mapped, in order, neighbours as one.

    The kernel's page of system calls has one address in all processes, so it is left out; so is
    what lies where ordinary numbers do: a Python that is not position-independent, and its heap.
    """
    ranges: Ranges = []
    for line in Path("/proc/self/maps").read_text().splitlines():
        if "[vsyscall]" in line:
            continue
        begin, end = (int(each, 16) for each in line.split()[0].split("-"))
        if end <= _ORDINARY:
            continue
        if ranges and ranges[-1][1] == begin:
            begin = ranges.pop()[0]
        ranges.append((begin, end))
    assert all(one[1] <= other[0] for one, other in pairwise(ranges))
    return ranges


def addresses_in(data: bytes, ranges: Ranges) -> list[int]:
    """Find all 8-byte words, wherever they begin, that are addresses of these ranges."""
    begins, ends = np.array(ranges, np.uint64).T
    found: list[int] = []
    for shift in range(8):
        words = np.frombuffer(data, "<u8", (len(data) - shift) // 8, shift)
        place = np.searchsorted(begins, words, "right")
        inside = (place > 0) & (words < ends[place - 1])
        found += words[inside].tolist()
    return found


def library_base() -> int:
    """Where this process has libLLVM."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    return int(next(line for line in maps if "libLLVM" in line).split("-")[0], 16)


def describe(name: str, exe: twinjit.Executable) -> dict[str, Any]:
    called = CALLS.get(name)
    entries = [each for each in exe if not exe.signatures[each].uncallable]
    return {
        "key": exe.key.hex,
        "tier": exe.report.tier,
        "addresses": [exe._code._image.address(each) for each in entries],
        "baked": addresses_in(exe.object_code, mapped()),
        "result": called.call(exe) if called else None,
    }


def run(wanted: Iterable[tuple[str, int]], cache: str, folder: Path) -> dict[str, Any]:
    texts = every_text()
    programs: dict[str, Any] = {}
    for number, (name, level) in enumerate(wanted):
        policy = CALLS[name].policy if name in CALLS else None
        compiler = twinjit.Compiler(cache=cache, policy=policy, opt_level=level)
        title = f"{name} -O{level}"
        try:
            exe = compiler.compile(texts[name])
        except TwinjitError as error:
            programs[title] = {"error": type(error).__name__}
            continue
        programs[title] = {"name": name, "object": f"{number}.o", **describe(name, exe)}
        (folder / f"{number}.o").write_bytes(exe.object_code)
    return programs


def main(arguments: Sequence[str]) -> None:
    cache, folder = arguments[0], Path(arguments[1])
    wanted = [*((name, 3) for name in every_text()), *((name, 0) for name in CALLS)]
    if "--backwards" in arguments:
        wanted.reverse()
    report = {"programs": run(wanted, cache, folder), "library": library_base()}
    (folder / "report.json").write_text(json.dumps(report))


if __name__ == "__main__":
    main(sys.argv[1:])
