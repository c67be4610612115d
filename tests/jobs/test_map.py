"""Many programs at once."""

from __future__ import annotations

import itertools
import os
import pty
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

import twinjit
from tests.jobs.programs import adds, own_threads, takes_long, wait_for
from twinjit.errors import (
    CompilationCancelledError,
    CompilationTimeoutError,
    ConfigError,
    ParseError,
    UnsupportedProgramError,
)

WRONG = "func.func @f( { }"


@pytest.fixture
def compiler():
    with twinjit.Compiler(cache=False, max_workers=2) as made:
        yield made
    wait_for(lambda: not own_threads())


@pytest.mark.parametrize("count", [0, 1, 7, 100])
def test_executables_come_in_order(compiler, count):
    found = compiler.map(adds(n) for n in range(count))
    assert [each.f(1) for each in found] == [n + 1 for n in range(count)]
    again = compiler.map([adds(n) for n in reversed(range(count))])
    assert again == found[::-1]
    assert compiler.stats()["compiled"] == count


def test_the_first_error_ends_it(compiler):
    taken = []

    def programs() -> Iterator[object]:
        for number in itertools.count():
            taken.append(number)
            yield WRONG if number == 5 else adds(number)

    with pytest.raises(ParseError):
        compiler.map(programs())
    assert len(taken) < 30


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have no notes")
@pytest.mark.parametrize("wrong", [WRONG, 3, "missing.mlir"])
def test_the_error_says_which_program_it_is_of(compiler, wrong):
    with pytest.raises((ParseError, UnsupportedProgramError, FileNotFoundError)) as raised:
        compiler.map([adds(1), adds(2), wrong])
    assert raised.value.__notes__ == ["of the programs to map, number 2 (counted from 0)"]


def test_what_is_no_program_is_an_error_as_well(compiler):
    with pytest.raises(UnsupportedProgramError):
        compiler.map([adds(1), 3, takes_long()])
    with pytest.raises(FileNotFoundError):
        compiler.map(["missing.mlir"])


@pytest.mark.parametrize("programs", [adds(1), adds(1).encode(), 3, None])
def test_programs_are_several(compiler, programs):
    with pytest.raises(ConfigError, match="iterable of programs"):
        compiler.map(programs)


def test_errors_as_results(compiler):
    programs = [adds(1), WRONG, 3, "missing.mlir", adds(1)]
    found = compiler.map(programs, return_exceptions=True)
    kinds = [twinjit.Executable, ParseError, UnsupportedProgramError, FileNotFoundError]
    assert [type(each) for each in found] == [*kinds, twinjit.Executable]


def test_an_iterable_that_fails_cancels(compiler):
    def programs() -> Iterator[object]:
        yield takes_long()
        raise KeyError("why")

    with pytest.raises(KeyError, match="why"):
        compiler.map(programs())
    wait_for(lambda: not own_threads())
    assert compiler.stats()["compiled"] == 0


def test_no_more_is_taken_than_needed(compiler):
    ended, taken = [], []
    compile_ = compiler._engine.compile

    def counted(*arguments):
        try:
            return compile_(*arguments)
        finally:
            ended.append(1)

    compiler._engine.compile = counted

    def programs() -> Iterator[str]:
        for number in range(200):
            taken.append(number)
            assert len(taken) <= len(ended) + 4 * compiler.max_workers + 1
            yield adds(number)

    assert len(compiler.map(programs())) == 200


def test_a_slow_program_does_not_hold_up_the_others(compiler):
    compiler._engine.compile = held(compiler._engine.compile, adds(0), others=50)
    found = compiler.map(adds(n) for n in range(51))
    assert [each.f(1) for each in found] == list(range(1, 52))


def held(compile_, text, others):
    """Have one program wait until so many others have been compiled."""
    ended = threading.Semaphore(0)

    def compile_others_first(source, *arguments):
        if source.data.decode() == text:
            for _ in range(others):
                assert ended.acquire(timeout=60)
        else:
            ended.release()
        return compile_(source, *arguments)

    return compile_others_first


def test_a_time_for_each(compiler):
    with pytest.raises(CompilationTimeoutError):
        compiler.map([adds(1), takes_long()], timeout=0.05)
    found = compiler.map([adds(2), takes_long()], timeout=0.3, return_exceptions=True)
    assert isinstance(found[1], CompilationTimeoutError)
    assert len(compiler.map([adds(3)], timeout=600)) == 1


def test_closing_it_meanwhile(compiler):
    threading.Timer(0.1, lambda: compiler.close(cancel=True)).start()
    with pytest.raises(CompilationCancelledError):
        compiler.map([takes_long(), takes_long(3000)])


SHOWN = """
import sys, twinjit
from tests.jobs.programs import adds
compiler = twinjit.Compiler(cache=False, max_workers=2)
programs = [adds(n % 20) for n in range(30)] + ["wrong"]
if sys.argv[1] == "generator":
    programs = iter(programs)
compiler.map(programs, progress=True, return_exceptions=True)
assert ("rich" in sys.modules) == sys.stderr.isatty()
"""


def read_all(terminal: int) -> bytes:
    shown = b""
    with suppress(OSError):  # that nobody writes to any more
        while True:
            shown += os.read(terminal, 4096)
    return shown


@pytest.mark.parametrize("kind", ["list", "generator"])
def test_progress_on_a_terminal(kind):
    mine, its = pty.openpty()
    command = [sys.executable, "-c", SHOWN, kind]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(command, stderr=its, stdout=subprocess.PIPE, env=environment) as process:
        os.close(its)
        shown = read_all(mine)
        assert process.stdout
        assert process.stdout.read() == b""
    os.close(mine)
    assert process.returncode == 0, shown
    assert b"31/31" in shown
    assert b"10 hits, 20 compiled, 1 failed" in shown


def test_no_progress_elsewhere():
    done = subprocess.run([sys.executable, "-c", SHOWN, "list"], capture_output=True, timeout=100)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
