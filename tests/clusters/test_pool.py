"""Executors of the standard library's kind."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from threading import Event
from typing import Any

import numpy as np
import pytest

import twinjit
from tests.workers.jobs import ASSERTION
from twinjit.build import BuildOptions
from twinjit.clusters.job import Job, run
from twinjit.errors import (
    CompilationTimeoutError,
    ConfigError,
    ExecutorError,
    ParseError,
)
from twinjit.key import Key, frame

ADD = """func.func @add(%x: i64) -> i64 {{
  %c = arith.constant {k} : i64
  %y = arith.addi %x, %c : i64
  return %y : i64
}}"""
TENSOR = """func.func @scale(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %r = arith.mulf %a, %c : tensor<4xf32>
  return %r : tensor<4xf32>
}"""


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as executor:
        yield executor


def test_processes_compile_and_this_one_runs(processes: ProcessPoolExecutor) -> None:
    compiler = twinjit.Compiler(cache=False, executor=processes)
    for k in range(3):
        executable = compiler.compile(ADD.format(k=k))
        assert executable.add(1) == 1 + k
        assert executable.report.tier == "compiled"
        assert "remote" in executable.report.phases
        assert "codegen" not in executable.report.phases
    assert np.array_equal(
        compiler.compile(TENSOR).scale(np.ones(4, "f4")), np.array([1, 2, 3, 4], "f4")
    )


def test_the_code_is_that_of_this_process(processes: ProcessPoolExecutor) -> None:
    here = twinjit.Compiler(cache=False).compile(TENSOR)
    there = twinjit.Compiler(cache=False, executor=processes).compile(TENSOR)
    assert there.key == here.key
    assert there.object_code == here.object_code


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"opt_level": 0, "target": twinjit.Target.baseline("x86-64-v2")}, TENSOR),
        ({"pipeline": "linalg"}, TENSOR),
        ({"policy": twinjit.Policy(constants="lift", lift_bytes=16)}, TENSOR),
        ({"policy": twinjit.Policy(locations="keep")}, TENSOR),
        ({"confirm": "always"}, TENSOR),
    ],
)
def test_options_travel(options: dict[str, Any], text: str, processes: ProcessPoolExecutor) -> None:
    here = twinjit.Compiler(cache=False, **options).compile(text)
    there = twinjit.Compiler(cache=False, executor=processes, **options).compile(text)
    assert (there.key, there.object_code) == (here.key, here.object_code)
    assert np.array_equal(there.scale(np.ones(4, "f4")), np.array([1, 2, 3, 4], "f4"))


def test_live_modules_travel(processes: ProcessPoolExecutor) -> None:
    import mlir.ir

    with mlir.ir.Context():
        module = mlir.ir.Module.parse(ADD.format(k=7))
        compiler = twinjit.Compiler(cache=False, executor=processes)
        assert compiler.compile(module).add(1) == 8


def test_what_comes_back_is_kept(processes: ProcessPoolExecutor, tmp_path: Any) -> None:
    text = ADD.format(k=40)
    twinjit.Compiler(cache=tmp_path, executor=processes).compile(text)
    assert twinjit.Compiler(cache=tmp_path).compile(text).report.tier == "disk"


def test_errors_are_those_of_this_process(processes: ProcessPoolExecutor) -> None:
    text = 'llvm.func @f() attributes {passthrough = [["target-cpu", "none"]]} { llvm.return }'
    for program, pipeline in ((text, "llvm"), (TENSOR, "convert-func-to-llvm")):
        options = {"pipeline": pipeline}
        with pytest.raises(twinjit.errors.CompilationError) as here:
            twinjit.Compiler(cache=False, **options).compile(program)
        with pytest.raises(twinjit.errors.CompilationError) as there:
            twinjit.Compiler(cache=False, executor=processes, **options).compile(program)
        assert type(there.value) is type(here.value)
        assert there.value.message == here.value.message
        assert [each.message for each in there.value.diagnostics] == [
            each.message for each in here.value.diagnostics
        ]
    with pytest.raises(ParseError):
        twinjit.Compiler(cache=False, executor=processes).compile("func.func @f(")


def test_threads_too() -> None:
    with ThreadPoolExecutor(1) as executor:
        compiler = twinjit.Compiler(cache=False, executor=executor)
        assert compiler.compile(ADD.format(k=3)).add(1) == 4
    with pytest.raises(ExecutorError, match="takes no work"):
        compiler.compile(ADD.format(k=4))


@pytest.mark.parametrize("copied", [pickle.dumps, copy.copy, copy.deepcopy])
def test_compilers_and_code_stay_in_their_process(copied: Callable[[object], object]) -> None:
    compiler = twinjit.Compiler(cache=False)
    with pytest.raises(ExecutorError, match=r"a Compiler cannot be .*; make another"):
        copied(compiler)
    with pytest.raises(ExecutorError, match=r"an Executable is code in this process.* compile the"):
        copied(compiler.compile(ADD.format(k=1)))


def test_a_program_that_crashes_breaks_the_pool() -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        compiler = twinjit.Compiler(cache=False, executor=executor)
        with pytest.raises(
            ExecutorError, match=r"BrokenProcessPool: .*executor='process' says how"
        ):
            compiler.compile(ASSERTION)


def test_a_killed_pool_is_told() -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        executor.submit(os.getpid).result()
        executor.submit(os.kill, executor.submit(os.getpid).result(), signal.SIGKILL)
        compiler = twinjit.Compiler(cache=False, executor=executor)
        with pytest.raises(ExecutorError, match=r"the executor (lost|takes)"):
            compiler.compile(ADD.format(k=5))


class Never(Executor):
    """Takes work, and does none."""

    def __init__(self) -> None:
        self.futures: list[Future[Any]] = []

    def submit(self, *_args: Any, **_kwargs: Any) -> Future[Any]:  # type: ignore[override]
        self.futures.append(Future())
        return self.futures[-1]


def test_a_time_limit_ends_the_wait() -> None:
    executor = Never()
    with pytest.raises(CompilationTimeoutError):
        twinjit.Compiler(cache=False, executor=executor).compile(ADD.format(k=6), timeout=0.05)
    assert executor.futures[0].cancelled()


class Answers(Executor):
    """Gives back what it was made with."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def submit(self, *_args: Any, **_kwargs: Any) -> Future[Any]:  # type: ignore[override]
        future: Future[Any] = Future()
        future.set_result(self.answer)
        return future


