"""The interpreter ends, or is interrupted, while programs are compiled in the background."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

PRELUDE = """
import sys, threading, time, atexit
import twinjit
from tests.jobs.programs import adds, takes_long

compiler = twinjit.Compiler(cache=False, max_workers=2)
futures = [compiler.submit(takes_long(3000 + n), timeout=500) for n in range(6)]
while not futures[0].running():
    time.sleep(0.001)
"""


def end(script: str) -> tuple[int, str, str]:
    command = [sys.executable, "-c", PRELUDE + script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    return done.returncode, done.stdout, done.stderr


def test_what_has_not_ended_is_cancelled():
    # When `atexit` is due, threads have ended.
    script = "atexit.register(lambda: print(all(each.cancelled() for each in futures)))"
    assert end(script) == (0, "True\n", "")


def test_a_closed_compiler_has_ended_all():
    script = """
compiler.map([adds(n) for n in range(8)], priority=9)
compiler.close(cancel=True)
print(threading.active_count())
"""
    assert end(script) == (0, "1\n", "")


def test_a_dropped_compiler():
    assert end("del compiler, futures") == (0, "", "")


def test_a_thread_that_waits_ends():
    script = """
from concurrent.futures import CancelledError

def use():
    try:
        futures[-1].result()
    except CancelledError:
        print("cancelled")
    try:
        twinjit.Compiler(cache=False).submit(adds(1)).result()
    except (CancelledError, twinjit.errors.ExecutorError):
        print("refused")
    except BaseException as error:
        print(error)
    else:
        print("compiled")

threading.Thread(target=use).start()
"""
    status, output, errors = end(script)
    assert (status, errors) == (0, "")
    assert output in ("cancelled\nrefused\n", "cancelled\ncompiled\n")


def test_a_daemon_thread_that_submits_all_the_time():
    script = """
def use():
    while True:
        try:
            compiler.map([adds(n) for n in range(20)], priority=1)
        except twinjit.errors.TwinjitError:
            return
        compiler.clear_memory()

threading.Thread(target=use, daemon=True).start()
time.sleep(0.2)
"""
    assert end(script) == (0, "", "")


def test_the_first_program_is_submitted_when_the_interpreter_ends():
    script = """
import sys, threading, time
import twinjit
from tests.jobs.programs import adds

def use():
    threading.main_thread().join()
    try:
        print(twinjit.Compiler(cache=False).submit(adds(1)).result().f(1))
    except twinjit.errors.ExecutorError as error:
        print(2)

threading.Thread(target=use).start()
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=100
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", "")


@pytest.mark.parametrize(
    "wait",
    [
        "compiler.map([takes_long(4000), takes_long(4001)])",
        "compiler.map(iter([takes_long(4000)] * 50), progress=True)",
        "futures[-1].result()",
        "compiler.close()",
        "with compiler: pass",
    ],
)
def test_an_interrupt_ends_it(wait):
    script = f"""
print("begun", flush=True)
try:
    {wait}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    command = [sys.executable, "-c", PRELUDE + script]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == "begun\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == "interrupted\n"
        assert process.stderr.read() == ""
    assert process.returncode == 0
