"""Code that is made fast first, and optimised while it is in use, against optimising at once.

Figures
-------
``NAME_o3_first_result_ms``, ``NAME_o0_first_result_ms``
    From the program's text to its first result: compiled at -O3, and with ``tier_up``.
``o3_over_o0_first_result``
    The ratio of these; the least of all programs.
``NAME_steady_over_eager``
    A call once the optimised code has taken over, against one of code that was optimised at once.
``steady_over_eager``
    The median of these.
``NAME_o0_over_o3_call``
    A call of the first code against one of the optimised: what waiting costs.
``counted_call_ns``, ``call_ns``
    A call of a function that does next to nothing, while its calls are counted, and not.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import twinjit
from benchmarks.harness import EXAMPLES, Figures, interleave
from benchmarks.programs import graph

__all__ = ["run"]

_GRAPHS = ("mlp", "mlp_args", "mlp_dynamic", "convnet", "encoder")
_TINY = "func.func @f(%x: i64) -> i64 { return %x : i64 }"


def _inputs(name: str) -> list[np.ndarray[Any, Any]]:
    with np.load(EXAMPLES / f"{name}.npz") as arrays:
        count = sum(key.startswith("input_") for key in arrays)
        return [arrays[f"input_{index}"] for index in range(count)]


def _first_result(text: str, name: str, **options: Any) -> float:
    """Return the seconds from text to a result, with a compiler that has seen nothing."""
    inputs = _inputs(name)
    with twinjit.Compiler(cache=False) as compiler:
        gc.collect()
        start = perf_counter()
        compiler.compile(text, **options)[name](*inputs)
        return perf_counter() - start


def _first_results(name: str, rounds: int) -> dict[str, float]:
    seconds: dict[str, list[float]] = {"o3": [], "o0": []}
    for turn in range(rounds):  # graphs of their own, of which nothing is known
        seconds["o3"].append(_first_result(graph(name, 2 * turn), name))
        seconds["o0"].append(_first_result(graph(name, 2 * turn + 1), name, tier_up=True))
    return {level: median(values) for level, values in seconds.items()}


def _steady(name: str, rounds: int) -> dict[str, float]:
    text, inputs = (EXAMPLES / f"{name}.mlir").read_text(), _inputs(name)
    with twinjit.Compiler(cache=False) as compiler:
        first = compiler.compile(text, tier_up=twinjit.TierUp(calls=1 << 40))
        tiered = compiler.compile(text, tier_up=twinjit.TierUp(calls=8))
        tiered.promote().result()
    with twinjit.Compiler(cache=False) as compiler:
        eager = compiler.compile(text)
    calls: dict[str, Callable[[], object]] = {
        kind: (lambda function=executable[name]: function(*inputs))  # type: ignore[misc]  # bound now
        for kind, executable in (("o0", first), ("tiered", tiered), ("eager", eager))
    }
    once = interleave(calls, rounds=1, repeat=dict.fromkeys(calls, 1))
    repeat = {kind: max(1, int(0.02 / seconds)) for kind, seconds in once.items()}
    return interleave(calls, rounds=rounds, repeat=repeat)


def _counting(rounds: int) -> dict[str, float]:
    with twinjit.Compiler(cache=False) as compiler:
        counted = compiler.compile(_TINY, tier_up=twinjit.TierUp(calls=1 << 40)).f
        plain = twinjit.Compiler(cache=False).compile(_TINY).f
    calls = {"counted_call_ns": lambda: counted(1), "call_ns": lambda: plain(1)}
    seconds = interleave(calls, rounds=rounds, repeat=dict.fromkeys(calls, 100_000))
    return {name: 1e9 * value for name, value in seconds.items()}


def run(*, quick: bool = False) -> Figures:
    """Run the benchmark."""
    graphs = _GRAPHS[:3] if quick else _GRAPHS
    twinjit.Compiler(cache=False).compile(_TINY)  # loads MLIR's library
    figures: dict[str, float] = {}
    for name in graphs:
        first = _first_results(name, 1 if quick else 3)
        steady = _steady(name, 20 if quick else 60)
        figures |= {f"{name}_{level}_first_result_ms": 1e3 * first[level] for level in first}
        figures[f"{name}_o3_over_o0_first_result"] = first["o3"] / first["o0"]
        figures[f"{name}_steady_over_eager"] = steady["tiered"] / steady["eager"]
        figures[f"{name}_o0_over_o3_call"] = steady["o0"] / steady["eager"]
    figures["o3_over_o0_first_result"] = min(
        figures[f"{name}_o3_over_o0_first_result"] for name in graphs
    )
    figures["steady_over_eager"] = median(figures[f"{name}_steady_over_eager"] for name in graphs)
    return {**figures, **_counting(10 if quick else 40)}
