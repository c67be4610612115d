"""The interpreter ends quietly, whatever is alive or running then."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import sys, threading, time
import numpy as np
import twinjit

TEXT = "func.func @f(%a: tensor<?xf64>) -> tensor<?xf64> {{ "\\
    "%0 = arith.addf %a, %a : tensor<?xf64> return %0 : tensor<?xf64> }}"
exe = twinjit.Compiler(cache=False).compile(TEXT)
kept = sys.kept = [exe, exe.f, exe.f(np.ones(3))]

def call():
    while True:
        exe.f(np.ones(100_000))

def compile():
    compiler = twinjit.Compiler(cache=False)
    while True:
        compiler.compile(TEXT)
        compiler.clear_memory()

threading.Thread(target={work}, daemon=True).start()
time.sleep(0.3)
"""


@pytest.mark.parametrize("work", ["call", "compile"])
def test_exit_while_a_daemon_thread_works(work):
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(work=work)], capture_output=True, text=True, timeout=60
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
