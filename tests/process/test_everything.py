"""Threads of several processes do everything at once with one directory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import twinjit
from tests.nightly import rounds
from tests.process.everything import NUMBERS, SETTINGS, adds

PROCESSES = 2
SECONDS = 6000  # more than a loaded machine needs; what hangs never ends


def test_everything_at_once(tmp_path: Path) -> None:
    module = [sys.executable, "-W", "error", "-m", "tests.process.everything"]
    started = [
        subprocess.Popen(
            [*module, str(tmp_path), str(seed), str(rounds(80, 4000))],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for seed in range(PROCESSES)
    ]
    printed = [process.communicate(timeout=SECONDS)[0] for process in started]
    assert printed == [""] * PROCESSES
    assert [process.returncode for process in started] == [0] * PROCESSES
    compiler = twinjit.Compiler(cache=tmp_path, opt_level=0, settings=SETTINGS)
    for number in range(NUMBERS):
        assert compiler.compile(adds(number)).f(3) == number + 3
    assert compiler.store is not None
    assert list(compiler.store.verify()) == []
    assert compiler.store.stats().faults == 0
