"""Whether a process that compiles, calls and evicts for weeks stays as it is.

Each round compiles a program that no other round has, calls it, and lets go of it; the memory tier
holds a few hundred, the oldest of which each round evicts. Rounds on one thread are followed by
rounds on two, in one process.

Figures
-------
``rounds``, ``rounds_per_second``, ``rounds_per_second2``
    On one thread, and the rates on one and on two.
``rss_growth_mb``, ``maps_growth``, ``descriptors_growth``, ``threads_growth``
    Of the process, after the rounds against after the first tenth of them: physical memory,
    mappings, open descriptors and threads.
``rss_growth2_mb``, ``maps_growth2``, ``descriptors_growth2``
    The same while two threads work, a tenth of as many rounds.
``rss_mb``, ``rss_peak_mb``
    At the end, and at most.
``maps_per_image``
    Mappings that 2,000 executables add to the process, by executable, while all are held.
"""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

import twinjit
from benchmarks.harness import Figures, child

__all__ = ["run"]

_MEMORY_TIER = 8 << 20

# Its image has code, read-only data and variables.
_PROGRAM = """
memref.global "private" constant @table : memref<4xi64> = dense<[NUMBER, 1, 2, 3]>
memref.global "private" @calls : memref<1xi64> = dense<0>
func.func @f(%i: index) -> i64 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : i64
  %table = memref.get_global @table : memref<4xi64>
  %calls = memref.get_global @calls : memref<1xi64>
  %before = memref.load %calls[%zero] : memref<1xi64>
  %now = arith.addi %before, %one : i64
  memref.store %now, %calls[%zero] : memref<1xi64>
  %j = arith.subi %i, %i : index
  %entry = memref.load %table[%j] : memref<4xi64>
  %sum = arith.addi %entry, %now : i64
  return %sum : i64
}
"""


def run(*, quick: bool) -> Figures:
    """Measure; see the module's docstring for the figures."""
    rounds = 2_000 if quick else 20_000
    return child("benchmarks.soak", str(rounds), environment={})


@dataclass(frozen=True)
class _Process:
    """What this process has: bytes in physical memory, and counts."""

    rss: int
    maps: int
    descriptors: int
    threads: int

    @classmethod
    def now(cls) -> _Process:
        proc = Path("/proc/self")
        return cls(
            rss=int((proc / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"),
            maps=(proc / "maps").read_text().count("\n"),
            descriptors=len(os.listdir(proc / "fd")),
            threads=len(os.listdir(proc / "task")),
        )

    def growth(self, before: _Process) -> dict[str, int]:
        """Subtract what was before, by name."""
        then = asdict(before)
        return {name: value - then[name] for name, value in asdict(self).items()}


class _Soak:
    def __init__(self) -> None:
        settings = twinjit.Settings.load(memory_max_bytes=_MEMORY_TIER)
        self._compiler = twinjit.Compiler(cache=False, shared=False, opt_level=0, settings=settings)
        self.held: list[twinjit.Executable] = []

    def work(self, numbers: range, *, holds: bool = False) -> None:
        """Compile, call and let go of the programs of these numbers."""
        for number in numbers:
            executable = self._compiler.compile(_PROGRAM.replace("NUMBER", str(number)))
            if executable.f(1) != number + 1:
                raise SystemExit(f"program {number} computed something else")
            if holds:
                self.held.append(executable)

    def work_in_two_threads(self, numbers: range) -> None:
        """Share the numbers between two threads."""
        middle = len(numbers) // 2
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(self.work, (numbers[:middle], numbers[middle:])))


def _measure_in_this_process(rounds: int) -> dict[str, float]:
    soak = _Soak()
    settled, more = rounds // 10, rounds // 5
    soak.work(range(settled))
    before = _Process.now()
    start = perf_counter()
    soak.work(range(settled, rounds))
    seconds = perf_counter() - start
    after = _Process.now()
    soak.work_in_two_threads(range(rounds, rounds + more // 2))
    before2 = _Process.now()
    start = perf_counter()
    soak.work_in_two_threads(range(rounds + more // 2, rounds + more))
    seconds2 = perf_counter() - start
    after2 = _Process.now()
    soak.work(range(rounds + more, rounds + more + 2_000), holds=True)
    held = _Process.now()
    growth, growth2 = after.growth(before), after2.growth(before2)
    return {
        "rounds": rounds,
        "rounds_per_second": (rounds - settled) / seconds,
        "rounds_per_second2": (more - more // 2) / seconds2,
        "rss_growth_mb": growth["rss"] / 1e6,
        "maps_growth": growth["maps"],
        "descriptors_growth": growth["descriptors"],
        "threads_growth": growth["threads"],
        "rss_growth2_mb": growth2["rss"] / 1e6,
        "maps_growth2": growth2["maps"],
        "descriptors_growth2": growth2["descriptors"],
        "rss_mb": after2.rss / 1e6,
        "rss_peak_mb": _peak() / 1e6,
        "maps_per_image": held.growth(after2)["maps"] / len(soak.held),
    }


def _peak() -> int:
    status = Path("/proc/self/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) * 1024


if __name__ == "__main__":
    import json
    import sys

    print(json.dumps(_measure_in_this_process(int(sys.argv[1]))))
