"""What a hit costs against a miss, for the PyTorch MLP, each tier in a new process.

Figures
-------
``cold_ms``, ``disk_hit_ms``
    From MLIR text in memory to a callable function in a new process: with an empty disk store, and
    with the artifact in it.
``memory_hit_us``, ``live_module_hit_us``
    The same in a process that has compiled it: from the text, and from a live ``mlir.ir`` module.
``cold_over_disk``, ``cold_over_memory``
    Ratios of these medians.
``import_ms``, ``mlir_import_ms``
    Apart from the above: ``import twinjit``; and loading MLIR, which only a miss does. Neither is
    in ``cold_ms``.
"""

from __future__ import annotations

import sys
import tempfile
from statistics import median

from benchmarks.harness import EXAMPLES, Figures, child

__all__ = ["run"]

_TEXT = EXAMPLES / "mlp.mlir"


def run(*, quick: bool) -> Figures:
    """Measure; see the module's docstring for the figures."""
    samples: dict[str, list[float]] = {}
    for _ in range(3 if quick else 9):
        with tempfile.TemporaryDirectory() as folder:
            # The first process leaves the artifact behind that the second finds.
            for mode in ("cold", "disk"):
                figures = child("benchmarks.warm", mode, environment={"TWINJIT_CACHE_DIR": folder})
                for name, value in figures.items():
                    samples.setdefault(name, []).append(value)
    medians = {name: median(values) for name, values in samples.items()}
    return {
        **medians,
        "cold_over_disk": medians["cold_ms"] / medians["disk_hit_ms"],
        "cold_over_memory": 1e3 * medians["cold_ms"] / medians["memory_hit_us"],
    }


def _measure_in_this_process(mode: str) -> dict[str, float]:
    from time import perf_counter

    text = _TEXT.read_text()
    start = perf_counter()
    import twinjit

    figures = {"import_ms": 1e3 * (perf_counter() - start)}
    if mode == "cold":
        start = perf_counter()
        from twinjit._native import _mlir  # noqa: F401 -- loading it is what is measured

        figures["mlir_import_ms"] = 1e3 * (perf_counter() - start)
    start = perf_counter()
    executable = twinjit.compile(text)
    function = executable.mlp
    seconds = perf_counter() - start
    expected = "compiled" if mode == "cold" else "disk"
    if executable.report.tier != expected or not callable(function):
        sys.exit(f"expected a {expected} executable, got {executable.report}")
    figures["cold_ms" if mode == "cold" else "disk_hit_ms"] = 1e3 * seconds
    if mode == "cold":
        figures.update(_measure_hits(text))
    return figures


def _measure_hits(text: str) -> dict[str, float]:
    import mlir.ir

    import twinjit
    from benchmarks.harness import interleave

    with mlir.ir.Context():
        module = mlir.ir.Module.parse(text)
    twinjit.compile(module)
    seconds = interleave(
        {
            "memory_hit_us": lambda: twinjit.compile(text).mlp,
            "live_module_hit_us": lambda: twinjit.compile(module).mlp,
        },
        rounds=15,
        repeat={"memory_hit_us": 100, "live_module_hit_us": 20},
    )
    if twinjit.compile(text).report.tier != "memory":
        sys.exit("the text was not a hit")
    return {name: 1e6 * value for name, value in seconds.items()}


if __name__ == "__main__":
    import json

    print(json.dumps(_measure_in_this_process(sys.argv[1])))
