"""Timing and reporting shared by the benchmarks."""

from __future__ import annotations

import gc
import json
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

__all__ = ["EXAMPLES", "Figures", "child", "in_threads", "interleave", "machine", "per_call"]

Figures = Mapping[str, float | str]

EXAMPLES = Path(__file__).parent.parent / "examples"


def per_call(function: Callable[[], object], repeat: int) -> float:
    """Return the seconds of one call, averaged over `repeat` calls in a row."""
    calls = range(repeat)
    gc.disable()
    try:
        start = time.perf_counter()
        for _ in calls:
            function()
        return (time.perf_counter() - start) / repeat
    finally:
        gc.enable()


def interleave(
    functions: Mapping[str, Callable[[], object]], *, rounds: int, repeat: Mapping[str, int]
) -> dict[str, float]:
    """Time functions in turn, so that the machine's drift meets all of them alike.

    Parameters
    ----------
    functions
        By name.
    rounds
        How often each has its turn, after one turn that is not counted.
    repeat
        Calls in a turn, by name.

    Returns
    -------
    dict of str to float
        Median seconds of a call, by name.
    """
    samples: dict[str, list[float]] = {name: [] for name in functions}
    for turn in range(rounds + 1):
        for name, function in functions.items():
            seconds = per_call(function, repeat[name])
            if turn:
                samples[name].append(seconds)
    return {name: median(values) for name, values in samples.items()}


def in_threads(count: int, work: Callable[[int], object]) -> None:
    """Run `work(0)` … `work(count - 1)`, each in a thread, all at once."""
    together = threading.Barrier(count)

    def run(number: int) -> None:
        together.wait()
        work(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def child(module: str, *arguments: str, environment: Mapping[str, str]) -> dict[str, Any]:
    """Run ``python -m MODULE ARGUMENTS`` in a new process and return the JSON object it prints."""
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


def machine() -> dict[str, str]:
    """Describe where the figures were measured."""
    import numpy as np

    import twinjit

    return {
        "cpu": twinjit.Target.host().cpu,
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "twinjit": twinjit.__version__,
    }
