"""Forking while other threads compile, load, call and use the caches."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

import twinjit
from tests.nightly import rounds
from twinjit import forks
from twinjit._native import gate
from twinjit.errors import ForkError
from twinjit.store.memory import LruCache

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")

CHILD_SECONDS = 60  # more than any child needs on a loaded machine; one that hangs never ends
REFUSED = 77


def adds(number: int) -> str:
    """Make a program of which no other number has the code."""
    return (
        f"func.func @f(%x: i64) -> i64 {{ %c = arith.constant {number} : i64 "
        "%y = arith.addi %x, %c : i64 return %y : i64 }"
    )


STORED = adds(-1)


def endless() -> str:
    """Make a program that LLVM optimises for minutes."""
    lines = "".join(f"%v{n + 1} = arith.muli %v{n}, %v{n // 2} : i64\n" for n in range(20_000))
    return f"func.func @f(%v0: i64) -> i64 {{ {lines} return %v20000 : i64 }}"


def fork(work: Callable[[], object]) -> int:
    """Run `work` in a forked child; return the child's process id."""
    child = os.fork()
    if child:
        return child
    signal.alarm(CHILD_SECONDS)
    status = 3
    try:
        work()
        status = 0
    except ForkError:
        status = REFUSED
    finally:
        if status == 3:
            sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]  # there is one
        os._exit(status)


