"""Workers beside the rest of a system: ends, forks, signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from tests.workers.watching import is_alive, until

SETUP = """
import json, os, signal, sys, threading, time
import twinjit
from tests.workers.programs import ENDLESS, adds, crashing
from tests.workers.watching import descriptors_of, lent, until, workers, zygote_pid
from twinjit.workers.pool import POOL

def isolated():
    return twinjit.Compiler(cache=False, executor="process")

def in_background(program):
    thread = threading.Thread(target=lambda: compiler.compile(program), daemon=True)
    thread.start()
    assert until(lambda: bool(lent()))
    return thread

def tell():
    print(json.dumps([zygote_pid(), *(worker.pid for worker in workers())]), flush=True)

threading.excepthook = lambda arguments: None
compiler = isolated()
assert compiler.compile(adds(1)).f(1) == 2
"""


def script(body: str) -> list[str]:
    return [sys.executable, "-c", SETUP + textwrap.dedent(body)]


def run(body: str) -> tuple[int, str, list[int]]:
    """Run a script: how it ended, its standard error, and the processes that it told of."""
    # Workers are counted, and in check mode a compilation has two.
    environment = {name: value for name, value in os.environ.items() if name != "TWINJIT_CHECK"}
    done = subprocess.run(
        script(body), capture_output=True, text=True, timeout=120, env=environment
    )
    lines = done.stdout.splitlines()
    return done.returncode, done.stderr, json.loads(lines[0]) if lines else []


def are_gone(processes: list[int]) -> bool:
    return until(lambda: not any(map(is_alive, processes)))


@pytest.mark.parametrize(
    "ending",
    [
        "tell()",
        "in_background(ENDLESS); tell()",
        "in_background(ENDLESS); tell(); sys.exit(0)",
        "tell(); os._exit(0)",
        "in_background(ENDLESS); tell(); os._exit(0)",
        "tell(); compiler._engine._builder.close(); assert zygote_pid() is None and not workers()",
        "in_background(ENDLESS).is_alive(); tell(); POOL.end()",
    ],
)
def test_no_process_is_left(ending: str) -> None:
    code, errors, processes = run(ending)
    assert (code, errors) == (0, "")
    assert len(processes) >= 2
    assert are_gone(processes)


def test_closing_waits_for_the_end_of_all() -> None:
    code, errors, _ = run(
        """
        from tests.workers.watching import is_alive
        other = isolated()
        processes = [zygote_pid(), *(worker.pid for worker in workers())]
        compiler._engine._builder.close()
        assert all(map(is_alive, processes)), "another compiler uses them"
        assert other.compile(adds(2)).f(1) == 3
        other._engine._builder.close()
        other._engine._builder.close()
        assert not any(os.path.exists(f"/proc/{each}") for each in processes)
        """
    )
    assert (code, errors) == (0, "")


@pytest.mark.parametrize("busy", ["", "in_background(ENDLESS)"])
def test_a_process_that_is_killed_leaves_none(busy: str) -> None:
    command = script(f"{busy}\ntell()\ntime.sleep(600)")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        processes = json.loads(process.stdout.readline())
        assert all(map(is_alive, processes))
        process.kill()
    assert are_gone(processes)


def test_a_terminals_interrupt_ends_the_call_alone() -> None:
    command = script(
        """
        tell()
        print("compiling", flush=True)
        try:
            compiler.compile(ENDLESS)
        except KeyboardInterrupt:
            assert zygote_pid() is not None
            assert compiler.compile(adds(2)).f(1) == 3
            print("interrupted", flush=True)
        """
    )
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        zygote, *_ = json.loads(process.stdout.readline())
        assert process.stdout.readline() == "compiling\n"
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert os.getpgid(zygote) != process.pid
        assert (process.wait(60), process.stderr.read()) == (0, "")
    assert are_gone([zygote])


def test_a_forked_child_has_workers_of_its_own() -> None:
    code, errors, processes = run(
        """
        import warnings
        warnings.simplefilter("ignore")
        thread = in_background(ENDLESS)
        tell()
        mine, busy = zygote_pid(), lent()[0].pid
        child = os.fork()
        if child == 0:
            status = 1
            try:
                own = descriptors_of(os.getpid()).values()
                assert not any("socket" in each or "memfd" in each for each in own), own
                assert not workers()
                assert compiler.compile(adds(2)).f(1) == 3
                assert zygote_pid() != mine
                try:
                    compiler.compile(crashing(1))
                except twinjit.errors.CompilerCrashed:
                    status = 0
            finally:
                sys.stderr.flush()
                os._exit(status)
        _, status = os.waitpid(child, 0)
        assert status == 0, status
        assert zygote_pid() == mine
        assert thread.is_alive() and lent()[0].pid == busy
        assert compiler.compile(adds(3)).f(1) == 4
        """
    )
    assert (code, errors) == (0, "")
    assert are_gone(processes)


def test_a_child_forked_by_the_thread_that_compiles() -> None:
    code, errors, _ = run(
        """
        import warnings
        warnings.simplefilter("ignore")
        here = os.getpid()
        def handler(number, frame):
            global child
            child = os.fork()
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        try:
            compiler.compile(ENDLESS, timeout=1.5)
        except twinjit.errors.ForkError:
            assert os.getpid() != here
            assert compiler.compile(adds(2)).f(1) == 3
            POOL.end()
            os._exit(7)
        except twinjit.errors.CompilationTimeoutError:
            assert os.getpid() == here
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        """
    )
    assert (code, errors) == (0, "")


@pytest.mark.parametrize(
    "unusual",
    [
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
        "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())",
        "os.environ.update(PYTHONHOME='/nowhere', PYTHONSTARTUP='/nowhere', PYTHONPATH='/nowhere')",
        "os.close(0); os.close(2)",
        "sys.path.insert(0, ''); os.umask(0o777)",
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))",
    ],
)
def test_what_a_process_can_be_like(unusual: str) -> None:
    code, _, processes = run(
        f"""
        POOL.end()
        {unusual}
        assert compiler.compile(adds(2)).f(1) == 3
        try:
            compiler.compile(crashing(1))
            sys.exit("it did not crash")
        except twinjit.errors.CompilerCrashed as crash:
            assert crash.signal == "SIGABRT", crash.signal
        assert compiler.compile(adds(3)).f(1) == 4
        tell()
        """
    )
    assert code == 0
    assert are_gone(processes)


def test_a_crash_is_told_of_where_no_file_can_be_opened() -> None:
    """Nor a module be imported: what tells of the crash has not been needed before."""
    code, errors, _ = run(
        """
        from tests.faults import no_more_descriptors
        try:
            with no_more_descriptors():
                compiler.compile(crashing(2))
        except twinjit.errors.CompilerCrashed as crash:
            assert crash.signal == "SIGABRT", crash
            assert "its reproducer cannot be saved" in crash.message, crash
        else:
            sys.exit("it did not crash")
        """
    )
    assert (code, errors) == (0, "")


def test_a_child_forked_while_a_worker_starts_hides_no_crash() -> None:
    """It would, if it had the other ends of the sockets by which the end is told."""
    code, errors, _ = run(
        """
        import warnings
        from twinjit.workers.page import CrashPage
        warnings.simplefilter("ignore")
        children = []
        create = CrashPage.create

        def fork():
            children.append(os.fork())
            if not children[-1]:
                signal.alarm(60)  # whatever becomes of the parent
                signal.pause()

        def forking():
            threading.Thread(target=fork).start()
            try:
                return create()
            finally:
                time.sleep(0.2)  # in which the child comes into being, unless it is held off

        POOL._state.idle.clear()
        CrashPage.create = staticmethod(forking)
        try:
            compiler.compile(crashing(2), timeout=30)
        except twinjit.errors.TwinjitError as error:
            assert isinstance(error, twinjit.errors.CompilerCrashed), error
        assert until(lambda: children)
        os.kill(children[0], signal.SIGKILL)
        """
    )
    assert (code, errors) == (0, "")


def test_descriptors_run_out() -> None:
    code, errors, _ = run(
        """
        import resource
        POOL.end()
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        held = []
        try:
            while True:
                held.append(os.open("/dev/null", os.O_RDONLY))
        except OSError:
            pass
        for free in range(40):
            try:
                assert compiler.compile(adds(10 + free)).f(1) == 11 + free
                break
            except twinjit.errors.ExecutorError as error:
                assert "Too many open files" in error.message, error
            os.close(held.pop())
        else:
            sys.exit("it never came to work")
        """
    )
    assert (code, errors) == (0, "")
