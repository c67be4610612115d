"""Importing functions of PostgreSQL's bitcode, against what others do, and whether it drifts.

`int4pl`, `numeric_add`, `textlike`, `timestamp_trunc` and 100 more drawn at random are imported one
at a time, each alone with its static functions and constants. The folder is that of ``pg_config``'s
server, or what the environment variable ``TWINJIT_BENCHMARK_BITCODE`` names. There are two draws:
from the whole server, and (figures that begin with ``adt_``) from ``utils/adt``, where the
functions of SQL's types and operators are, in larger modules. Imports are timed in CPU time.

Figures
-------
``reload_irmover_over_ours``, ``clone_irmover_over_ours``
    Median over the functions of the ratio of medians: reading the module for each import, or
    copying a module that is kept, and moving the function with LLVM's IRMover; against ours. Each
    way imports a function some times in a row.
``cold_reload_irmover_over_ours``, ``cold_clone_irmover_over_ours``
    The same of the first import of each row, for which the other ways, which read and write whole
    modules, have left little in the CPU's caches.
``ours_us``, ``reload_irmover_us``, ``clone_irmover_us``
    Medians of an import; with ``cold_`` of the first of each row.
``drift``
    Of 10,000 imports into programs, in random order on two threads, those whose IR is not what a
    library that was just opened gives.
``reload_irmover_differing``, ``clone_irmover_differing``
    Of the imports that were timed, those whose IR is not that of the function's first.
``bytes_per_import``
    What each of these left on the heap, all functions having been imported before.
``longest_import_ms``, ``longest_first_import_ms``
    The longest of so many imports in a row on one thread, in which contexts are recycled, and the
    longest of the first import of each function, which reads its module.
``changed_library_types``
    The library's modules that print otherwise, types and all, after these imports than in a library
    that was just opened.
``open_seconds``, ``open_cpu_seconds``, ``open_mb``
    Of opening the library and all of its 733 modules in one context (``getLazyBitcodeModule``:
    types, globals and their names, no bodies), in a new process: as it takes on this machine, with
    whatever else runs there, and of that the process' own CPU time. Programs never need all.
``library_open_seconds``, ``library_open_cpu_seconds``
    Of opening the library alone, which is all that a hit needs: files are read and digested.
"""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from operator import itemgetter
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING

from blake3 import blake3

from benchmarks.harness import Figures, child

if TYPE_CHECKING:
    from twinjit import ImportPolicy, Library

__all__ = ["run"]

_NAMED = ("int4pl", "numeric_add", "textlike", "timestamp_trunc")
_WAYS = ("ours", "reload", "clone")
_REPEAT = {"ours": 9, "reload": 5, "clone": 3}  # in a row, so that each has its data at hand


def bitcode_folder() -> Path:
    """Find the bitcode of an installed PostgreSQL."""
    given = os.environ.get("TWINJIT_BENCHMARK_BITCODE")
    if given:
        return Path(given)
    found = shutil.which("pg_config")
    if not found:
        sys.exit("the benchmark wants PostgreSQL's bitcode: install it, so that pg_config is found")
    command = [found, "--pkglibdir"]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return Path(told.strip(), "bitcode", "postgres")


def run(*, quick: bool) -> Figures:
    """Measure; see the module's docstring for the figures."""
    from twinjit import ImportPolicy, Library

    alone = ImportPolicy(max_instructions=1e9, decay=0)
    library = Library.from_bitcode(bitcode_folder(), provided=True, policy=alone)
    count, rounds = (26, 3) if quick else (104, 9)
    names = _draw(library, library, count)
    figures = _ratios(library, names, rounds)
    kinds = Library.from_bitcode(sorted((bitcode_folder() / "utils" / "adt").glob("*.bc")))
    of_types = _ratios(library, _draw(library, kinds, count), 3)
    figures |= {f"adt_{name}": value for name, value in of_types.items()}
    figures |= _drift(library, names, 2_000 if quick else 10_000)
    figures |= _pauses(library.policy, names, 4_000 if quick else 40_000)
    opened = [child("benchmarks.library", environment={}) for _ in range(1 if quick else 3)]
    for name in opened[0]:
        figures[name] = median(each[name] for each in opened)
    return figures


def _draw(library: Library, source: Library, count: int) -> list[str]:
    chosen = random.Random(15)
    pool = list(source.functions)
    chosen.shuffle(pool)
    names = list(_NAMED)
    while len(names) < count:
        name = pool.pop()
        if name not in names and library.explain(name).imported:
            names.append(name)
    return names


def _ratios(library: Library, names: Sequence[str], rounds: int) -> dict[str, float | str]:
    from twinjit._native import _llvm

    comparison = _llvm.ImportComparison(library._native)
    chosen = random.Random(0)
    rows: dict[str, dict[str, list[list[float]]]] = {way: {n: [] for n in names} for way in _WAYS}
    texts: dict[str, dict[str, str]] = {way: {} for way in _WAYS}
    differing = dict.fromkeys(_WAYS, 0)
    for turn in range(rounds + 1):
        for name in chosen.sample(names, len(names)):
            for way in _WAYS:
                in_a_row = [comparison.sample(way, name) for _ in range(_REPEAT[way])]
                texts[way].setdefault(name, in_a_row[0][1])
                differing[way] += sum(text != texts[way][name] for _, text in in_a_row)
                if turn:
                    rows[way][name].append([taken for taken, _ in in_a_row])
    figures = _times(rows)
    for way in ("reload", "clone"):
        figures[f"{way}_irmover_differing"] = differing[way]
    return figures


