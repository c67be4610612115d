"""What a second thread gains: 16 distinct modules, each of which takes 100 to 400 ms to compile.

The modules are the PyTorch graphs of ``examples/`` in four variants each, compiled through the
pipeline ``linalg`` at ``-O3`` without any cache, the dearest first, so that two threads end at
about the same time. Contexts are warm; everything is linked and every function looked up.

Figures
-------
``serial_ms``, ``threads2_ms``, ``threads2_speedup``
    One `Compiler`, used by the main thread; the same modules on two Python threads; the ratio.
``processes2_ms``, ``processes2_speedup``
    The same on two processes, which have compiled before. What they gain over ``serial_ms`` is
    what the machine gives.
``stock_serial_ms``, ``stock_threads2_ms``, ``stock_threads2_speedup``
    MLIR's own Python bindings, on the same texts, with a context for each thread: ``Module.parse``,
    a ``PassManager`` of the same passes, and an ``ExecutionEngine`` at the same level, which
    optimises, generates an object and links it. Left out are what only Twinjit does: fingerprint,
    canonical form, key, artifact.
``stock_serial_over_ours``
    What those who have stock bindings and wait get from Twinjit on two cores: ``stock_serial_ms``
    over ``threads2_ms``. Stock threads are no faster, as the bindings hold the GIL.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import re
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from threading import local
from typing import Any

import twinjit
from benchmarks.harness import Figures, interleave
from benchmarks.programs import graph
from twinjit.pipeline import NAMED_PIPELINES

__all__ = ["threads"]

_GRAPHS = ("mlp_args", "mlp", "convnet", "mlp_dynamic")  # the dearest first
_LEVEL = 3


def threads(*, quick: bool) -> Figures:
    """Measure; see the module's docstring for the figures."""
    texts = _modules(variants=2 if quick else 4)
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as processes:
        seconds = interleave(
            {
                "serial_ms": lambda: _compile(texts),
                "threads2_ms": lambda: _compile_on_threads(texts),
                "processes2_ms": lambda: list(processes.map(_compile_one, texts)),
                "stock_serial_ms": lambda: _compile_stock(texts),
                "stock_threads2_ms": lambda: _compile_stock_on_threads(texts),
            },
            rounds=3 if quick else 7,
            repeat=dict.fromkeys(_SERIES, 1),
        )
    return {
        **{name: 1e3 * value for name, value in seconds.items()},
        "threads2_speedup": seconds["serial_ms"] / seconds["threads2_ms"],
        "processes2_speedup": seconds["serial_ms"] / seconds["processes2_ms"],
        "stock_threads2_speedup": seconds["stock_serial_ms"] / seconds["stock_threads2_ms"],
        "stock_serial_over_ours": seconds["stock_serial_ms"] / seconds["threads2_ms"],
    }


_SERIES = ("serial_ms", "threads2_ms", "processes2_ms", "stock_serial_ms", "stock_threads2_ms")


def _modules(variants: int) -> list[str]:
    """Make each graph so often, no two of one key."""
    return [graph(name, number) for name in _GRAPHS for number in range(variants)]


def _compile(texts: Iterable[str]) -> None:
    compiler = _uncached()
    for text in texts:
        _compile_new(compiler, text)


def _compile_on_threads(texts: Iterable[str]) -> None:
    compiler = _uncached()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda text: _compile_new(compiler, text), texts))


def _compile_one(text: str) -> None:
    """Compile in a process of a pool."""
    _compile_new(_uncached(), text)


def _uncached() -> twinjit.Compiler:
    """Make a compiler that has compiled nothing, nor finds what others have."""
    return twinjit.Compiler(opt_level=_LEVEL, cache=False, shared=False)


def _compile_new(compiler: twinjit.Compiler, text: str) -> None:
    executable = compiler.compile(text)
    functions = [executable[name] for name in executable]
    if executable.report.tier != "compiled" or len(functions) != 2:
        sys.exit(f"expected two functions of a program compiled anew, got {executable}")


def _compile_stock(texts: Iterable[str]) -> None:
    context = _stock_context()
    for text in texts:
        _compile_one_stock(context, text)


def _compile_stock_on_threads(texts: Iterable[str]) -> None:
    own = local()

    def give_context() -> None:
        own.context = _stock_context()

    with ThreadPoolExecutor(2, initializer=give_context) as pool:
        list(pool.map(lambda text: _compile_one_stock(own.context, text), texts))


def _stock_context() -> Any:
    import mlir.ir as ir

    context = ir.Context()
    context.enable_multithreading(False)  # it is faster without threads of its own
    return context


_failed = ctypes.CFUNCTYPE(None)(lambda: None)


def _compile_one_stock(context: Any, text: str) -> None:
    import mlir.ir as ir
    from mlir.execution_engine import ExecutionEngine
    from mlir.passmanager import PassManager

    with context:
        module = ir.Module.parse(text)
        # Twinjit's passes are in MLIR's registry once it has compiled something.
        PassManager.parse(NAMED_PIPELINES["linalg"].text).run(module.operation)
        engine = ExecutionEngine(module, opt_level=_LEVEL)
        # What Twinjit's runtime defines; nothing is called here.
        callback = ctypes.cast(_failed, ctypes.c_void_p)
        engine.raw_register_runtime("twinjit_assertion_failed", callback)
        names = re.findall(r"func\.func @(\w+)", text)
        if not all(engine.raw_lookup(name) for name in names):
            sys.exit(f"the execution engine has not compiled {names}")
