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


def run_script(script: str, warnings: str = "error") -> None:
    command = [sys.executable, "-W", warnings, "-c", script]
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


# A fork once `begun` is set in `late`, and a late import in the child.
FORK = """
thread = threading.Thread(target=late)
thread.start()
begun.wait()
child = os.fork()
if child == 0:
    with held_off():
        os._exit(0)
thread.join()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""

# A late import registers to have its lock taken before forks, and then takes it, like `logging`.
LOCKING = """
import os, threading, time
from twinjit.forks import held_off

registering = os.register_at_fork
begun = threading.Event()

def load():
    lock = threading.RLock()
    os.register_at_fork(
        before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
    )
    begun.set()
    time.sleep(0.5)  # for the fork to come in between
    with lock:
        pass

def late():
    with held_off():
        load()
"""


def test_a_fork_goes_with_an_import_whose_locks_forks_take() -> None:
    put_back = "assert os.register_at_fork is registering"
    run_script(f"{LOCKING}{FORK}{put_back}", warnings="ignore")


# Loaded after Twinjit by the user, and used by a late import.
LOGGING = """
import os, threading, time
from twinjit.forks import held_off
import logging

begun = threading.Event()

def late():
    with held_off():
        begun.set()
        time.sleep(0.5)
        logging.getLogger("late")
"""


def test_a_fork_goes_with_an_import_that_logs() -> None:
    run_script(LOGGING + FORK, warnings="ignore")
