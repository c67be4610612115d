"""What a call of compiled code costs, against MLIR's own ExecutionEngine.

The kernel adds two 16-element float arrays into a third, an out-parameter; the arrays are the same
in each call. The stock way is ``ExecutionEngine.invoke`` with descriptors made by
``mlir.runtime.get_ranked_memref_descriptor``, as MLIR's documentation has it; ``stock_cached_us``
keeps the descriptors between calls.

Figures
-------
``call_overhead_us``, ``call_dlpack_us``, ``call_buffer_us``
    A call with NumPy arrays, with objects that offer DLPack only, and with ``memoryview`` objects.
``stock_us``, ``stock_cached_us``
    The stock way.
``stock_over_ours``, ``stock_cached_over_ours``
    Ratios to ``call_overhead_us``.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

import twinjit
from benchmarks.harness import Figures, interleave

__all__ = ["run"]

_KERNEL = """
func.func @add(%a: memref<16xf32>, %b: memref<16xf32>, %out: memref<16xf32>)
    attributes {llvm.emit_c_interface} {
  affine.for %i = 0 to 16 {
    %x = affine.load %a[%i] : memref<16xf32>
    %y = affine.load %b[%i] : memref<16xf32>
    %z = arith.addf %x, %y : f32
    affine.store %z, %out[%i] : memref<16xf32>
  }
  return
}
"""


class _DLPackOnly:
    """Offers an array through DLPack and nothing else."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self._array = array

    def __dlpack__(self, **options: Any) -> object:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()


def run(*, quick: bool) -> Figures:
    """Measure; see the module's docstring for the figures."""
    arrays = [np.arange(16, dtype=np.float32), np.ones(16, np.float32), np.empty(16, np.float32)]
    add = twinjit.Compiler(cache=False).compile(_KERNEL).add
    a, b, out = arrays
    d, e, f = map(_DLPackOnly, arrays)
    u, v, w = (array.data for array in (a, b, out))
    fresh, cached = _stock(arrays)
    seconds = interleave(
        {
            "call_overhead_us": lambda: add(a, b, out),
            "call_dlpack_us": lambda: add(d, e, f),
            "call_buffer_us": lambda: add(u, v, w),
            "stock_us": fresh,
            "stock_cached_us": cached,
            "empty_us": lambda: None,
        },
        rounds=5 if quick else 21,
        repeat={
            "call_overhead_us": 20_000,
            "call_dlpack_us": 5_000,
            "call_buffer_us": 10_000,
            "stock_us": 200,
            "stock_cached_us": 2_000,
            "empty_us": 20_000,
        },
    )
    np.testing.assert_array_equal(out, a + b)
    micro = {name: 1e6 * value for name, value in seconds.items()}
    return {
        **micro,
        "stock_over_ours": micro["stock_us"] / micro["call_overhead_us"],
        "stock_cached_over_ours": micro["stock_cached_us"] / micro["call_overhead_us"],
    }


def _stock(
    arrays: list[np.ndarray[Any, Any]],
) -> tuple[Callable[[], object], Callable[[], object]]:
    """Return calls of the same kernel through MLIR's own bindings, fresh and cached descriptors."""
    from mlir.execution_engine import ExecutionEngine
    from mlir.ir import Context, Module
    from mlir.passmanager import PassManager
    from mlir.runtime import get_ranked_memref_descriptor

    with Context():
        module = Module.parse(_KERNEL)
        PassManager.parse(twinjit.NAMED_PIPELINES["std"].text).run(module.operation)
        engine = ExecutionEngine(module, opt_level=3)

    def descriptors() -> list[Any]:
        return [ctypes.pointer(ctypes.pointer(get_ranked_memref_descriptor(a))) for a in arrays]

    kept = descriptors()
    return lambda: engine.invoke("add", *descriptors()), lambda: engine.invoke("add", *kept)
