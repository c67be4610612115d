"""Many who want one program at once: threads that compile it, and futures."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import wait
from statistics import median
from time import perf_counter

import twinjit
from benchmarks.harness import EXAMPLES, Figures, in_threads

__all__ = ["single_flight"]

_THREADS = 64


def single_flight(*, quick: bool) -> Figures:
    """Have 64 threads, and then 64 submissions, want one new program at the same time.

    Returns
    -------
    Figures
        ``compilations`` and ``submitted_compilations``: the most that any round took. The others
        are medians in milliseconds: until all threads had it, all futures, and one thread alone.
    """
    rounds = 3 if quick else 9
    program = (EXAMPLES / "mlp.mlir").read_text()
    alone = [_measure(_compile_alone, program) for _ in range(rounds)]
    threads = [_measure(_compile_in_threads, program) for _ in range(rounds)]
    futures = [_measure(_submit_all, program) for _ in range(rounds)]
    return {
        "single_flight_threads": _THREADS,
        "compilations": max(count for count, _ in threads),
        "submitted_compilations": max(count for count, _ in futures),
        "single_flight_ms": _median_ms(threads),
        "single_flight_submitted_ms": _median_ms(futures),
        "single_flight_alone_ms": _median_ms(alone),
    }


def _measure(work: Callable[[twinjit.Compiler, str], None], program: str) -> tuple[int, float]:
    """Count the compilations and the seconds of a compiler that knows nothing."""
    with twinjit.Compiler(cache=False) as compiler:
        start = perf_counter()
        work(compiler, program)
        seconds = perf_counter() - start
        return compiler.stats()["compiled"], seconds


def _compile_alone(compiler: twinjit.Compiler, program: str) -> None:
    compiler.compile(program)


def _compile_in_threads(compiler: twinjit.Compiler, program: str) -> None:
    in_threads(_THREADS, lambda _: compiler.compile(program))


def _submit_all(compiler: twinjit.Compiler, program: str) -> None:
    wait([compiler.submit(program) for _ in range(_THREADS)])


def _median_ms(measured: list[tuple[int, float]]) -> float:
    return 1e3 * median(seconds for _, seconds in measured)