def status_of(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@contextmanager
def threads(work: Callable[[int], object], count: int) -> Iterator[None]:
    """Repeat `work` in each of so many threads, with a number that no call has had."""
    stop = threading.Event()
    failures = []

    def repeat(number: int) -> None:
        try:
            while not stop.is_set():
                number += 1
                work(number)
        except BaseException as error:
            failures.append(error)

    started = [threading.Thread(target=repeat, args=(n * 10**6,)) for n in range(1, count + 1)]
    for thread in started:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in started:
            thread.join(CHILD_SECONDS)
    assert not any(thread.is_alive() for thread in started)
    assert failures == []


def compile_and_call(compiler: twinjit.Compiler, number: int) -> None:
    assert compiler.compile(adds(number)).f(1) == number + 1


def use_all(compiler: twinjit.Compiler, number: int) -> None:
    """Compile what is new, hit what is stored, fingerprint, call, and count."""
    compile_and_call(compiler, number)
    other = twinjit.Compiler(cache=compiler.store.root).compile(STORED)
    assert other.report.tier == "disk"
    assert other.f(1) == 0
    assert twinjit.fingerprint(adds(number)) != twinjit.fingerprint(STORED)
    assert twinjit.equivalent(STORED, STORED)
    assert compiler.stats()["compiled"] > 0


def test_children_work_while_threads_of_the_parent_compile(compiler):
    compiler.compile(STORED)
    with threads(lambda number: compile_and_call(compiler, number), 3):
        for number in range(50):
            assert status_of(fork(lambda: use_all(compiler, -10 - number))) == 0  # noqa: B023
    use_all(compiler, -5)


def test_several_threads_fork_while_others_compile(compiler):
    compiler.compile(STORED)

    def fork_one(number: int) -> None:
        assert status_of(fork(lambda: use_all(compiler, -number))) == 0

    with (
        threads(lambda number: compile_and_call(compiler, number), 2),
        threads(fork_one, 3),
    ):
        time.sleep(3)


def test_a_child_of_a_child_works_beside_threads_of_its_parent(compiler):
    compiler.compile(STORED)

    def be_parent() -> None:
        with threads(lambda number: compile_and_call(compiler, 10**9 + number), 2):
            for number in range(5):
                assert status_of(fork(lambda: use_all(compiler, -10 - number))) == 0  # noqa: B023

    with threads(lambda number: compile_and_call(compiler, number), 2):
        for _ in range(5):
            assert status_of(fork(be_parent)) == 0


def test_processes_of_multiprocessing_work_while_threads_compile(compiler):
    context = multiprocessing.get_context("fork")
    compiler.compile(STORED)
    with threads(lambda number: compile_and_call(compiler, number), 2):
        for number in range(15):
            process = context.Process(target=use_all, args=(compiler, -10 - number))
            process.start()
            process.join(CHILD_SECONDS)
            assert process.exitcode == 0


def test_a_live_module_is_fingerprinted_in_a_child(compiler):
    ir = pytest.importorskip("mlir.ir")
    with ir.Context() as context:
        assert not context.enable_multithreading(True)
        module = ir.Module.parse(STORED)
    expected = twinjit.fingerprint(STORED)

    def check() -> None:
        assert twinjit.fingerprint(module) == expected
        assert compiler.compile(module).f(1) == 0

    with threads(lambda number: twinjit.fingerprint(module), 2):
        for _ in range(20):
            assert status_of(fork(check)) == 0


FIRST_USE = """
import os, signal, sys, threading, time, warnings
import ml_dtypes, numpy  # the caller's own imports are not held off
warnings.simplefilter("ignore", DeprecationWarning)
import twinjit

TEXT = "func.func @f(%a: tensor<?xbf16>) -> tensor<?xbf16> { return %a : tensor<?xbf16> }"

def use():
    compiler = twinjit.Compiler(cache=False)
    compiler.compile(TEXT).f(numpy.ones(3, ml_dtypes.bfloat16))
    twinjit.diff(TEXT, TEXT)

threading.Thread(target=use, daemon=True).start()
time.sleep(float(sys.argv[1]))
child = os.fork()
if not child:
    signal.alarm(60)
    twinjit.Compiler(cache=False).compile(TEXT)
    twinjit.diff(TEXT, TEXT)
    os._exit(0)
os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0)
"""


@pytest.mark.parametrize("milliseconds", range(5, 105, 10))
def test_a_child_of_a_process_that_is_loading_mlir_works(milliseconds):
    command = [sys.executable, "-c", FIRST_USE, str(milliseconds / 1000)]
    assert subprocess.run(command, timeout=CHILD_SECONDS).returncode == 0


def check_refused(work: Callable[[], object]) -> None:
    with pytest.raises(ForkError, match=r"forked while another thread.*'spawn'"):
        work()


def begin_endless_compilation() -> None:
    """Compile in a thread for longer than forks wait; for a process that ends regardless."""
    gate.PATIENCE = 0.2
    program = endless()
    started = threading.Event()

    def work() -> None:
        started.set()
        twinjit.Compiler(cache=False).compile(program)

    threading.Thread(target=work, daemon=True).start()
    assert started.wait(CHILD_SECONDS)
    time.sleep(1)


def check_refusals(compiler: twinjit.Compiler, known: twinjit.Executable) -> None:
    # No attempt's but this one's: a child that is not refused stores it.
    check_refused(lambda: compiler.compile(adds(os.getpid())))
    check_refused(lambda: twinjit.fingerprint(STORED))
    check_refused(lambda: twinjit.equivalent(STORED, STORED))
    check_refused(lambda: twinjit.diff(STORED, adds(2)))
    assert known.f(1) == 2
    assert compiler.compile(STORED).f(1) == 0
    stored = twinjit.Compiler(cache=compiler.store.root).compile(STORED)
    assert stored.report.tier == "disk"  # linking needs nothing that compiling locks
    assert stored.f(1) == 0
    # For good, in children of the child too.
    assert status_of(fork(lambda: compiler.compile(adds(3)))) == REFUSED


def test_what_a_long_compilation_left_is_refused_in_the_child_alone(hits_unchecked, compiler):
    compiler.compile(STORED)
    known = compiler.compile(adds(1))

    def is_refused() -> bool:
        before = time.monotonic()
        child = fork(lambda: check_refusals(compiler, known))
        waited = time.monotonic() - before
        return status_of(child) == 0 and waited >= gate.PATIENCE

    def be_parent() -> None:
        begin_endless_compilation()
        # Between two phases of the compilation, a fork leaves nothing behind.
        assert any(is_refused() for _ in range(10))
        use_all(compiler, -10)  # the parent goes on

    assert status_of(fork(be_parent)) == 0


def test_a_fork_that_python_does_not_see_is_refused_too():
    def be_parent() -> None:
        begin_endless_compilation()
        child = ctypes.PyDLL(None).fork()  # runs no hook of Python's
        if child == 0:
            signal.alarm(CHILD_SECONDS)
            check_refused(lambda: twinjit.fingerprint(STORED))
            os._exit(REFUSED)
        assert status_of(child) == REFUSED

    assert status_of(fork(be_parent)) == 0


def test_compiled_code_is_not_waited_for(run):
    entered, leave = threading.Event(), threading.Event()

    @ctypes.CFUNCTYPE(None)
    def wait() -> None:
        entered.set()
        assert leave.wait(CHILD_SECONDS)

    address = ctypes.cast(wait, ctypes.c_void_p).value
    function = run(
        "func.func @f(%a: i64) { %p = llvm.inttoptr %a : i64 to !llvm.ptr "
        "llvm.call %p() : !llvm.ptr, () -> () return }"
    )
    thread = threading.Thread(target=function, args=(address,))
    thread.start()
    assert entered.wait(CHILD_SECONDS)
    before = time.monotonic()
    child = fork(lambda: twinjit.fingerprint(STORED))
    assert time.monotonic() - before < gate.PATIENCE
    assert status_of(child) == 0
    leave.set()
    thread.join()


def test_locks_and_what_they_guard_are_whole_in_children(compiler):
    lru: LruCache[int, int] = LruCache(1000)

    def use(number: int) -> None:
        lru.put(number % 50, number, 40)
        lru.get(number % 7)
        compiler.stats()

    def check() -> None:
        assert sum(size for _, size in lru._entries.values()) == lru.stats().bytes
        use(1)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with threads(use, 3):
            for _ in range(rounds(60, 1000)):  # without locks, a third of them fail
                assert status_of(fork(check)) == 0
    finally:
        sys.setswitchinterval(before)


def test_a_lock_that_is_not_to_be_had_is_free_in_the_child(monkeypatch):
    monkeypatch.setattr(forks, "PATIENCE", 0.1)
    lock, taken, leave = forks.fork_lock(), threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            taken.set()
            leave.wait(CHILD_SECONDS)

    def check() -> None:
        assert lock.acquire(timeout=0)

    thread = threading.Thread(target=hold)
    thread.start()
    assert taken.wait(CHILD_SECONDS)
    assert status_of(fork(check)) == 0
    leave.set()
    thread.join()


def test_a_child_may_go_on_with_the_lock_that_it_was_forked_under():
    lock = forks.fork_lock()

    def is_free() -> bool:
        found = []

        def attempt() -> None:
            found.append(lock.acquire(timeout=0))

        thread = threading.Thread(target=attempt)
        thread.start()
        thread.join()
        return found[0]

    with lock:
        child = os.fork()
        is_held = not is_free()
    if child == 0:
        os._exit(0 if is_held and is_free() else 3)
    assert is_held
    assert status_of(child) == 0


def test_locks_live_no_longer_than_their_holders():
    before = len(forks._living_locks())
    kept = [forks.fork_lock() for _ in range(10)]
    assert len(forks._living_locks()) == before + 10
    kept.clear()
    assert len(forks._living_locks()) == before


def test_every_lock_is_one_that_forks_take():
    allowed = {"forks.py", "gate.py", "once.py", "locked.py"}  # the others have hooks of their own
    root = os.path.dirname(twinjit.__file__)
    for folder, _, names in os.walk(root):
        for name in set(names) - allowed:
            if name.endswith(".py"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    text = file.read()
                found = re.search(r"threading\.\w*(Lock|Condition|Semaphore)", text)
                assert not found, f"{name}: use twinjit.forks.fork_lock"
                assert "from threading import" not in text, name
