"""``python -m tests.process.everything ROOT SEED STEPS``: threads that do everything at once.

Each does so many random steps with one compiler: compiles what is new, what others compile, and
what fails; calls, compares, explains, counts, forgets, forks. Memory and the store hold so little
that code is evicted all the time, and other processes may use the store meanwhile.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random

import mlir.ir

import twinjit
from tests.threads import failures_at_once
from twinjit.errors import CompilationError, ForkError
from twinjit.executable import Executable
from twinjit.settings import Settings

THREADS = 6
NUMBERS = 60  # programs that all processes want
CHILD_SECONDS = 120  # more than a child needs on a loaded machine; one that hangs never ends
SETTINGS = Settings(memory_max_bytes=200_000, cache_max_bytes=300_000)
BAD = "func.func @f(%x: i64) -> i64 { return %x : i32 }"


def adds(number: int) -> str:
    return (
        f"func.func @f(%x: i64) -> i64 {{ %c = arith.constant {number} : i64 "
        "%y = arith.addi %x, %c : i64 return %y : i64 }"
    )


class Everything:
    """What threads do; each public method is a step."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._compiler = self._new_compiler()
        self._held: dict[int, Executable] = {}
        self._expected_refusal = self._refusal()

    def _new_compiler(self) -> twinjit.Compiler:
        return twinjit.Compiler(cache=self._root, opt_level=0, settings=SETTINGS)

    def compile(self, random: Random) -> None:
        number = random.randrange(NUMBERS)
        executable = self._compiler.compile("\n" * random.randrange(3) + adds(number))
        assert executable.f(1) == number + 1
        self._held[number] = executable

    def compile_new(self, random: Random) -> None:
        number = random.getrandbits(62)
        assert self._compiler.compile(adds(number)).f(1) == number + 1

    def compile_live(self, random: Random) -> None:
        number = random.randrange(NUMBERS)
        with mlir.ir.Context():
            module = mlir.ir.Module.parse(adds(number))
        assert self._compiler.compile(module).f(1) == number + 1

    def compile_elsewhere(self, random: Random) -> None:
        number = random.randrange(NUMBERS)
        assert self._new_compiler().compile(adds(number)).f(1) == number + 1

    def be_refused(self, random: Random) -> None:
        assert self._refusal() == self._expected_refusal

    def _refusal(self) -> tuple[object, ...]:
        try:
            self._compiler.compile(BAD)
        except CompilationError as error:
            return error.message, *error.diagnostics
        raise AssertionError("a program that is none was compiled")

    def call_held(self, random: Random) -> None:
        for number, executable in list(self._held.items()):
            assert executable.f(2) == number + 2

    def let_go(self, random: Random) -> None:
        self._held.clear()

    def clear(self, random: Random) -> None:
        self._compiler.clear_memory()

    def look(self, random: Random) -> None:
        text = adds(random.randrange(NUMBERS))
        assert self._compiler.explain(text).key
        assert self._compiler.would_hit(text) in (True, False)
        assert self._compiler.stats()["compiled"] >= 0
        assert self._compiler.store is not None
        assert self._compiler.store.stats().bytes >= 0

    def compare(self, random: Random) -> None:
        a, b = random.randrange(NUMBERS), random.randrange(NUMBERS)
        assert twinjit.equivalent(adds(a), adds(b)) == (a == b)

    def prune(self, random: Random) -> None:
        assert self._compiler.store is not None
        self._compiler.store.prune()

    def fork(self, random: Random) -> None:
        child = os.fork()
        if child == 0:
            os._exit(self._in_child(random))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    def _in_child(self, random: Random) -> int:
        signal.alarm(CHILD_SECONDS)
        try:
            self.call_held(random)
            self.compile(random)
            self.compile_new(random)
            self.compile_elsewhere(random)
        except ForkError:  # a compilation of the parent took longer than forks wait
            return 0
        except BaseException:
            sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]  # there is one
            return 1
        return 0


STEPS = [name for name in vars(Everything) if not name.startswith("_")]


def do_all(everything: Everything, seed: int, count: int) -> list[BaseException]:
    def work(number: int) -> None:
        random = Random(1000 * seed + number)
        for _ in range(count):
            step: Callable[[Random], None] = getattr(everything, random.choice(STEPS))
            step(random)

    return failures_at_once(work, THREADS)


if __name__ == "__main__":
    # Of forks beside threads, which is what is tried here.
    warnings.filterwarnings("ignore", ".*multi-threaded", DeprecationWarning)
    everything = Everything(Path(sys.argv[1]))
    for failure in do_all(everything, int(sys.argv[2]), int(sys.argv[3])):
        raise failure
