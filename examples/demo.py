"""Run the PyTorch graphs cold and warm, and compare their results with PyTorch's own.

Each graph is compiled with an empty cache, looked up again in the same process, and looked up once
more in a new process, where it comes from the disk.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import twinjit

FOLDER = Path(__file__).parent
GRAPHS = ("mlp", "mlp_args", "mlp_dynamic", "encoder", "convnet")


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    """Call a function; return its result and the milliseconds it took."""
    start = perf_counter()
    result = function()
    return result, 1e3 * (perf_counter() - start)


def largest_error(function: Callable[..., Any], name: str) -> float:
    """Run a graph on its recorded inputs; return the largest difference from PyTorch's output."""
    with np.load(FOLDER / f"{name}.npz") as arrays:
        count = sum(key.startswith("input_") for key in arrays)
        inputs = [arrays[f"input_{index}"] for index in range(count)]
        return float(np.abs(function(*inputs) - arrays["output_0"]).max())


def look_up(name: str) -> dict[str, Any]:
    """Compile a graph, from wherever it comes, and run it."""
    text = (FOLDER / f"{name}.mlir").read_text()
    executable, milliseconds = timed(lambda: twinjit.compile(text))
    return {
        "ms": milliseconds,
        "tier": executable.report.tier,
        "error": largest_error(executable[name], name),
    }


def look_up_in_new_process() -> dict[str, dict[str, Any]]:
    """Do the same for all graphs in a new process."""
    printed = subprocess.run(
        [sys.executable, __file__, "--child"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    found: dict[str, dict[str, Any]] = json.loads(printed)
    return found


def forget_settings() -> None:
    """Leave out the user's settings: a shared store, or none at all, would show other figures."""
    for name in [name for name in os.environ if name.startswith("TWINJIT_")]:
        del os.environ[name]
    os.environ["TWINJIT_SETTINGS"] = "off"


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as cache:
        forget_settings()
        os.environ["TWINJIT_CACHE_DIR"] = cache
        # The first miss loads MLIR's shared library; keep that out of the first graph's time.
        twinjit.compile("func.func @warm_up() { return }")
        cold = {name: look_up(name) for name in GRAPHS}
        memory = {name: look_up(name) for name in GRAPHS}
        disk = look_up_in_new_process()
    print("Cold, then again in the same process (memory) and in a new one (disk):")
    table = Table("graph", "compile ms", "hit µs", "tier", "ratio", "largest error")
    for name in GRAPHS:
        compiled = cold[name]
        if compiled["tier"] != "compiled":
            sys.exit(f"{name} was not compiled but came from {compiled['tier']}")
        for hit in (memory[name], disk[name]):
            table.add_row(
                name,
                f"{compiled['ms']:.0f}",
                f"{1e3 * hit['ms']:.0f}",
                hit["tier"],
                f"{compiled['ms'] / hit['ms']:,.0f}",
                f"{max(compiled['error'], hit['error']):.1e}",
            )
    Console().print(table)


if __name__ == "__main__":
    if "--child" in sys.argv:
        print(json.dumps({name: look_up(name) for name in GRAPHS}))
    else:
        main()
