"""How fast the compiled code runs, against NumPy on one thread.

Figures
-------
``chain8_us``, ``chain8_numpy_us``, ``chain8_numpy_over_ours``
    Eight elementwise operations over 10⁶ floats in one expression, both into preallocated outputs.
    NumPy has one output for each operation; ``chain8_numpy_inplace_us`` is NumPy reusing a single
    one, which spares it cache misses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import twinjit
from benchmarks.harness import Figures, interleave

__all__ = ["run"]

_SIZE = 1_000_000

_CHAIN = f"""
!t = tensor<{_SIZE}xf32>
func.func @chain(%x: !t, %y: !t) -> !t {{
  %half = arith.constant dense<0.5> : !t
  %0 = arith.addf %x, %y : !t
  %1 = arith.mulf %0, %x : !t
  %2 = arith.subf %1, %y : !t
  %3 = arith.maximumf %2, %x : !t
  %4 = math.absf %3 : !t
  %5 = math.sqrt %4 : !t
  %6 = arith.addf %5, %y : !t
  %7 = arith.mulf %6, %half : !t
  return %7 : !t
}}
"""

_Array = np.ndarray[Any, np.dtype[np.float32]]


def _numpy_chain(x: _Array, y: _Array, outs: list[_Array]) -> Callable[[], _Array]:
    half = np.float32(0.5)
    o = outs

    def chain() -> _Array:
        np.add(x, y, out=o[0])
        np.multiply(o[0], x, out=o[1])
        np.subtract(o[1], y, out=o[2])
        np.maximum(o[2], x, out=o[3])
        np.abs(o[3], out=o[4])
        np.sqrt(o[4], out=o[5])
        np.add(o[5], y, out=o[6])
        np.multiply(o[6], half, out=o[7])
        return o[7]

    return chain


def run(*, quick: bool) -> Figures:
    """Measure; see the module's docstring for the figures."""
    random = np.random.default_rng(1)
    x, y = (random.random(_SIZE, np.float32) for _ in range(2))
    out = np.empty(_SIZE, np.float32)
    chain = twinjit.Compiler(cache=False).compile(_CHAIN).chain
    # Elementwise ufuncs never use threads, so NumPy needs no pinning here.
    fresh = _numpy_chain(x, y, [np.empty(_SIZE, np.float32) for _ in range(8)])
    inplace = _numpy_chain(x, y, [np.empty(_SIZE, np.float32)] * 8)
    seconds = interleave(
        {
            "chain8_us": lambda: chain(x, y, out=out),
            "chain8_numpy_us": fresh,
            "chain8_numpy_inplace_us": inplace,
        },
        rounds=7 if quick else 31,
        repeat=dict.fromkeys(("chain8_us", "chain8_numpy_us", "chain8_numpy_inplace_us"), 5),
    )
    np.testing.assert_array_equal(chain(x, y), fresh())
    micro = {name: 1e6 * value for name, value in seconds.items()}
    ours = micro["chain8_us"]
    return {
        **micro,
        "chain8_numpy_over_ours": micro["chain8_numpy_us"] / ours,
        "chain8_numpy_inplace_over_ours": micro["chain8_numpy_inplace_us"] / ours,
    }
