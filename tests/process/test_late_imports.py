"""Forks while another thread imports what a store needs late."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import os, signal, sys, threading
import twinjit
from twinjit.store.objects import FilesystemBackend
from twinjit.store.redis import RedisBackend

backend = {backend}
imported = threading.Event()

class Finder:
    def find_spec(self, name, path, target=None):
        if name.startswith({package!r}):
            imported.set()

sys.meta_path.insert(0, Finder())

def use():
    try:
        backend.get("name")
    except OSError:
        pass

thread = threading.Thread(target=use)
thread.start()
imported.wait()
child = os.fork()
if child == 0:
    signal.alarm(20)
    use()
    os._exit(0)
thread.join()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.parametrize(
    ("backend", "package"),
    [
        ("RedisBackend('redis://127.0.0.1:1/0')", "redis."),
        ("FilesystemBackend('memory://place')", "fsspec."),
    ],
)
def test_a_child_does_not_wait_for_an_import_of_its_parent(backend: str, package: str) -> None:
    script = SCRIPT.format(backend=backend, package=package)
    command = [sys.executable, "-W", "ignore", "-c", script]
    assert subprocess.run(command, timeout=100).returncode == 0


def run_script(script: str) -> None:
    command = [sys.executable, "-W", "error", "-c", script]
    ended = subprocess.run(command, timeout=100, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


# The bindings' package, which is being imported by one thread, needs a module that the other locks.
AT_ONCE = """
import sys, threading, time
import twinjit

other, failures = [], []

class Finder:
    def find_spec(self, name, path, target=None):
        if name == "mlir._mlir_libs" and not other:
            other.append(threading.Thread(target=run, args=({second},)))
            other[0].start()
            time.sleep(1)

def import_bindings():
    import mlir.ir

def compile():
    twinjit.Compiler(cache=False).compile("func.func @f() {{ return }}")

def run(body):
    try:
        body()
    except BaseException as error:
        failures.append(error)

sys.meta_path.insert(0, Finder())
run({first})
other[0].join()
assert not failures, failures
"""


def test_compiling_goes_with_another_thread_that_imports_the_bindings() -> None:
    run_script(AT_ONCE.format(first="import_bindings", second="compile"))


def test_threads_that_compile_first_go_with_each_other() -> None:
    run_script(AT_ONCE.format(first="compile", second="compile"))


# CPython fails the thread that would close the circle: here ours.
REFUSED = """
import importlib._bootstrap as bootstrap
import sys
import twinjit

refusals = {refusals}

class Finder:
    def find_spec(self, name, path, target=None):
        global refusals
        if name == "mlir._mlir_libs._mlir" and refusals:
            refusals -= 1
            raise bootstrap._DeadlockError("deadlock detected")

sys.meta_path.insert(0, Finder())
"""


def test_an_import_that_closes_a_circle_is_tried_again() -> None:
    compiled = "assert twinjit.Compiler(cache=False).compile('func.func @f() { return }').f"
    run_script(f"{REFUSED.format(refusals=3)}{compiled}\nassert refusals == 0")
