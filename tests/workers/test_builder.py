"""Workers compile as the calling thread does."""

from __future__ import annotations

import subprocess
import sys
import threading
from time import monotonic

import mlir.ir as ir
import numpy as np
import pytest

import twinjit
from tests.faults import call_at
from tests.threads import at_once
from tests.workers.programs import adds
from tests.workers.watching import lent, until, workers, zygote_pid
from twinjit import Compiler, Policy, Settings
from twinjit._native import _mlir
from twinjit.artifact import Artifact
from twinjit.errors import (
    ConfigError,
    ExecutorError,
    ParseError,
    PipelineError,
    TwinjitError,
)
from twinjit.report import Clock
from twinjit.source import open_source
from twinjit.stop import Stop
from twinjit.workers.pool import POOL

INVALID = "func.func @f(%x: i64) -> i64 {\n  %y = arith.addi %x, %x : i32\n  return %y : i64\n}"
LIFTED = (
    "func.func @f() -> tensor<512xf32> {{ %c = arith.constant dense<[{}]> : tensor<512xf32> "
    "%s = tensor.empty() : tensor<512xf32> "
    "%y = linalg.add ins(%c, %c : tensor<512xf32>, tensor<512xf32>) "
    "outs(%s : tensor<512xf32>) -> tensor<512xf32> return %y : tensor<512xf32> }}"
)


def lifted(first: int) -> str:
    """Make a program with a large constant, which counts up."""
    return LIFTED.format(", ".join(f"{number}.0" for number in range(first, first + 512)))


def isolated(**options) -> Compiler:
    return Compiler(**{"cache": False, "executor": "process", **options})


def artifact_of(executable: twinjit.Executable) -> Artifact:
    return executable._code.artifact


def both(program: object, **options) -> list[TwinjitError]:
    """The errors that a program causes in a worker, and in this thread."""
    errors = []
    for executor in ("process", "thread"):
        with pytest.raises(TwinjitError) as raised:
            isolated(executor=executor, **options).compile(program)
        errors.append(raised.value)
    return errors


def test_a_worker_gives_the_same_code() -> None:
    for text in (adds(7), lifted(3)):
        here, there = Compiler(cache=False).compile(text), isolated().compile(text)
        assert there.report.tier == "compiled"
        a, b = artifact_of(here), artifact_of(there)
        assert bytes(a.object_code) == bytes(b.object_code)
        assert (a.key, a.signatures, a.target) == (b.key, b.signatures, b.target)
    phases = list(there.report.phases)
    assert phases[:3] == ["worker", "parse", "fingerprint"]
    assert phases[-2:] == ["load", "publish"]


@pytest.mark.parametrize(
    ("program", "options", "kind"),
    [
        (INVALID, {}, ParseError),
        ("func.func @f(", {}, ParseError),
        ("a_word", {}, ParseError),
        (adds(1), {"pipeline": "no-such-pipeline"}, PipelineError),
        ("func.func @f(%x: !quant.any<i8>) { return }", {}, PipelineError),
        ("define void @f() { ret i32 0 }", {}, ParseError),
        (adds(1), {"pipeline": "builtin.module(canonicalize)"}, TwinjitError),
    ],
)
def test_errors_are_those_of_a_thread(program: str, options, kind: type[TwinjitError]) -> None:
    there, here = both(program, **options)
    assert isinstance(there, kind)
    assert type(there) is type(here)
    assert (there.message, there.diagnostics) == (here.message, here.diagnostics)
    if lent():
        pytest.fail("the worker was not given back")


def test_live_modules_go_as_they_are() -> None:
    with ir.Context():
        module = ir.Module.parse(adds(3))
        compiler = isolated()
        assert compiler.compile(module).f(4) == 7
        assert compiler.compile(module).report.tier == "memory"
        assert compiler.compile(adds(3)).report.tier == "memory"
        (function,) = module.body.operations
        assert isolated().compile(function).f(4) == 7


def test_live_modules_keep_their_places() -> None:
    with ir.Context():
        module = ir.Module.parse(adds(1))
        policy = Policy(locations="keep").text
        copy = _mlir.read_written(_mlir.write(module.operation._CAPIPtr))
        assert _mlir.fingerprint(copy, policy) == _mlir.fingerprint(
            module.operation._CAPIPtr, policy
        )
        there, here = both(module, pipeline="builtin.module(convert-arith-to-llvm)")
    assert there.diagnostics == here.diagnostics != ()


