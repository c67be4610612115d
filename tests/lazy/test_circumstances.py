"""Lazy functions where it is called from that matters: ends, depths, modes."""

from __future__ import annotations

import subprocess
import sys

import pytest

import twinjit
from tests.lazy.texts import body


def test_an_interpreter_ends_while_threads_call() -> None:
    script = """
import ctypes, threading, twinjit
jit = twinjit.Jit(twinjit.Compiler(cache=False))
jit.define("f", "i64(i64)", lambda: "define i64 @f(i64 %x) { ret i64 %x }")
call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(jit.address("f"))
def work():
    while True:
        call(1)
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_calls_while_the_interpreter_ends_fail_or_are_right() -> None:
    script = """
import builtins, os, twinjit
jit = twinjit.Jit(twinjit.Compiler(cache=False))
jit.add("define i64 @g(i64 %x) { %r = add i64 %x, 5 ret i64 %r }")
jit.add('''
declare i64 @g(i64)
define i64 @f(i64 %x, i1 %calls) { br i1 %calls, label %a, label %b
a: %r = call i64 @g(i64 %x) ret i64 %r
b: ret i64 7 }''')
class Last:
    def __init__(self):
        self.call, self.tell = jit.f, os.write
    def __del__(self):
        try:
            result = str(self.call(1, True))
        except BaseException:
            result = "raised"
        self.tell(1, result.encode())
assert jit.f(1, False) == 7
builtins.last = Last()
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (result.returncode, result.stdout) in [(0, "raised"), (0, "6")], result.stderr


def test_check_mode_compiles_hits_again(tmp_path) -> None:
    settings = twinjit.Settings.load(check=True, check_hits=1.0)
    program = body("f", plus=3)
    tiers = []
    for _ in range(2):
        checking = twinjit.Compiler(cache=tmp_path, settings=settings)
        executable = checking.compile(program, lazy=True)
        assert executable.f(1) == 4
        tiers.append((executable.report.compiled, executable.report.hits))
        assert checking.stats()["checked"] == 1
    assert tiers == [(1, {}), (0, {"disk": 1})]


def test_too_deep_a_call_is_no_fault_of_the_function(jit) -> None:
    names = [f"f{i}" for i in range(sys.getrecursionlimit() // 4)]

    def define(name: str, callee: str) -> None:
        def generate() -> str:
            if callee:
                jit[callee](1)
            return body(name)

        jit.define(name, "i64(i64)", generate)

    for name, callee in zip(names, [*names[1:], ""], strict=True):
        define(name, callee)
    with pytest.raises(RecursionError):
        jit[names[0]](1)
    for name in reversed(names):
        assert jit[name](1) == 2
