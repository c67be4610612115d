"""What is told of processes that crash, each of them for real."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.workers.crashers import KINDS
from tests.workers.jobs import IDENTITY, job
from twinjit.errors import CompilerCrashed, MemoryLimitError
from twinjit.workers.crash import describe
from twinjit.workers.crash_folder import read_reproducer
from twinjit.workers.ending import Ending
from twinjit.workers.limits import Limits
from twinjit.workers.output import Output
from twinjit.workers.page import Crash, CrashPage


@pytest.fixture
def page() -> Iterator[CrashPage]:
    page = CrashPage.create()
    yield page
    page.close()


def run(kind: str, page: CrashPage) -> tuple[int, str]:
    """The wait status of a process that crashes, and what it wrote."""
    command = [sys.executable, "-m", "tests.workers.crashers", kind, str(page.fd)]
    with closing(Output("crasher")) as output:
        process = subprocess.Popen(command, pass_fds=(page.fd,), stderr=output.fd)
        _, status = os.waitpid(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return status, output.end()


def told(
    status: int,
    page: CrashPage,
    output: str = "",
    *,
    crash_dir: str | None = None,
    limits: Limits | None = None,
) -> CompilerCrashed:
    ending = Ending.of(os.waitstatus_to_exitcode(status), page.read(), output)
    return describe(job(IDENTITY, limits=limits, ending=ending, output=output), crash_dir)


@dataclass(frozen=True)
class Expected:
    signal: str
    says: str
    is_stack_overflow: bool = False
    is_out_of_memory: bool = False
    is_noted: bool = True  # whether a handler saw the signal


CASES = {
    "null store": Expected("SIGSEGV", "SIGSEGV in phase optimise"),
    "wild store": Expected("SIGSEGV", "SIGSEGV in phase optimise"),
    "non-canonical store": Expected("SIGSEGV", "SIGSEGV in phase optimise"),
    "bus error": Expected("SIGBUS", "SIGBUS in phase optimise"),
    "abort": Expected("SIGABRT", r"SIGABRT in phase optimise: \x1b[31mfree(): invalid pointer"),
    "terminate": Expected(
        "SIGABRT", "SIGABRT in phase optimise: terminate called without an active exception"
    ),
    "main stack": Expected("SIGSEGV", "stack overflow (SIGSEGV) in phase optimise", True),
    "deep stack": Expected("SIGSEGV", "stack overflow (SIGSEGV) in phase optimise", True),
    "python memory": Expected("", "out of memory in phase optimise", is_out_of_memory=True),
    "c++ memory": Expected("", "out of memory in phase optimise", is_out_of_memory=True),
    "unchecked memory": Expected("", "out of memory in phase optimise", is_out_of_memory=True),
    "killed": Expected("SIGKILL", "killed from outside (SIGKILL)", is_noted=False),
    "sent SIGSEGV": Expected("SIGSEGV", "SIGSEGV in phase optimise"),
    "sent SIGILL": Expected("SIGILL", "SIGILL in phase optimise"),
    "sent SIGFPE": Expected("SIGFPE", "SIGFPE in phase optimise"),
    "sent SIGTRAP": Expected("SIGTRAP", "SIGTRAP in phase optimise"),
    "sent SIGXCPU": Expected("SIGXCPU", "SIGXCPU in phase optimise"),
    "exit": Expected("", "exit status 3 in phase optimise"),
}


def test_every_kind_is_expected() -> None:
    assert set(CASES) == set(KINDS)


@pytest.mark.parametrize("kind", CASES)
def test_each_crash(kind: str, page: CrashPage) -> None:
    expected = CASES[kind]
    status, output = run(kind, page)
    crash = page.read()
    number = signal.Signals[expected.signal] if expected.signal and expected.is_noted else 0
    assert crash == Crash(
        "optimise", "", number, expected.is_stack_overflow, expected.is_out_of_memory
    )
    error = told(status, page, output)
    assert isinstance(error, MemoryLimitError) == expected.is_out_of_memory
    assert error.signal == expected.signal
    assert error.phase == "optimise"
    assert error.output == output
    assert error.reproducer is None
    assert expected.says in str(error)
    assert str(error).isprintable()


def test_no_core_is_left(page: CrashPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = str(Path(__file__).parents[2])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [root, *sys.path])))
    monkeypatch.chdir(tmp_path)
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
    try:
        status, _ = run("null store", page)
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, before)
    assert os.WTERMSIG(status) == signal.SIGSEGV
    assert not os.WCOREDUMP(status)
    assert list(tmp_path.iterdir()) == []


def test_a_page_cannot_be_resized(page: CrashPage) -> None:
    for size in (0, 1 << 20):
        with pytest.raises(PermissionError):
            os.ftruncate(page.fd, size)
    assert fcntl.fcntl(page.fd, fcntl.F_GETFD) & fcntl.FD_CLOEXEC


def test_a_page_is_cleared(page: CrashPage) -> None:
    assert page.read() == Crash()
    run("abort", page)
    assert page.read() != Crash()
    page.clear()
    assert page.read() == Crash()


def test_a_page_that_was_written_over(page: CrashPage) -> None:
    os.pwrite(page.fd, b"\xff" * os.fstat(page.fd).st_size, 0)
    crash = page.read()
    assert crash.is_stack_overflow
    assert crash.is_out_of_memory
    assert set(crash.phase) == {"\ufffd"}
    os.pwrite(page.fd, b"\x1b[2J\n", 0)
    assert str(told(signal.SIGSEGV, page)).isprintable()


def test_a_page_is_closed_any_number_of_times() -> None:
    page = CrashPage.create()
    fd = page.fd
    page.close()
    page.close()
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(fd)


def test_what_is_no_page_is_refused(page: CrashPage, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.write_bytes(b"x")
    code = (
        "import os, sys; from twinjit.workers.page import install\n"
        "install(os.open(sys.argv[1], os.O_RDWR))"
    )
    command = [sys.executable, "-c", code, small]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, small.read_bytes()) == (1, b"x")
    assert "OSError: [Errno 22]" in done.stderr


def test_a_memory_limit_is_told() -> None:
    page = CrashPage.create()
    status, _ = run("c++ memory", page)
    error = told(status, page, limits=Limits(memory_bytes=12345678))
    assert isinstance(error, MemoryError)
    assert (
        "out of memory in phase optimise (its limit is 12345678 bytes: raise worker_memory_bytes"
        in str(error)
    )
    assert "the system gave no more" in str(told(status, page))


def test_the_reproducer_is_named(page: CrashPage, tmp_path: Path) -> None:
    error = told(signal.SIGSEGV, page, crash_dir=str(tmp_path / "crashes"))
    assert error.reproducer is not None
    assert str(error).endswith(f"twinjit reproduce-crash {error.reproducer}")
    assert read_reproducer(error.reproducer).source == job(IDENTITY).source


@pytest.mark.parametrize("made", ["file", "link", "open"])
def test_trouble_in_saving_hides_nothing(made: str, page: CrashPage, tmp_path: Path) -> None:
    folder = tmp_path / "crashes"
    if made == "file":
        folder.write_bytes(b"")
    elif made == "link":
        folder.symlink_to(tmp_path)
    else:
        folder.mkdir(mode=0o755)
    error = told(signal.SIGSEGV, page, crash_dir=str(folder))
    assert (error.signal, error.reproducer) == ("SIGSEGV", None)
    assert "SIGSEGV; its reproducer cannot be saved: [Errno" in str(error)
    assert str(folder) in str(error)
