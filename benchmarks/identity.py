"""What the identity of a program costs, against what others make do with.

Figures
-------
``text_over_ours``, ``bytecode_over_ours``, ``ours_over_operation_equivalence``
    At 100,000 operations, warm: printing and SHA-256, and bytecode and SHA-256, over the
    fingerprint; and the fingerprint over MLIR's own hash of each operation, which holds within one
    context only and leaves regions out. ``text_ms`` … are the medians.
``ns_per_op_1k`` …, ``ns_per_op_spread``
    Of a warm fingerprint, by the number of operations; and the largest over the smallest.
``ns_per_op_one_function``
    100,000 operations in one function.
``equivalent_ns_per_op``
    Of comparing two equal programs of other contexts, at 100,000.
``cold_over_warm``
    The first fingerprint in a context over the next, at 100,000.
``constant_64mb_warm_us``
    A program with a constant of 64 MB; ``constant_64mb_cold_ms`` is the first in its context.
``two_threads_speedup``
    Two modules in two threads, over one after the other.
``deep_ns_per_op``, ``operands_ns``
    Regions nested 100,000 deep, for each; an operation with 100,000 operands, for each.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import twinjit
from benchmarks.harness import Figures, interleave
from benchmarks.programs import count, one_function, parse, program
from twinjit._native import _mlir

__all__ = ["run"]

_SIZES = {"1k": 1_000, "10k": 10_000, "100k": 100_000, "1m": 1_000_000}
_DEEP = 100_000


def run(*, quick: bool) -> Figures:
    """Measure; see the module's docstring for the figures."""
    rounds = 5 if quick else 15
    text = program(100_000)
    module = parse(text)
    figures = {**_against_others(module, rounds), **_cold(text, 3 if quick else 7)}
    figures.update(_by_size({**_SIZES, **({"1m": 300_000} if quick else {})}, rounds))
    figures.update(_pairs(module, parse(text), rounds))
    figures.update(_constant(rounds))
    figures.update(_extremes(rounds))
    return figures


def _sha256_of_text(module: Any) -> str:
    return hashlib.sha256(str(module).encode()).hexdigest()


def _sha256_of_bytecode(module: Any) -> str:
    file = io.BytesIO()
    module.operation.write_bytecode(file)
    return hashlib.sha256(file.getvalue()).hexdigest()


def _against_others(module: Any, rounds: int) -> dict[str, float]:
    capsule = module.operation._CAPIPtr
    seconds = interleave(
        {
            "ours_ms": lambda: twinjit.fingerprint(module),
            "operation_equivalence_ms": lambda: _mlir.upstream_hash(capsule),
            "bytecode_ms": lambda: _sha256_of_bytecode(module),
            "text_ms": lambda: _sha256_of_text(module),
        },
        rounds=rounds,
        # Printing drives all else out of the processor's caches, which is not what is measured.
        repeat={"ours_ms": 10, "operation_equivalence_ms": 10, "bytecode_ms": 2, "text_ms": 1},
    )
    ours = seconds["ours_ms"]
    return {
        **{name: 1e3 * value for name, value in seconds.items()},
        "text_over_ours": seconds["text_ms"] / ours,
        "bytecode_over_ours": seconds["bytecode_ms"] / ours,
        "ours_over_operation_equivalence": ours / seconds["operation_equivalence_ms"],
    }


def _cold(text: str, rounds: int) -> dict[str, float]:
    ratios: list[float] = []
    for _ in range(rounds):
        module = parse(text)
        times = []
        for _ in range(3):
            start = perf_counter()
            twinjit.fingerprint(module)
            times.append(perf_counter() - start)
        ratios.append(times[0] / median(times[1:]))
    return {"cold_over_warm": median(ratios)}