def _times(rows: dict[str, dict[str, list[list[float]]]]) -> dict[str, float | str]:
    figures: dict[str, float | str] = {}
    for prefix, of_row in (("", median), ("cold_", itemgetter(0))):
        medians = {
            way: {name: median(map(of_row, each)) for name, each in by_name.items()}
            for way, by_name in rows.items()
        }
        ours = medians["ours"]
        for way in ("reload", "clone"):
            ratios = (taken / ours[name] for name, taken in medians[way].items())
            figures[f"{prefix}{way}_irmover_over_ours"] = median(ratios)
        for way, title in zip(_WAYS, ("ours", "reload_irmover", "clone_irmover"), strict=True):
            figures[f"{prefix}{title}_us"] = 1e6 * median(medians[way].values())
    return figures


def _drift(library: Library, names: Sequence[str], imports: int) -> dict[str, float | str]:
    from twinjit import Library

    programs = {name: _caller(name) for name in names}
    fresh = Library.from_bitcode(bitcode_folder(), provided=True, policy=library.policy)
    expected = {
        name: _text(fresh.import_into(programs[name], [name])[0]) for name in reversed(names)
    }
    fresh._native.open_all()
    intact = set(fresh._native.module_digests())
    # The last digest of bitcode, which has more than the IR, that was found right; one for each
    # name, so that what is measured below is not what this remembers.
    right = dict.fromkeys(names, b"")

    def import_one(name: str) -> bool:
        program = library.import_into(programs[name], [name])[0]
        digest = blake3(program).digest()
        if digest != right[name]:
            if _text(program) != expected[name]:
                return False
            right[name] = digest
        return True

    differing = [0, 0]

    def work(thread: int) -> None:
        chosen = random.Random(thread)
        for _ in range(imports // 2):
            differing[thread] += not import_one(chosen.choice(names))

    def all_once(thread: int) -> None:
        for name in random.Random(thread).sample(names, len(names)):
            import_one(name)

    for _ in range(10):  # until both contexts, which threads share, know all functions
        _on_two_threads(all_once)
    heap = heap_bytes()
    _on_two_threads(work)
    growth = heap_bytes() - heap
    changed = [each for each in library._native.module_digests() if each not in intact]
    return {
        "drift": sum(differing),
        "bytes_per_import": growth / imports,
        "changed_library_types": len(changed),
    }


def _pauses(
    policy: ImportPolicy | None, names: Sequence[str], imports: int
) -> dict[str, float | str]:
    from twinjit import Library

    library = Library.from_bitcode(bitcode_folder(), provided=True, policy=policy)
    programs = {name: _caller(name) for name in names}

    def taken(name: str) -> float:
        start = perf_counter()
        library.import_into(programs[name], [name])
        return 1e3 * (perf_counter() - start)

    first = max(map(taken, names))
    chosen = random.Random(7)
    longest = max(taken(chosen.choice(names)) for _ in range(imports))
    return {"longest_import_ms": longest, "longest_first_import_ms": first}


def _text(program: bytes) -> str:
    from twinjit._native import _llvm

    return str(_llvm.parse_module(program, "program"))


def _on_two_threads(work: Callable[[int], object]) -> None:
    barrier = threading.Barrier(2)

    def run_one(number: int) -> None:
        barrier.wait()
        work(number)

    threads = [threading.Thread(target=run_one, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _caller(name: str) -> bytes:
    """Bitcode of a program that uses a function."""
    from twinjit._native import _llvm

    text = f"declare void @{name}()\ndefine ptr @main() {{\n  ret ptr @{name}\n}}\n"
    return _llvm.parse_module(text.encode(), name).bitcode()


class _MallInfo(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks"),
            *("uordblks", "fordblks", "keepcost"),
        )
    )


def heap_bytes() -> int:
    """Sum up what malloc has given out, of all arenas and with mappings of its own."""
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = _MallInfo
    told = mallinfo()
    return int(told.uordblks) + int(told.hblkhd)


def _resident_mb() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _measure_opening() -> dict[str, float]:
    from twinjit.library import Library

    folder = bitcode_folder()
    resident, start, cpu_start = _resident_mb(), perf_counter(), process_time()
    library = Library.from_bitcode(folder, provided=True)
    opened, cpu_opened = perf_counter() - start, process_time() - cpu_start
    modules = library._native.open_all()
    return {
        "open_seconds": perf_counter() - start,
        "open_cpu_seconds": process_time() - cpu_start,
        "open_mb": _resident_mb() - resident,
        "library_open_seconds": opened,
        "library_open_cpu_seconds": cpu_opened,
        "modules": modules,
    }


if __name__ == "__main__":
    import json

    print(json.dumps(_measure_opening()))