@pytest.mark.parametrize(
    "answer",
    [
        None,
        3,
        {},
        {"entry": None},
        {"entry": b""},
        {"entry": b"TJIT" * 30},
        {"error": None},
        {"error": {"class": "object", "message": "", "diagnostics": []}},
    ],
)
def test_answers_that_are_none(answer: Any) -> None:
    with pytest.raises(ExecutorError, match="gave back"):
        twinjit.Compiler(cache=False, executor=Answers(answer)).compile(ADD.format(k=8))


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


class Runs(Executor):
    """Does with a future what it was made with; what that returns, `submit` does."""

    def __init__(self, work: Callable[[Future[Any]], object]) -> None:
        self.work = work

    def submit(self, *_args: Any, **_kwargs: Any) -> Any:
        future: Future[Any] = Future()
        return self.work(future) or future


def _fail(error: BaseException) -> Callable[[Future[Any]], object]:
    return lambda future: future.set_exception(error)


def _refuse(error: Exception) -> Callable[[Future[Any]], object]:
    def refuse(_: Future[Any]) -> object:
        raise error

    return refuse


@pytest.mark.parametrize(
    ("work", "told"),
    [
        (_fail(SystemExit(3)), "lost the compilation: SystemExit"),
        (_fail(KeyboardInterrupt()), "lost the compilation: KeyboardInterrupt"),
        (_fail(Unprintable()), "lost the compilation: .*Unprintable"),
        (_refuse(OSError(11, "no process")), "takes no work: .*no process"),
        (_refuse(TypeError("cannot pickle")), "takes no work: .*cannot pickle"),
        (_refuse(Unprintable()), "takes no work: .*Unprintable"),
        (lambda _: {"entry": b""}, "gave back a dict; it should be a concurrent.futures.Future"),
        (Future.cancel, "submit of the executor gave back a bool"),
    ],
)
def test_executors_of_all_kinds(work: Callable[[Future[Any]], object], told: str) -> None:
    with pytest.raises(ExecutorError, match=told):
        twinjit.Compiler(cache=False, executor=Runs(work)).compile(ADD.format(k=11))


def test_what_is_cancelled_with_its_queue_is_not_waited_for() -> None:
    """Nobody notifies those who wait for such a future."""
    busy, begun, rest = Event(), Event(), Event()
    executor = ThreadPoolExecutor(1)
    executor.submit(lambda: (busy.set(), rest.wait()))
    busy.wait()

    class Told(Executor):
        def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:  # type: ignore[override]
            future = executor.submit(*args, **kwargs)
            begun.set()
            return future

    with ThreadPoolExecutor(1) as threads:
        compiler = twinjit.Compiler(cache=False, executor=Told())
        compiled = threads.submit(compiler.compile, ADD.format(k=12), timeout=30)
        begun.wait()
        executor.shutdown(wait=False, cancel_futures=True)
        with pytest.raises(ExecutorError, match="was shut down before"):
            compiled.result()
        rest.set()


def test_the_artifact_of_another_program_is_refused() -> None:
    answers: list[Any] = []

    class Keeps(ThreadPoolExecutor):
        def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:  # type: ignore[override]
            future = super().submit(*args, **kwargs)
            answers.append(future)
            return future

    with Keeps(1) as executor:
        twinjit.Compiler(cache=False, executor=executor).compile(ADD.format(k=9))
    with pytest.raises(ExecutorError, match="another program"):
        twinjit.Compiler(cache=False, executor=Answers(answers[0].result())).compile(
            ADD.format(k=10)
        )


def test_another_compiler_there_is_told() -> None:
    key = Key((("mlir", b"x" * 32), ("build-libLLVM", "other")))
    options = BuildOptions("auto", 3, twinjit.Target.host(), twinjit.Policy())
    job = Job(ADD.format(k=1).encode(), "<text>", options, frame(key.parts), None)
    error = run(job.to_bytes())["error"]
    assert error["class"] == "ExecutorError"
    assert "build-libLLVM" in error["message"]
    error = run(job.to_bytes().replace(b'"pipeline"', b'"pipelines"'))["error"]
    assert error["class"] == "ExecutorError"
    assert "same release" in error["message"]


def test_what_is_no_executor() -> None:
    for executor in (3, "processes", object()):
        with pytest.raises(ConfigError, match="executor is"):
            twinjit.Compiler(cache=False, executor=executor)
