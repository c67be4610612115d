"""Faults that users reported of long-running processes; ``docs/faults.md`` lists them all.

Those of forks are in ``test_forks.py``.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import twinjit
from tests.nightly import rounds
from tests.process.first_uses import STORED
from tests.process.growth import COMPILATIONS, Growth


def run_module(module: str, *arguments: object) -> str:
    """Run a module of this folder in a new process, in which warnings are errors."""
    command = [sys.executable, "-W", "error", "-m", f"tests.process.{module}"]
    ended = subprocess.run(
        [*command, *map(str, arguments)], capture_output=True, text=True, timeout=1500
    )
    assert (ended.returncode, ended.stderr) == (0, ""), f"after {ended.stdout}: {ended.stderr}"
    return ended.stdout


def test_compilations_leave_nothing_behind() -> None:
    """Report 20: 32 KiB leaked for each compilation, and accounts that said otherwise."""
    growth = Growth.from_json(run_module("growth"))
    assert growth.heap_bytes / COMPILATIONS < 100
    assert growth.python_blocks / COMPILATIONS < 0.1
    assert growth.mappings <= 2
    assert growth.descriptors == 0
    assert growth.accounted_bytes == growth.held_bytes


def threads_of_process() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


@contextmanager
def compiling(count: int) -> Iterator[None]:
    """Compile in so many threads, all at once, until the body ends."""
    compiler = twinjit.Compiler(opt_level=0, cache=False)
    ended = threading.Event()
    begun = threading.Barrier(count + 1)

    def compile_all(number: int) -> None:
        begun.wait()
        while not ended.is_set():
            number += count
            text = f"func.func @f() -> i64 {{ %c = arith.constant {number} : i64 return %c : i64 }}"
            assert compiler.compile(text).f() == number

    threads = [threading.Thread(target=compile_all, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    begun.wait()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    assert compiler.stats()["compiled"] >= count


def test_contexts_have_no_threads() -> None:
    """Report 22: a thread pool for each context; here 40 contexts are in use at once."""
    before = threads_of_process()
    with compiling(40):
        most = max(threads_of_process() for _ in range(200))
    assert most <= before + 40


def test_first_uses_at_once(tmp_path: Path) -> None:
    """Reports 23 and 24: dialects, passes and targets were registered while others were at work."""
    twinjit.Compiler(cache=tmp_path).compile(STORED)
    run_module("first_uses", rounds(5, 100), tmp_path)


@pytest.mark.parametrize("arguments", [(65536,), (32768, "warm")], ids=["64K", "32K"])
def test_small_stacks(arguments: tuple[object, ...]) -> None:
    """Report 27: a lookup overflowed the stack of a worker's thread.

    32 KiB are the least that Python allows; its own parser overflows them where it has to compile
    a module that is imported late, so there everything has been used before.
    """
    used = run_module("small_stacks", *arguments).split()
    assert "hit_on_disk" in used
    assert used[-1] == "counts"
