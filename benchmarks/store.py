"""What the disk store costs, however much is in it and however many use it.

Figures
-------
``get_at_100k_over_1k``, ``put_at_100k_over_1k``
    Time of a get, and of a put of a new entry, in a store of 100,000 entries over that in one of
    1,000; keys are random, turns interleaved. ``get_us_…`` and ``put_us_…``: the medians. All that
    on a file system in memory where there is one with room (``medium``), since on a disk, the
    journal of the file system decides what a new file costs. Figures ``…_on_disk``: the same there.
``bytes_per_entry``
    Disk space of an entry of those stores, in which an artifact has 1 kB of code.
``disk_hit_us``
    A get of an artifact with ``disk_hit_object_bytes`` of object code, about 32 kB: open, read,
    checksum, decode. ``first_disk_hit_us`` opens the store, too.
``compile_hit_us``
    The same program through a compiler that has nothing in memory: from its text to a callable.
``disk_put_us``
    A put of that artifact over itself.
``compilations``
    How often ``processes`` processes that want one program at once, from an empty store, compile
    it; the most in ``rounds`` rounds. ``once_ms``: until the last has it, in the median.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.harness import EXAMPLES, Figures, interleave
from twinjit import Compiler, DiskStore, Target
from twinjit.artifact import Artifact
from twinjit.key import Key

__all__ = ["run"]

_ENTRIES = {"1k": 1_000, "100k": 100_000}
_UNBOUNDED = 1 << 40
_MEMORY, _ROOM = "/dev/shm", 1 << 30
_CODE_BYTES = 1_000
_DIVISIONS = 970  # make some 32 kB of object code
_PROCESSES = 32


def run(*, quick: bool) -> Figures:
    """Measure; see the module's docstring for the figures."""
    samples = 1_000 if quick else 5_000
    in_memory = _memory_folder()
    with TemporaryDirectory(dir=in_memory) as folder:
        growth: dict[str, float | str] = dict(_growth(Path(folder), samples))
    growth["medium"] = "memory" if in_memory else "disk"
    if not quick:
        with TemporaryDirectory() as folder:
            on_disk = _growth(Path(folder), samples)
        growth |= {f"{name}_on_disk": value for name, value in on_disk.items()}
    with TemporaryDirectory() as folder:
        hits = _hits(folder, 5 if quick else 25)
    return {**growth, **hits, **_once(1 if quick else 5)}


def _memory_folder() -> str | None:
    try:
        status = os.statvfs(_MEMORY)
    except FileNotFoundError:
        return None
    return _MEMORY if status.f_bavail * status.f_frsize >= _ROOM else None


def _growth(folder: Path, samples: int) -> dict[str, float]:
    stores = {name: _filled(folder / name, count) for name, count in _ENTRIES.items()}
    figures = {"bytes_per_entry": stores["1k"].stats().bytes / _ENTRIES["1k"]}
    rng = random.Random(1)
    os.sync()  # else the disk is busy with the one that was filled last

    def get(name: str, turn: int) -> float:  # noqa: ARG001 -- any turn has any key
        digest = _numbered(rng.randrange(_ENTRIES[name])).key_digest
        return _seconds(lambda: stores[name].get(digest) is not None)

    def put(name: str, turn: int) -> float:
        artifact = _numbered(_ENTRIES[name] + turn)
        return _seconds(lambda: stores[name].put(artifact))

    for what, timed in (("get", get), ("put", put)):
        medians = _in_turn(timed, samples)
        figures[f"{what}_at_100k_over_1k"] = medians["100k"] / medians["1k"]
        figures |= {f"{what}_us_at_{name}": 1e6 * value for name, value in medians.items()}
    return figures


def _in_turn(timed: Callable[[str, int], float], samples: int) -> dict[str, float]:
    seconds: dict[str, list[float]] = {name: [] for name in _ENTRIES}
    for turn in range(samples):
        # Whoever is second finds warmer caches of the processor.
        for name in sorted(_ENTRIES, reverse=bool(turn % 2)):
            seconds[name].append(timed(name, turn))
    return {name: median(values) for name, values in seconds.items()}