def _by_size(sizes: dict[str, int], rounds: int) -> dict[str, float]:
    modules = {name: parse(program(size)) for name, size in sizes.items()}
    modules["one_function"] = parse(one_function(100_000))
    counts = {name: count(module) for name, module in modules.items()}
    functions: dict[str, Callable[[], object]] = {
        name: partial(twinjit.fingerprint, module) for name, module in modules.items()
    }
    repeat = {name: max(3, 100_000 // counts[name]) for name in modules}
    seconds = interleave(functions, rounds=rounds, repeat=repeat)
    nanoseconds = {name: 1e9 * seconds[name] / counts[name] for name in modules}
    by_size = [nanoseconds[name] for name in sizes]
    return {
        **{f"ns_per_op_{name}": value for name, value in nanoseconds.items()},
        "ns_per_op_spread": max(by_size) / min(by_size),
    }


def _pairs(module: Any, twin: Any, rounds: int) -> dict[str, float]:
    def in_turn() -> None:
        for each in (module, twin):
            twinjit.fingerprint(each)

    with ThreadPoolExecutor(2) as pool:
        seconds = interleave(
            {
                "in_turn": in_turn,
                "at_once": lambda: list(pool.map(twinjit.fingerprint, [module, twin])),
                "equivalent": lambda: twinjit.equivalent(module, twin),
            },
            rounds=rounds,
            # What another turn leaves in the caches, and in the threads' heaps, is not measured.
            repeat={"in_turn": 8, "at_once": 8, "equivalent": 2},
        )
    return {
        "two_threads_speedup": seconds["in_turn"] / seconds["at_once"],
        "equivalent_ns_per_op": 1e9 * seconds["equivalent"] / count(module),
    }


def _constant(rounds: int) -> dict[str, float]:
    import mlir.ir as ir
    import numpy as np

    with ir.Context(), ir.Location.unknown():
        module = ir.Module.create()
        elements = np.arange(16 << 20, dtype=np.int32)
        attribute: ir.Attribute = ir.DenseElementsAttr.get(array=elements.data)
        with ir.InsertionPoint(module.body):
            ir.Operation.create(
                "arith.constant", results=[attribute.type], attributes={"value": attribute}
            )
    start = perf_counter()
    twinjit.fingerprint(module)
    cold = perf_counter() - start
    seconds = interleave(
        {"warm": lambda: twinjit.fingerprint(module)}, rounds=rounds, repeat={"warm": 100}
    )
    return {"constant_64mb_warm_us": 1e6 * seconds["warm"], "constant_64mb_cold_ms": 1e3 * cold}


def _extremes(rounds: int) -> dict[str, float]:
    deep, operations = _nested(_DEEP)
    wide = _wide(_DEEP)
    seconds = interleave(
        {
            "deep_ns_per_op": lambda: twinjit.fingerprint(deep),
            "operands_ns": lambda: twinjit.fingerprint(wide),
        },
        rounds=rounds,
        repeat={"deep_ns_per_op": 1, "operands_ns": 10},
    )
    for operation in reversed(operations):  # MLIR would take its stack for them, and hours
        operation.erase()
    return {name: 1e9 * value / _DEEP for name, value in seconds.items()}


def _nested(depth: int) -> tuple[Any, list[Any]]:
    """Return a module, and the operations in it, each in the one before."""
    import mlir.ir as ir

    context = ir.Context()
    context.allow_unregistered_dialects = True
    with context, ir.Location.unknown():
        module = ir.Module.create()
        block = module.body
        operations: list[Any] = []
        for _ in range(depth):
            operations.append(ir.Operation.create("t.nested", regions=1))
            block.append(operations[-1])
            block = operations[-1].regions[0].blocks.append()
    return module, operations


def _wide(operands: int) -> Any:
    import mlir.ir as ir

    context = ir.Context()
    context.allow_unregistered_dialects = True
    with context, ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            source = ir.Operation.create("t.source", results=[ir.IntegerType.get_signless(32)])
            ir.Operation.create("t.wide", operands=[source.result] * operands)
    return module
