"""What ends a worker ends nothing else."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import pytest

from tests.faults import call_at
from tests.nightly import rounds
from tests.threads import at_once
from tests.workers.programs import ENDLESS, adds, crashing
from tests.workers.watching import descriptors_of, is_alive, lent, until, workers, zygote_pid
from twinjit import Compiler, Settings
from twinjit.errors import (
    CompilationCancelledError,
    CompilationTimeoutError,
    CompilerCrashed,
    ExecutorError,
    MemoryLimitError,
    ParseError,
    TwinjitError,
)
from twinjit.report import Clock
from twinjit.source import open_source
from twinjit.stop import Stop
from twinjit.workers.pool import POOL
from twinjit.workers.worker_process import Worker
from twinjit.workers.zygote_process import Zygote, ZygoteEnded

GOOD = rounds(200, 2_000)
THREADS = 8


def isolated(**settings) -> Compiler:
    return Compiler(cache=False, executor="process", settings=Settings(**settings))


class Call:
    """A call that goes on in another thread."""

    def __init__(self, compiler: Compiler, program: str, stop: Stop | None = None) -> None:
        self.error: BaseException | None = None
        source, stop = open_source(program), stop or Stop()

        def run() -> None:
            try:
                compiler._engine.compile(source, Clock(), stop)
            except BaseException as error:
                self.error = error

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()
        assert until(lambda: bool(lent())), "it never began"

    def ended(self) -> BaseException | None:
        self._thread.join(60)
        assert not self._thread.is_alive()
        return self.error


def test_an_assertion_of_llvm() -> None:
    compiler = isolated()
    with pytest.raises(CompilerCrashed) as raised:
        compiler.compile(crashing(3))
    assert raised.value.signal == "SIGABRT"
    assert "Globals.cpp" in raised.value.output
    assert "<text>" in raised.value.message
    assert compiler.compile(adds(1)).f(2) == 3
    with pytest.raises(CompilerCrashed) as raised:
        compiler.compile(crashing(4))
    assert raised.value.output.count("Assertion") == 1


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGBUS", "SIGKILL"])
def test_a_signal_from_outside(name: str) -> None:
    compiler = isolated()
    call = Call(compiler, ENDLESS)
    os.kill(lent()[0].pid, getattr(signal, name))
    error = call.ended()
    assert isinstance(error, CompilerCrashed)
    assert error.signal == name
    assert compiler.compile(adds(1)).f(2) == 3


def test_one_ended_while_it_waits_is_replaced() -> None:
    compiler = isolated()
    compiler.compile(adds(0))
    (worker,) = workers()
    os.kill(worker.pid, signal.SIGKILL)
    assert until(lambda: not is_alive(worker.pid))
    assert compiler.compile(adds(1)).f(2) == 3


def test_crashing_programs_among_good_ones() -> None:
    compiler = isolated()
    compiler.compile(adds(-1))
    before = len(os.listdir("/proc/self/fd"))
    outcomes: list[str] = []

    def try_one(number: int) -> str:
        try:
            executable = compiler.compile(adds(number) if number % 11 else crashing(number))
        except TwinjitError as error:
            return type(error).__name__
        return "good" if executable.f(1) == number + 1 else "wrong"

    def work(first: int) -> None:
        outcomes.extend(map(try_one, range(first, GOOD * 11 // 10, THREADS)))

    at_once(work, THREADS)
    assert Counter(outcomes) == {"good": GOOD, "CompilerCrashed": GOOD // 10}
    each = 5  # descriptors of a worker
    assert len(os.listdir("/proc/self/fd")) <= before + each * (len(workers()) - 1)
    zygote = zygote_pid()
    assert zygote is not None
    with open(f"/proc/{zygote}/task/{zygote}/children") as file:
        assert set(map(int, file.read().split())) == {each.pid for each in workers()}


def test_a_worker_has_nothing_of_others() -> None:
    compiler = isolated(workers=3)
    calls = [Call(compiler, ENDLESS)]
    calls += [Call(compiler, ENDLESS.replace("@f", f"@g{n}")) for n in (1, 2)]
    assert until(lambda: len(lent()) == 3)
    for worker in lent():
        pid = worker.pid
        assert until(lambda pid=pid: len(descriptors_of(pid)) == 5), descriptors_of(pid)
        found = descriptors_of(pid)
        assert found[0] == found[1] == "/dev/null"
        assert found[2].startswith("/memfd:twinjit-worker")
        assert sum(target.startswith("socket:") for target in found.values()) == 1
        assert sum(target.startswith("/memfd:") for target in found.values()) == 2
        assert len(os.listdir(f"/proc/{worker.pid}/task")) <= 2  # a deep stack is a thread's
    zygote = zygote_pid()
    assert os.listdir(f"/proc/{zygote}/task") == [str(zygote)]
    for worker in lent():
        os.kill(worker.pid, signal.SIGKILL)
    assert all(isinstance(call.ended(), CompilerCrashed) for call in calls)


def test_cancelling_ends_a_worker() -> None:
    compiler, stop = isolated(), Stop()
    call = Call(compiler, ENDLESS, stop)
    pid = lent()[0].pid
    stop.cancel()
    assert isinstance(call.ended(), CompilationCancelledError)
    assert until(lambda: not is_alive(pid))
    assert compiler.compile(adds(1)).f(2) == 3


def test_a_deadline_ends_a_worker_that_does_not_run() -> None:
    compiler = isolated()
    compiler.compile(adds(0))
    (worker,) = workers()
    os.kill(worker.pid, signal.SIGSTOP)
    with pytest.raises(CompilationTimeoutError):
        compiler.compile(adds(1), timeout=0.2)
    assert until(lambda: not is_alive(worker.pid))
    assert compiler.compile(adds(1)).f(2) == 3


def test_a_large_program_is_not_waited_for_either() -> None:
    compiler = isolated()
    compiler.compile(adds(0))
    (worker,) = workers()
    os.kill(worker.pid, signal.SIGSTOP)
    with pytest.raises(CompilationTimeoutError):
        compiler.compile(adds(1) + " " * (64 << 20), timeout=0.2)


def test_the_time_of_each_program() -> None:
    compiler = isolated(compile_timeout=0.5)
    with pytest.raises(CompilationTimeoutError, match=r"compile_timeout, 0\.5 s"):
        compiler.compile(ENDLESS)
    assert compiler.compile(adds(1)).f(2) == 3


def test_the_memory_of_each_program() -> None:
    compiler = isolated(worker_memory_bytes=64 << 20)
    with pytest.raises(MemoryLimitError):
        compiler.compile(ENDLESS, timeout=120)
    for number in range(3):
        assert compiler.compile(adds(number)).f(2) == 2 + number


def test_as_much_memory_as_can_be_said() -> None:
    assert isolated(worker_memory_bytes=(1 << 63) - 1).compile(adds(1)).f(2) == 3


def test_memory_runs_out_in_an_answer() -> None:
    """As this program's, whose diagnostic quotes it."""
    outcomes = Counter()
    for kibibytes in range(4_000, 40_000, 1_200):
        compiler = isolated(worker_memory_bytes=kibibytes << 10)
        with pytest.raises((MemoryLimitError, ParseError)) as raised:
            compiler.compile("x" * 3_000_000)
        outcomes[raised.type] += 1
    assert len(outcomes) == 2