def _seconds(function: Callable[[], bool]) -> float:
    start = perf_counter()
    done = function()
    seconds = perf_counter() - start
    if not done:
        sys.exit("the store did not do what was to be timed")
    return seconds


def _filled(root: Path, count: int) -> DiskStore:
    store = DiskStore(root, _UNBOUNDED)
    for number in range(count):
        store.put(_numbered(number))
    return store


def _numbered(number: int) -> Artifact:
    return Artifact.build(
        key=Key((("benchmark", str(number)),)),
        object_code=random.Random(number).randbytes(_CODE_BYTES),
        signatures=[{"name": "f"}],
        report={"number": number},
        target=asdict(Target.host()),
    )


def _hits(root: str, rounds: int) -> dict[str, float]:
    text = _program_of_32_kb()
    compiler = Compiler(cache=root)
    executable = compiler.compile(text)
    digest = executable.key.digest
    store = DiskStore(root, _UNBOUNDED)
    artifact = store.get(digest)
    if artifact is None:
        sys.exit("the artifact was not stored")

    def compile_hit() -> None:
        compiler.clear_memory()
        if compiler.compile(text).report.tier != "disk":
            sys.exit("the program was no disk hit")

    timed: dict[str, Callable[[], object]] = {
        "disk_hit_us": lambda: _ready(store.get(digest)),
        "first_disk_hit_us": lambda: _ready(DiskStore(root, _UNBOUNDED).get(digest)),
        "disk_put_us": lambda: store.put(artifact),
        "compile_hit_us": compile_hit,
    }
    seconds = interleave(timed, rounds=rounds, repeat=dict.fromkeys(timed, 20))
    figures = {name: 1e6 * value for name, value in seconds.items()}
    return figures | {"disk_hit_object_bytes": executable.report.object_bytes}


def _ready(artifact: Artifact | None) -> int:
    """Ask an artifact for what is linked."""
    if artifact is None:
        sys.exit("the artifact was no disk hit")
    return len(artifact.object_code)


def _program_of_32_kb() -> str:
    """Write one long function: divisions by constants make much code of little text."""
    lines, last = [], "%x"
    for number in range(_DIVISIONS):
        lines += [
            f"%c{number} = arith.constant {7919 * number + 3} : i64",
            f"%q{number} = arith.divsi {last}, %c{number} : i64",
            f"%s{number} = arith.addi %q{number}, %y : i64",
        ]
        last = f"%s{number}"
    body = "\n".join(lines)
    return f"func.func @f(%x: i64, %y: i64) -> i64 {{\n{body}\nreturn {last} : i64\n}}"


def _once(rounds: int) -> dict[str, float]:
    compilations, seconds = [], []
    for _ in range(rounds):
        with TemporaryDirectory() as root:
            start, tiers = _compile_at_once(root)
        compilations.append(tiers.count("compiled"))
        seconds.append(start)
    return {
        "compilations": max(compilations),
        "processes": _PROCESSES,
        "rounds": rounds,
        "once_ms": 1e3 * median(seconds),
    }


def _compile_at_once(root: str) -> tuple[float, list[str]]:
    """Let processes compile one program when all of them are ready; return seconds and tiers."""
    command = [sys.executable, "-m", "benchmarks.store", root]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(_PROCESSES)
    ]
    for process in processes:
        _line_of(process)
    start = perf_counter()
    for process in processes:
        _tell(process)
    tiers = [_line_of(process) for process in processes]
    seconds = perf_counter() - start
    for process in processes:
        process.communicate()
    return seconds, tiers


def _line_of(process: subprocess.Popen[str]) -> str:
    if process.stdout is None or not (line := process.stdout.readline()):
        sys.exit("a process that should have compiled ended without a word")
    return line.strip()


def _tell(process: subprocess.Popen[str]) -> None:
    if process.stdin:
        process.stdin.write("go\n")
        process.stdin.flush()


def _compile_when_told(root: str) -> None:
    text = (EXAMPLES / "mlp.mlir").read_text()
    compiler = Compiler(cache=root)
    print("ready", flush=True)
    sys.stdin.readline()
    print(compiler.compile(text).report.tier, flush=True)


if __name__ == "__main__":
    _compile_when_told(sys.argv[1])
