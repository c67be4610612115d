"""Processes that want one program compile it once, whatever becomes of the one that compiles."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

import twinjit
from tests.flights import PATIENCE, count_locks, descriptors, spawn, wait_for
from twinjit.errors import LoweringError
from twinjit.settings import Settings

fork = multiprocessing.get_context("fork")

THREADS = 2


def program(sums: int) -> str:
    """Make a program that takes a quarter of a second per thousand to compile."""
    lines = [
        f"  %w{i} = arith.mulf %v{i}, %v0 : f64\n  %v{i + 1} = math.sin %w{i} : f64"
        for i in range(sums)
    ]
    head, last = "func.func @f(%v0: f64) -> f64 {", f"  return %v{sums} : f64\n}}"
    return "\n".join([head, *lines, last])


WANTED = program(1000)
LONG = program(6000)  # there is time to find it being compiled
UNLOWERABLE = "func.func @f(%x: f64) -> f64 { %y = math.absf %x : f64 return %y : f64 }"


def compiler(root: Path, pipeline: str = "auto") -> twinjit.Compiler:
    settings = Settings(wait_seconds=PATIENCE)
    return twinjit.Compiler(cache=root, settings=settings, pipeline=pipeline)


# 32 processes of both kinds, with threads, which spell the program differently


def compile_in_threads(root: Path, pipe: Connection) -> None:
    shared, results = compiler(root), []

    def work(blank_lines: int) -> None:
        executable = shared.compile("\n" * blank_lines + WANTED)
        results.append((executable.report.tier, executable.f(1.0)))

    threads = [threading.Thread(target=work, args=[each]) for each in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pipe.send(results)


def fork_and_compile(root: Path, pipe: Connection, forks: int, barrier: Barrier) -> None:
    ends = [fork.Pipe(duplex=False) for _ in range(forks)]
    children = [fork.Process(target=compile_in_threads, args=(root, its)) for _, its in ends]
    barrier.wait()
    for child in children:
        child.start()
    compile_in_threads(root, pipe)
    for mine, _ in ends:
        pipe.send(mine.recv())
    for child in children:
        child.join()


def test_32_processes_compile_a_program_once(tmp_path: Path) -> None:
    spawned, forks = 4, 7
    barrier = spawn.Barrier(spawned)
    ends = [spawn.Pipe(duplex=False) for _ in range(spawned)]
    parents = [
        spawn.Process(target=fork_and_compile, args=(tmp_path, its, forks, barrier))
        for _, its in ends
    ]
    for parent in parents:
        parent.start()
    results = [mine.recv() for mine, _ in ends for _ in range(1 + forks)]
    for parent in parents:
        parent.join()
        assert parent.exitcode == 0
    flat = [result for of_process in results for result in of_process]
    assert len(flat) == 32 * THREADS
    assert Counter(tier for tier, _ in flat)["compiled"] == 1
    assert len({value for _, value in flat}) == 1


# The owner's death, failure and suspension


def compile_and_tell(root: Path, pipe: Connection) -> None:
    executable = compiler(root).compile(LONG)
    pipe.send((executable.report.tier, executable.f(1.0)))


def start(root: Path) -> tuple[multiprocessing.process.BaseProcess, Connection]:
    mine, its = spawn.Pipe(duplex=False)
    process = spawn.Process(target=compile_and_tell, args=(root, its))
    process.start()
    return process, mine


def suspend_when_compiling(
    root: Path,
) -> tuple[multiprocessing.process.BaseProcess, Connection]:
    process, mine = start(root)
    assert process.pid
    # The turn of the request is taken to read the program, that of the key to compile it.
    wait_for(lambda: count_locks(root / "v1" / "locks") == 2)
    os.kill(process.pid, signal.SIGSTOP)
    assert list((root / "v1").glob("objects/*/*")) == []  # it had not finished
    return process, mine


def test_when_the_owner_is_killed_another_compiles_and_the_rest_load(tmp_path: Path) -> None:
    owner, _ = suspend_when_compiling(tmp_path)
    others = [start(tmp_path) for _ in range(3)]
    locks = tmp_path / "v1" / "locks"
    wait_for(lambda: all(descriptors(locks, process.pid or 0) for process, _ in others))
    owner.kill()
    owner.join()
    results = [mine.recv() for _, mine in others]
    for process, _ in others:
        process.join()
    assert Counter(tier for tier, _ in results) == {"compiled": 1, "disk": 2}
    assert len({value for _, value in results}) == 1


def test_a_suspended_owner_holds_nobody_up_for_longer_than_the_limit(tmp_path: Path) -> None:
    owner, mine = suspend_when_compiling(tmp_path)
    assert owner.pid
    impatient = twinjit.Compiler(cache=tmp_path, settings=Settings(wait_seconds=0.1))
    executable = impatient.compile(LONG)
    assert executable.report.tier == "compiled"
    os.kill(owner.pid, signal.SIGCONT)
    tier, value = mine.recv()
    assert tier in ("compiled", "disk")  # it may have been stopped before it looked once more
    assert value == executable.f(1.0)
    owner.join()


def test_who_waits_for_the_same_text_does_not_read_it(tmp_path: Path) -> None:
    owner, mine = suspend_when_compiling(tmp_path)
    assert owner.pid
    waiting = compiler(tmp_path)
    found: list[twinjit.Executable] = []
    thread = threading.Thread(target=lambda: found.append(waiting.compile(LONG)))
    thread.start()
    wait_for(lambda: descriptors(tmp_path / "v1" / "locks"))
    os.kill(owner.pid, signal.SIGCONT)
    thread.join()
    assert mine.recv() == ("compiled", found[0].f(1.0))
    assert found[0].report.tier == "disk"
    assert list(found[0].report.phases) == ["wait"]
    owner.join()


def fail_and_tell(root: Path, pipe: Connection, barrier: Barrier) -> None:
    with_hole = compiler(root, pipeline="builtin.module(convert-func-to-llvm)")
    barrier.wait()
    with pytest.raises(LoweringError) as raised:
        with_hole.compile(UNLOWERABLE)
    pipe.send(str(raised.value))


def test_each_process_has_the_error_of_a_failing_program(tmp_path: Path) -> None:
    barrier = spawn.Barrier(4)
    ends = [spawn.Pipe(duplex=False) for _ in range(4)]
    processes = [
        spawn.Process(target=fail_and_tell, args=(tmp_path, its, barrier)) for _, its in ends
    ]
    for process in processes:
        process.start()
    messages = [mine.recv() for mine, _ in ends]
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert len(set(messages)) == 1
    assert "'math.absf' was not lowered" in messages[0]


EXIT = """
import sys, threading, time
import twinjit
from twinjit.settings import Settings

compiler = twinjit.Compiler(cache=sys.argv[1], settings=Settings(wait_seconds=1e6))
text = sys.stdin.read()
with compiler.store.turn(compiler.explain(text).key.digest, 0) as outcome:
    assert outcome == "owner"
    waiting = threading.Thread(target=compiler.compile, args=[text], daemon=True)
    waiting.start()
    time.sleep(0.5)
    assert waiting.is_alive()
    {end}
"""


@pytest.mark.parametrize("end", ["sys.exit()", "import os; os._exit(0)"])
def test_exit_while_a_daemon_thread_waits(tmp_path: Path, end: str) -> None:
    command = [sys.executable, "-c", EXIT.format(end=end), str(tmp_path)]
    ended = subprocess.run(
        command, input=UNLOWERABLE, capture_output=True, text=True, timeout=PATIENCE
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert count_locks(tmp_path / "v1" / "locks") == 0
