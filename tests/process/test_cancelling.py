"""A process that stops a thousand compilations."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import os, resource
import twinjit
from tests.heavy_programs import chain, matmuls
from twinjit.errors import CompilationTimeoutError

PROGRAMS = [matmuls(1), chain(200)]
PAGE = resource.getpagesize()

def held():
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    return pages * PAGE, len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))

def code(program):
    compiler.clear_memory()
    return bytes(compiler.compile(program)._code.artifact.object_code)

with twinjit.Compiler(opt_level=1, cache=False, shared=False) as compiler:
    expected = [code(each) for each in PROGRAMS]
    compiler.clear_memory()
    seconds = [compiler.compile(each).report.seconds for each in PROGRAMS]
    stopped, before = 0, None
    for attempt in range(5000):
        compiler.clear_memory()
        number = attempt % len(PROGRAMS)
        try:
            compiler.compile(PROGRAMS[number], timeout=seconds[number] * (attempt * 0.618 % 1))
        except CompilationTimeoutError:
            stopped += 1
        if stopped == 200 and before is None:
            before = held()
        if stopped == 1200:
            break
    after = held()
    assert stopped == 1200, stopped
    assert after[0] - before[0] < 8 << 20, (before, after)
    assert after[1:] == before[1:], (before, after)
    assert [code(each) for each in PROGRAMS] == expected
"""


def test_a_thousand_stops_leave_nothing_behind():
    subprocess.run([sys.executable, "-c", SCRIPT], check=True, timeout=540)
