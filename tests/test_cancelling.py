"""Compilations that are stopped while they run, and what is left of them."""

from __future__ import annotations

import re
import threading
import time
from contextlib import suppress

import pytest

import twinjit
from tests.heavy_programs import chain, matmuls
from tests.native_helpers import LOWER
from twinjit._native import _llvm, _mlir
from twinjit.errors import CompilationCancelledError, CompilationTimeoutError, LoweringError
from twinjit.lowering import resolve_pipeline
from twinjit.pipeline import AUTO
from twinjit.policy import Policy
from twinjit.stop import Stop, stop_after

POLICY = Policy().text
MATMULS = matmuls(4)
ATTEMPTS = 100
WHERE = re.compile(r"the compilation did not end in time and was stopped in (\w+)(?: at (.+))?")
HOST = _llvm.host_target()


def read(text):
    return _mlir.parse(text.encode(), "test.mlir")


def lower(text, stop=None):
    program = read(text)
    pipeline = resolve_pipeline(AUTO, program).pipeline.text
    program.normalise(POLICY)
    return program.lower(pipeline, True, stop)[0]


def emit(bitcode, stop=None, opt_level=2):
    return _llvm.emit(bitcode, [], *HOST, opt_level, stop)[0]


def stopped_in(phase, work, *, until=None):
    """Have `work` stopped at one moment after another until one fell into a phase.

    Returns the passes at which it was stopped there, in up to `until` tries.
    """
    start = time.monotonic()
    work(None)
    seconds = time.monotonic() - start
    passes = []
    for attempt in range(until or ATTEMPTS):
        try:
            work(stop_after(seconds * (attempt * 0.618 % 1)))
        except CompilationTimeoutError as error:
            found = WHERE.fullmatch(error.message)
            if found and found[1] == phase:
                passes.append(found[2])
        if passes and not until:
            break
    return passes


def cancelled():
    stop = Stop()
    stop.cancel()
    return stop


def test_reading_looks_at_the_stop_between_its_steps():
    with pytest.raises(CompilationCancelledError, match="cancelled in parse"):
        _mlir.parse(MATMULS.encode(), "test.mlir", stop=cancelled())


def test_identity_and_canonical_form_stop_as_they_walk():
    program = read(MATMULS)
    expected = _mlir.fingerprint(program, POLICY)
    with pytest.raises(CompilationCancelledError, match="cancelled in fingerprint"):
        _mlir.fingerprint(program, POLICY, stop=cancelled())
    assert _mlir.fingerprint(program, POLICY) == expected
    lifting = Policy(constants="lift").text
    with pytest.raises(CompilationCancelledError):
        _mlir.constants(program, lifting, cancelled())
    with pytest.raises(CompilationCancelledError):
        program.normalise(POLICY, cancelled())


@pytest.mark.parametrize("text", [MATMULS, chain(3000)], ids=["functions", "one block"])
def test_passes_stop(text):
    names = stopped_in("passes", lambda stop: lower(text, stop))
    assert names
    assert names[0] in resolve_pipeline(AUTO, read(text)).pipeline.text


def test_a_conversion_that_is_stopped_is_not_blamed_on_the_program():
    def convert(stop):
        read(chain(3000)).lower(LOWER, False, stop)

    passes = stopped_in("passes", convert, until=30)
    assert set(passes) & set(LOWER.replace("(", ",").strip(")").split(","))


def test_no_pass_runs_after_the_one_that_was_stopped(capfd):
    repeated = ",".join(["canonicalize", "cse"] * 30)

    def run(stop):
        capfd.readouterr()
        with suppress(LoweringError):
            read(chain(2000)).lower(f"{repeated},print-op-stats", False, stop)

    run(None)
    assert "Operations encountered" in capfd.readouterr().err
    assert set(stopped_in("passes", run)) <= {"canonicalize", "cse"}
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("phase", ["optimise", "codegen"])
def test_llvm_stops_before_a_pass(phase):
    bitcode = lower(MATMULS)
    names = stopped_in(phase, lambda stop: emit(bitcode, stop))
    assert names
    assert names[0]


@pytest.mark.parametrize("opt_level", range(4))
def test_code_is_the_same_whether_it_can_be_stopped_or_not(opt_level):
    for text in (MATMULS, chain(300)):
        watched, free = lower(text, Stop()), lower(text)
        assert watched == free
        assert emit(watched, Stop(), opt_level) == emit(free, None, opt_level)


def test_whenever_it_is_stopped_the_next_compilation_gives_the_same_code():
    with twinjit.Compiler(cache=False, shared=False) as compiler:
        expected = code(compiler.compile(MATMULS))
        seconds = compiler_seconds(compiler)
        ended = 0
        for attempt in range(25):
            compiler.clear_memory()
            try:
                found = compiler.compile(MATMULS, timeout=seconds * (attempt * 0.618 % 1))
            except CompilationTimeoutError:
                ended += 1
                found = compiler.compile(MATMULS)
            assert code(found) == expected
        assert ended > 5
        assert compiler.stats()["compiled"] >= 27


def compiler_seconds(compiler):
    compiler.clear_memory()
    return compiler.compile(MATMULS).report.seconds


def code(executable):
    return bytes(executable._code.artifact.object_code)


def test_whoever_waits_for_one_that_is_stopped_compiles_by_itself():
    with twinjit.Compiler(cache=False, shared=False) as compiler:
        seconds = compiler_seconds(compiler)
        results = [
            compile_together(compiler, seconds * (1 + attempt) / 12) for attempt in range(10)
        ]
    stopped = [first for first, *_ in results if isinstance(first, CompilationTimeoutError)]
    assert stopped
    for first, *others in results:
        assert first in stopped or isinstance(first, twinjit.Executable)
        assert all(isinstance(each, twinjit.Executable) for each in others)


def compile_together(compiler, timeout):
    """Compile in three threads, the first of which has little time; return what comes of each."""
    compiler.clear_memory()
    results = [None] * 3

    def work(number):
        try:
            results[number] = compiler.compile(MATMULS, timeout=None if number else timeout)
        except Exception as error:
            results[number] = error

    threads = [threading.Thread(target=work, args=[number]) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
