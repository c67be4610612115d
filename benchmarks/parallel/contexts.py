"""What the pool of contexts saves, and what a second thread gains within one context.

Figures
-------
``pooled_ms``, ``fresh_ms``, ``pooled_over_fresh``
    A tiny module, from text to linked code, and how often that goes through in the same time: with
    a context of the pool, and with one that is made for it and destroyed after it, all dialects
    loaded. 1,000 distinct modules, without any cache, at ``-O0``; medians of a module.
``pooled_o2_ms``, ``fresh_o2_ms``, ``pooled_over_fresh_o2``
    The same at ``-O2``.
``shared_context_serial_ms``, ``shared_context2_ms``, ``shared_context2_speedup``
    `twinjit.run_passes` over 16 distinct modules in one context, one after the other and on two
    threads; the ratio. Each has one function, so that MLIR's own threads have nothing to do in
    either, and takes 100 ms and more.
"""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from time import perf_counter
from typing import Any

import twinjit
from benchmarks.harness import Figures
from benchmarks.programs import one_function
from twinjit.pipeline import NAMED_PIPELINES

__all__ = ["contexts"]


def contexts(*, quick: bool) -> Figures:
    """Measure; see the module's docstring for the figures."""
    return {
        **_pool(200 if quick else 1000, 0, ""),
        **_pool(100 if quick else 1000, 2, "_o2"),
        **_shared(rounds=3 if quick else 7),
    }


def _tiny(number: int) -> str:
    return f"""func.func @f(%x: i64) -> i64 {{
      %c = arith.constant {number} : i64
      %r = arith.addi %x, %c : i64
      return %r : i64
    }}"""


def _pool(modules: int, level: int, suffix: str) -> dict[str, float]:
    """Take turns, module by module; each module is compiled once."""
    from twinjit._native import _mlir

    compiler = twinjit.Compiler(cache=False, opt_level=level)

    def fresh(number: int) -> None:
        compiler.compile(_tiny(number))
        _mlir.release_contexts(gives_back=False)

    def pooled(number: int) -> None:
        compiler.compile(_tiny(number))

    seconds: dict[str, list[float]] = {"pooled": [], "fresh": []}
    for number in range(0, 3 * modules, 3):
        seconds["fresh"].append(_timed(fresh, number))
        pooled(number + 1)  # fills the pool
        seconds["pooled"].append(_timed(pooled, number + 2))
        _mlir.release_contexts(gives_back=False)
    medians = {name: 1e3 * median(values) for name, values in seconds.items()}
    return {
        f"pooled{suffix}_ms": medians["pooled"],
        f"fresh{suffix}_ms": medians["fresh"],
        f"pooled_over_fresh{suffix}": medians["fresh"] / medians["pooled"],
    }


def _timed(function: Any, argument: object) -> float:
    gc.disable()
    try:
        start = perf_counter()
        function(argument)
        return perf_counter() - start
    finally:
        gc.enable()


_PIPELINE = f"canonicalize,cse,{NAMED_PIPELINES['std'].text},canonicalize,cse"


def _shared(rounds: int) -> dict[str, float]:
    import mlir.ir as ir

    context = ir.Context()
    texts = [one_function(24_000 + 400 * number) for number in range(16)]

    def parse() -> list[ir.Module]:
        with context:
            return [ir.Module.parse(text) for text in texts]

    def run(module: ir.Module) -> None:
        twinjit.run_passes(module, _PIPELINE)

    def serial(modules: list[ir.Module]) -> None:
        for module in modules:
            run(module)

    with ThreadPoolExecutor(2) as threads:

        def on_two(modules: list[ir.Module]) -> None:
            list(threads.map(run, modules))

        samples: dict[str, list[float]] = {"serial": [], "two": []}
        for turn in range(rounds + 1):  # the first is not counted
            for name, work in (("serial", serial), ("two", on_two)):
                seconds = _timed(work, parse())
                if turn:
                    samples[name].append(seconds)
    medians = {name: 1e3 * median(values) for name, values in samples.items()}
    return {
        "shared_context_serial_ms": medians["serial"],
        "shared_context2_ms": medians["two"],
        "shared_context2_speedup": medians["serial"] / medians["two"],
    }
