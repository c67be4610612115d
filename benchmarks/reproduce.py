"""Whether compiling again gives the same code: all examples, and generated MLIR and LLVM IR.

Each program is compiled at once, in fresh and in used contexts, in another thread while others are
compiled, and in another process with other hashes; optimisation levels and policies take turns.

Figures
-------
``programs``, ``compilations``
    How many there were; without the other programs that are compiled in between.
``different``
    Programs that did not give the same code each time.
``first_difference``
    What was told of the first of these; empty for none.
``seconds_per_program``
    Mean time for all modes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from time import perf_counter

import twinjit
from benchmarks.harness import EXAMPLES, Figures
from benchmarks.llvm_programs import llvm_program
from benchmarks.programs import program

__all__ = ["run"]

_GENERATED = 200
_SEED = 22
_SIZES = (10, 30, 100, 300)  # operations, or instructions
_POLICIES = (
    twinjit.Policy(),
    twinjit.Policy(private_symbols="rename"),
    twinjit.Policy(constants="lift"),
    twinjit.Policy(locations="keep"),
)


def run(*, quick: bool) -> Figures:
    """Compile; see the module's docstring for the figures."""
    start = perf_counter()
    found = [
        twinjit.reproduce(each, times=1, compiler=_compiler(number))
        for number, each in enumerate(_programs(10 if quick else _GENERATED))
    ]
    different = [each for each in found if not each.identical]
    return {
        "programs": len(found),
        "compilations": sum(each.compilations for each in found),
        "different": len(different),
        "first_difference": str(different[0]) if different else "",
        "seconds_per_program": (perf_counter() - start) / len(found),
    }


def _programs(count: int) -> Iterator[Path | str]:
    yield from sorted(EXAMPLES.glob("*.mlir"))
    random = Random(_SEED)
    for number in range(count):
        write = llvm_program if number % 2 else program
        yield write(random.choice(_SIZES), random.randrange(1 << 30))


def _compiler(number: int) -> twinjit.Compiler:
    return twinjit.Compiler(
        opt_level=3 - number % 4,
        policy=_POLICIES[number // 4 % len(_POLICIES)],
        cache=False,
        shared=False,
    )
