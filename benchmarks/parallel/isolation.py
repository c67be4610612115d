"""Isolated workers: what they cost, and how fast they end and are replaced."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from statistics import median

from benchmarks.harness import Figures, in_threads
from benchmarks.programs import graph
from twinjit import Compiler, Settings
from twinjit.errors import (
    CompilationCancelledError,
    CompilationTimeoutError,
    CompilerCrashed,
    TwinjitError,
)
from twinjit.report import Clock
from twinjit.source import open_source
from twinjit.stop import Stop
from twinjit.workers.answers import read_end
from twinjit.workers.messages import Message
from twinjit.workers.pool import POOL

__all__ = ["isolation"]

_THREADS = 8

# Split into scalars one by one: minutes in one pass, which looks at nothing meanwhile.
_ENDLESS = (
    "func.func @f(%a: vector<1000000xf32>) -> vector<1000000xf32> "
    "{ %0 = arith.addf %a, %a : vector<1000000xf32> return %0 : vector<1000000xf32> }"
)


def _good(number: int) -> str:
    return (
        f"func.func @f(%x: i64) -> i64 {{ %c = arith.constant {number} : i64 "
        "%y = arith.addi %x, %c : i64 return %y : i64 }"
    )


def _crashing(number: int) -> str:
    return (
        f"llvm.mlir.global internal constant @g(dense<[1, 2, {number}]> : tensor<3xi32>) "
        ": !llvm.array<4 x i32>\n"
        "llvm.func @f() -> !llvm.ptr { %0 = llvm.mlir.addressof @g : !llvm.ptr "
        "llvm.return %0 : !llvm.ptr }"
    )


def isolation(*, quick: bool) -> Figures:
    """Measure.

    Returns
    -------
    Mapping
        ``worker_replacement_ms``: from a crash to a new worker's first answer;
        ``cancel_worker_ms`` and ``deadline_overrun_ms``: from the wish, or the deadline, to the
        exception; ``round_trip_us``: a message to a worker and its answer; ``crashing`` and
        ``good_served`` of ``good``: programs from 8 threads; ``workers2_speedup``: two threads with
        a worker each against one; ``worker_overhead_ms``: what a small compilation takes longer
        than in a thread.
    """
    compiler = Compiler(cache=False, executor="process", settings=Settings(workers=2))
    compiler.compile(_good(-1))
    rounds = 5 if quick else 25
    return {
        "worker_replacement_ms": 1e3 * median(_replacement(compiler) for _ in range(rounds)),
        "cancel_worker_ms": 1e3 * median(_cancel(compiler) for _ in range(rounds)),
        "deadline_overrun_ms": 1e3 * median(_overrun(compiler) for _ in range(rounds)),
        "round_trip_us": 1e6 * _round_trip(200 if quick else 2_000),
        **_crashes_among_good(compiler, 200 if quick else 2_000),
        "workers2_speedup": median(_speedup(4 if quick else 16) for _ in range(1 if quick else 3)),
        "worker_overhead_ms": 1e3 * _overhead(20 if quick else 100),
    }


def _replacement(compiler: Compiler) -> float:
    """Have the only worker crash, and ask for a program to be read."""
    with suppress(CompilerCrashed):
        compiler.compile(_crashing(0))
    assert not POOL._state.idle
    subject = compiler._engine._builder.open(open_source(_good(0)), Clock(), Stop())
    start = time.perf_counter()
    _ = subject.fingerprint
    seconds = time.perf_counter() - start
    subject.close()
    return seconds


def _cancel(compiler: Compiler) -> float:
    stop, ended = Stop(), []

    def work() -> None:
        try:
            compiler._engine.compile(open_source(_ENDLESS), Clock(), stop)
        except CompilationCancelledError:
            ended.append(time.perf_counter())

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.15)
    start = time.perf_counter()
    stop.cancel()
    thread.join()
    return ended[0] - start


def _overrun(compiler: Compiler) -> float:
    start = time.perf_counter()
    try:
        compiler.compile(_ENDLESS, timeout=0.15)
    except CompilationTimeoutError:
        return time.perf_counter() - start - 0.15
    raise AssertionError("the program ended in time")


def _round_trip(count: int) -> float:
    worker = POOL.borrow(1, lambda: None)
    start = time.perf_counter()
    for _ in range(count):
        worker.exchange(Message({"do": "end"}), lambda: None, read_end)
    seconds = (time.perf_counter() - start) / count
    POOL.give_back(worker, 1)
    return seconds


def _crashes_among_good(compiler: Compiler, good: int) -> dict[str, float]:
    outcomes: list[str] = []

    def outcome(number: int) -> str:
        try:
            program = _good(number) if number % 11 else _crashing(number)
            return "good" if compiler.compile(program).f(1) == number + 1 else "wrong"
        except CompilerCrashed:
            return "crashed"
        except TwinjitError as error:
            return type(error).__name__

    def work(first: int) -> None:
        outcomes.extend(map(outcome, range(first, good * 11 // 10, _THREADS)))

    in_threads(_THREADS, work)
    return {
        "good": float(good),
        "good_served": float(outcomes.count("good")),
        "crashing": float(outcomes.count("crashed")),
    }


def _speedup(programs: int) -> float:
    seconds = []
    for threads in (1, 2):
        compiler = Compiler(cache=False, executor="process", settings=Settings(workers=threads))

        def work(first: int, compiler: Compiler = compiler, threads: int = threads) -> None:
            for number in range(first, programs, threads):
                name = ("mlp_args", "mlp")[number % 4 // 2]  # 100 to 400 ms
                compiler.compile(graph(name, number))

        in_threads(threads, lambda first: compiler.compile(_good(first)))  # noqa: B023 -- run here
        start = time.perf_counter()
        in_threads(threads, work)
        seconds.append(time.perf_counter() - start)
    return seconds[0] / seconds[1]


def _overhead(count: int) -> float:
    there = Compiler(cache=False, executor="process", settings=Settings(workers=1))
    here = Compiler(cache=False)
    samples: dict[Compiler, list[float]] = {here: [], there: []}
    for number in range(count):
        for compiler, taken in samples.items():
            start = time.perf_counter()
            compiler.compile(_good(100_000 + number))
            taken.append(time.perf_counter() - start)
    return median(samples[there]) - median(samples[here])