def test_a_signal_handler_compiles_while_the_only_worker_starts() -> None:
    compiler = isolated(workers=1)
    compiler.compile(adds(0))
    numbers = iter(range(1, 10_000))

    def compile_one() -> None:
        assert compiler.compile(adds(next(numbers)), timeout=30).f(0) > 0

    moment = 0
    while call_at(compile_one, moment, compile_one):
        POOL._state.idle.clear()
        moment += 11
    assert moment > 300


def test_a_zygote_that_another_thread_has_ended() -> None:
    zygote = Zygote()
    zygote.launch()
    zygote.end()
    with pytest.raises(ZygoteEnded):
        Worker.ask(zygote)
    assert zygote.why() == "it said nothing"
    zygote.end()


def test_the_wait_for_a_worker_ends_in_time() -> None:
    compiler, stop = isolated(workers=1), Stop()
    call = Call(compiler, ENDLESS, stop)
    with pytest.raises(CompilationTimeoutError):
        compiler.compile(adds(1), timeout=0.1)
    stop.cancel()
    call.ended()
    assert compiler.compile(adds(1)).f(2) == 3
    assert len(workers()) == 1


def test_a_zygote_that_is_killed() -> None:
    compiler = isolated()
    compiler.compile(adds(0))
    first = zygote_pid()
    assert first is not None
    (idle,) = workers()
    os.kill(first, signal.SIGKILL)
    assert until(lambda: not is_alive(idle.pid))
    assert compiler.compile(adds(1)).f(2) == 3
    assert zygote_pid() == first or is_alive(zygote_pid() or 0)
    call = Call(compiler, ENDLESS)
    os.kill(zygote_pid() or 0, signal.SIGKILL)
    error = call.ended()
    assert isinstance(error, ExecutorError)
    assert "from outside" in error.message
    for number in range(3):
        assert compiler.compile(adds(2 + number)).f(2) == 4 + number


def storm(seconds: float, attack: Callable[[int], None]) -> Counter[str]:
    """Compile in several threads while something attacks; say what happened."""
    compiler = isolated()
    compiler.compile(adds(-1))
    outcomes: list[str] = []
    end = time.monotonic() + seconds

    def work(number: int) -> None:
        while time.monotonic() < end:
            number += THREADS
            stop = Stop()
            if number % 3 == 0:
                threading.Timer(number % 7 / 1_000, stop.cancel).start()
            program = adds(number) if number % 5 else crashing(number)
            try:
                executable = compiler._engine.compile(open_source(program), Clock(), stop)
                outcomes.append("good" if executable.f(1) == number + 1 else "wrong")
            except TwinjitError as error:
                outcomes.append(type(error).__name__)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(THREADS)]
    for thread in threads:
        thread.start()
    number = 0
    while time.monotonic() < end:
        attack(number)
        number += 1
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert compiler.compile(adds(-2)).f(2) == 0
    return Counter(outcomes)


def test_crashes_cancellations_and_ends_at_once() -> None:
    def attack(number: int) -> None:
        for worker in workers()[:1]:
            with suppress(ProcessLookupError):
                os.kill(worker.pid or 1 << 22, signal.SIGSEGV)  # no process has that number
        if number % 20 == 19 and (pid := zygote_pid()):
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.03)

    outcomes = storm(rounds(4, 60), attack)
    known = {"good", "CompilerCrashed", "CompilationCancelledError", "ExecutorError"}
    assert set(outcomes) <= known, outcomes
    assert outcomes["good"]
    assert outcomes["CompilerCrashed"]