def test_programs_of_other_packages() -> None:
    xdsl = pytest.importorskip("xdsl.dialects.builtin")
    from xdsl.context import Context
    from xdsl.dialects.arith import Arith
    from xdsl.dialects.func import Func
    from xdsl.parser import Parser

    context = Context()
    for dialect in (xdsl.Builtin, Arith, Func):
        context.load_dialect(dialect)
    assert isolated().compile(Parser(context, adds(5)).parse_module()).f(1) == 6


def test_lifted_constants_come_along() -> None:
    compiler = isolated(policy=Policy(constants="lift"))
    for number, tier in ((1, "compiled"), (2, "memory")):
        executable = compiler.compile(lifted(number))
        assert executable.report.tier == tier
        assert np.array_equal(executable.f(), 2 * np.arange(number, number + 512, dtype="f4"))


def test_hits_are_confirmed_in_workers(tmp_path) -> None:
    compiler = isolated(cache=tmp_path, confirm="always")
    compiler.compile(adds(1))
    compiler.clear_memory()
    assert compiler.compile(adds(1)).report.tier == "disk"
    assert compiler.stats()["confirmed"] == 1


def test_a_second_hit_gives_the_worker_back() -> None:
    compiler = isolated(settings=Settings(workers=1))
    compiler.compile(adds(1))
    for spaces in range(1, 4):
        assert compiler.compile(adds(1) + " " * spaces).report.tier == "memory"
    assert len(workers()) == 1
    assert not lent()
    assert compiler.explain(adds(2)).tier == "compiled"


def test_as_many_workers_are_lent_as_the_compiler_asks_for() -> None:
    builder = isolated(max_workers=3, settings=Settings(workers=1))._engine._builder
    all_have_one = threading.Barrier(3)

    def borrow(number: int) -> None:
        subject = builder.open(open_source(adds(number)), Clock(), Stop(monotonic() + 20))
        assert subject.fingerprint
        all_have_one.wait(20)
        subject.close()

    at_once(borrow, 3)


def test_a_hit_on_text_starts_no_process(tmp_path) -> None:
    Compiler(cache=tmp_path).compile(adds(1))
    compiler = isolated(cache=tmp_path)
    assert compiler.compile(adds(1)).report.tier == "disk"
    assert zygote_pid() is None


def test_this_process_parses_nothing() -> None:
    script = (
        "import sys, twinjit\n"
        f"twinjit.Compiler(cache=False, executor='process').compile({adds(1)!r})\n"
        "print('twinjit._native._mlir' in sys.modules, 'mlir' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("False False\n", "")


def test_a_closed_builder_compiles_nothing() -> None:
    compiler = isolated()
    compiler.compile(adds(1))
    compiler._engine._builder.close()
    with pytest.raises(ExecutorError, match="closed"):
        compiler.compile(adds(2))
    assert isolated().compile(adds(2)).f(1) == 3


def test_closing_in_a_callback_leaves_the_workers_until_all_is_done() -> None:
    compiler = isolated(max_workers=1)
    first = compiler.submit(adds(1))
    first.add_done_callback(lambda _: compiler.close())
    others = [compiler.submit(adds(number)) for number in range(2, 5)]
    assert [each.result(60).f(1) for each in others] == [3, 4, 5]
    assert until(lambda: zygote_pid() is None)


def test_who_joins_as_the_last_one_leaves_keeps_its_worker() -> None:
    class User:
        pass

    first, second = User(), User()
    joined = 0

    def join() -> None:
        nonlocal joined
        if not POOL._lock._is_owned():  # else no other thread could be here
            joined += 1
            POOL.join(second)
            POOL.give_back(POOL.borrow(1, int), 1)

    moment = 0
    POOL.join(first)
    while call_at(lambda: POOL.leave(first), moment, join):
        assert len(workers()) == (second in POOL._users)
        POOL.leave(second)
        POOL.join(first)
        moment += 1
    assert joined > 1


def test_what_in_the_search_path_is_no_text(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(sys, "path", [tmp_path, *sys.path, None, b"/bytes"])
    assert isolated().compile(adds(1)).f(1) == 2


def test_no_interpreter_to_start(monkeypatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(ExecutorError, match=r"set sys\.executable"):
        isolated().compile(adds(1))
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(ExecutorError, match="/no/such/python"):
        isolated().compile(adds(1))
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(ExecutorError, match="executor='thread'"):
        isolated().compile(adds(1))
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(ExecutorError, match="frozen"):
        isolated().compile(adds(1))
    monkeypatch.undo()
    assert isolated().compile(adds(1)).f(1) == 2


def test_an_unknown_executor() -> None:
    with pytest.raises(ConfigError, match="'process'"):
        Compiler(executor="processes")
