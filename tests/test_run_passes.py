"""Passes over modules that users hold, many at once in one context."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import mlir.ir as ir
import pytest
from mlir.dialects import builtin, func
from mlir.passmanager import PassManager

import twinjit
from tests.threads import at_once
from twinjit.errors import (
    CompilationTimeoutError,
    ContextError,
    ForkError,
    PipelineError,
    VerificationError,
)

pytestmark = pytest.mark.usefixtures("silence")

LOWERING = "canonicalize,cse,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts"


def loops(seed: int) -> str:
    """A function of its own for each seed, with attributes and types that no other one has."""
    return f"""
    func.func @f{seed}(%n: index, %a: vector<{seed + 2}xf64>) -> vector<{seed + 2}xf64> {{
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %c = arith.constant dense<{seed}.5> : vector<{seed + 2}xf64>
      %r = scf.for %i = %zero to %n step %one iter_args(%s = %a) -> vector<{seed + 2}xf64> {{
        %x = arith.mulf %s, %c : vector<{seed + 2}xf64>
        %y = arith.mulf %s, %c : vector<{seed + 2}xf64>
        %z = arith.addf %x, %y : vector<{seed + 2}xf64>
        scf.yield %z : vector<{seed + 2}xf64>
      }}
      return %r : vector<{seed + 2}xf64>
    }}"""


def parse(text: str, context: ir.Context | None = None) -> ir.Module:
    with context or ir.Context():
        return ir.Module.parse(text)


def long_module(context: ir.Context, functions: int = 200) -> ir.Module:
    return parse("".join(map(loops, range(functions))), context)


LONG = ",".join(["cse"] * 2000)
"""Takes longer over a long module than the tests let it run."""


@contextmanager
def running(module: ir.Module) -> Iterator[None]:
    """Passes run over `module` in another thread, again and again."""
    errors: list[BaseException] = []
    is_over = threading.Event()

    def run() -> None:
        try:
            while not is_over.is_set():
                # Long enough; or what the test tries came first.
                with suppress(CompilationTimeoutError, ContextError):
                    twinjit.run_passes(module, LONG, timeout=0.5)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
    assert errors == []


def refusal(work: Callable[[], object]) -> ContextError | None:
    try:
        work()
    except ContextError as error:
        return error
    return None


def until_refused(work: Callable[[], object]) -> ContextError:
    """Try until the other thread has begun."""
    while not (error := refusal(work)):
        time.sleep(0.01)  # else it could be this that refuses the other, again and again
    return error


def test_the_same_as_mlirs_own() -> None:
    ours, theirs = parse(loops(3)), parse(loops(3))
    assert twinjit.run_passes(ours, f"builtin.module({LOWERING})") == ()
    with theirs.context:
        PassManager.parse(f"builtin.module({LOWERING})").run(theirs.operation)
    assert str(ours) == str(theirs)
    assert "llvm.func" in str(ours)


def test_operations_and_named_pipelines() -> None:
    module = parse(loops(3))
    twinjit.run_passes(module.operation, "std")
    assert "llvm.func" in str(module)


@pytest.mark.parametrize("loaded", [True, False])
def test_many_at_once_in_one_context(loaded: bool) -> None:
    """With dialects still to be loaded, too: by runs, and by parsing beside them."""
    for _ in range(3):
        context = ir.Context() if loaded else ir.Context(load_on_create_dialects=["func"])
        expected = {}
        for seed in range(8):
            alone = parse(loops(seed))
            twinjit.run_passes(alone, LOWERING)
            expected[seed] = str(alone)

        def work(index: int, context: ir.Context = context, expected: object = expected) -> None:
            for _ in range(5):
                with context:
                    module = ir.Module.parse(loops(index))
                twinjit.run_passes(module, LOWERING)
                assert str(module) == expected[index]  # type: ignore[index]

        at_once(work)


def test_many_threads_and_contexts_that_append_dialects() -> None:
    """Report 23: pass managers that load dialects into one context at a time assert."""
    pipelines = (
        "convert-scf-to-cf",
        "convert-to-llvm",
        "lower-affine",
        "convert-vector-to-scf",
        "convert-linalg-to-loops",
        "func.func(convert-arith-to-llvm)",
        "one-shot-bufferize",
        "gpu-kernel-outlining",
    )
    for _ in range(4):
        contexts = [ir.Context(load_on_create_dialects=["func", "scf"]) for _ in range(2)]
        modules = [[parse(loops(i), context) for i in range(8)] for context in contexts]

        def work(index: int, modules: list[list[ir.Module]] = modules) -> None:
            twinjit.run_passes(modules[index % 2][index // 2], pipelines[index // 2])

        at_once(work, 16)


def test_beside_mlirs_own_pass_manager() -> None:
    context = ir.Context()

    def work(index: int) -> None:
        for _ in range(10):
            module = parse(loops(index), context)
            if index % 2:
                twinjit.run_passes(module, LOWERING)
            else:
                with context:
                    PassManager.parse(f"builtin.module({LOWERING})").run(module.operation)
            assert "llvm.func" in str(module)

    at_once(work)


def test_multithreading_disabled_is_refused() -> None:
    module = parse(loops(1))
    before = str(module)
    module.context.enable_multithreading(False)
    with pytest.raises(ContextError, match=r"enable_multithreading\(True\)"):
        twinjit.run_passes(module, "cse")
    assert str(module) == before
    module.context.enable_multithreading(True)
    twinjit.run_passes(module, "cse")


def test_one_module_twice_is_refused() -> None:
    context = ir.Context()
    module = long_module(context)
    with running(module):
        error = until_refused(lambda: twinjit.run_passes(module, "cse"))
        assert "another thread runs passes over it" in str(error)
        until_refused(lambda: twinjit.fingerprint(module))
        until_refused(lambda: twinjit.Compiler(cache=False).compile(module))
        other = parse(loops(1), context)
        twinjit.run_passes(other, LOWERING)
        twinjit.fingerprint(other)
    twinjit.run_passes(module, "cse")
    assert module.operation.verify()


def test_runs_that_come_later_wait_their_turn() -> None:
    """One that needs dialects loaded waits for those under way, not for ever."""
    context = ir.Context()
    module = long_module(context)
    has_begun, is_over = threading.Event(), threading.Event()
    ended: list[None] = []

    def run_again_and_again() -> None:
        while not is_over.is_set():
            with suppress(CompilationTimeoutError):
                twinjit.run_passes(module, LONG, timeout=0.1)
            ended.append(None)
            has_begun.set()

    other = parse(loops(1), context)
    thread = threading.Thread(target=run_again_and_again)
    thread.start()
    has_begun.wait()
    before = len(ended)
    twinjit.run_passes(other, LOWERING)
    is_over.set()
    thread.join()
    assert "llvm.func" in str(other)
    assert len(ended) - before < 10


@pytest.mark.parametrize("outer_first", [True, False])
def test_a_module_and_one_in_it_are_refused(outer_first: bool) -> None:
    context = ir.Context()
    text = "".join(map(loops, range(200)))
    outer = parse(f"module {{ module @inner {{ {text} }} {loops(300)} }}", context)
    (inner,) = (each for each in outer.body.operations if each.operation.name == "builtin.module")
    first, second = (outer, inner) if outer_first else (inner, outer)
    with running(first):  # type: ignore[arg-type]
        until_refused(lambda: twinjit.run_passes(second, "cse"))
        until_refused(lambda: twinjit.fingerprint(second))


def test_timeout_leaves_a_valid_module() -> None:
    module = long_module(ir.Context())
    with pytest.raises(CompilationTimeoutError):
        twinjit.run_passes(module, LONG, timeout=0.01)
    assert module.operation.verify()
    twinjit.run_passes(module, LOWERING)


def test_a_failed_pass_says_why() -> None:
    module = parse("func.func @f() { return }")
    with pytest.raises(PipelineError) as raised:
        twinjit.run_passes(module, "transform-interpreter{entry-point=absent}")
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.message == "could not find a nested named sequence with name: absent"


@pytest.mark.parametrize("pipeline", ["no-such-pass", "cse(", "builtin.module(cse", ""])
def test_pipelines_that_are_none(pipeline: str) -> None:
    module = parse(loops(1))
    if not pipeline:
        assert twinjit.run_passes(module, pipeline) == ()
        return
    with pytest.raises(PipelineError):
        twinjit.run_passes(module, pipeline)


REMARKS = """
module attributes {{transform.with_named_sequence}} {{
  {functions}
  transform.named_sequence @__transform_main(%m: !transform.any_op) {{
    %0 = transform.structured.match ops{{["func.func"]}} in %m
        : (!transform.any_op) -> !transform.any_op
    transform.debug.emit_remark_at %0, "{marker}" : !transform.any_op
    transform.yield
  }}
}}"""


def remarking(marker: str, count: int) -> str:
    functions = "\n".join(f"func.func @{marker}_{i}() {{ return }}" for i in range(count))
    return REMARKS.format(functions=functions, marker=marker)


def test_diagnostics_are_those_of_the_run() -> None:
    """Remarks and errors of eight runs in one context, those of MLIR's pool threads included."""
    context = ir.Context()
    seen: list[str] = []
    handler = context.attach_diagnostic_handler(lambda it: bool(seen.append(it.message)) or True)

    def remarks(marker: str) -> None:
        module = parse(remarking(marker, 20), context)
        told = twinjit.run_passes(module, "transform-interpreter")
        assert [each.message for each in told] == [marker] * 20
        assert [each.line for each in told] == list(range(3, 23))

    def errors(marker: str) -> None:
        module = parse("".join(map(loops, range(6))), context)
        with pytest.raises(PipelineError) as raised:
            pipeline = f"func.func(transform-interpreter{{entry-point={marker}}})"
            twinjit.run_passes(module, pipeline)
        assert raised.value.diagnostics
        for each in raised.value.diagnostics:
            assert each.message.endswith(f"sequence with name: {marker}")

    def work(index: int) -> None:
        for _ in range(15):
            (remarks if index % 2 else errors)(f"marker{index}")

    at_once(work)
    assert seen == []
    with context, pytest.raises(ir.MLIRError):
        context.emit_error_diagnostics = True
        ir.Module.parse("not mlir")
    assert seen  # the user's handler still gets what is the user's
    handler.detach()


def test_errors_of_mlirs_bindings_stay_theirs() -> None:
    """They collect errors in the context while they parse, whichever thread these come from."""
    context = ir.Context()

    def run(marker: str) -> None:
        module = parse("".join(map(loops, range(6))), context)
        with pytest.raises(PipelineError) as raised:
            twinjit.run_passes(module, f"transform-interpreter{{entry-point={marker}}}")
        (diagnostic,) = raised.value.diagnostics
        assert diagnostic.message.endswith(marker)

    def misread(marker: str) -> None:
        with context, pytest.raises(ir.MLIRError) as raised:
            ir.Module.parse(f"func.func @f() {{ call @{marker}() : () -> () return }}")
        (diagnostic,) = raised.value.error_diagnostics
        assert marker in str(diagnostic)

    def work(index: int) -> None:
        for _ in range(40):
            (run if index % 2 else misread)(f"marker{index}")

    at_once(work)
    assert not context.emit_error_diagnostics


def invalid(context: ir.Context, name: str) -> ir.Module:
    module = parse(
        f"func.func @{name}() -> i32 {{ %c = arith.constant 1 : i32 return %c : i32 }}", context
    )
    del module.body.operations[0].attributes["function_type"]
    return module


def test_compiling_what_is_not_valid_beside_other_threads() -> None:
    context = ir.Context()
    compiler = twinjit.Compiler(cache=False)

    def work(index: int) -> None:
        for _ in range(40):
            with pytest.raises(VerificationError) as raised:
                compiler.compile(invalid(context, f"f{index}"))
            (diagnostic,) = raised.value.diagnostics
            assert "function_type" in diagnostic.message

    at_once(work)
    assert not context.emit_error_diagnostics


def nested_redefinitions(context: ir.Context, name: str) -> ir.Module:
    with context, ir.Location.unknown():
        module = ir.Module.create()
        for _ in range(4):
            with ir.InsertionPoint(module.body):
                inner = builtin.ModuleOp()
            for i in range(4):
                with ir.InsertionPoint(inner.body):
                    func.FuncOp(f"{name}{i // 2}", ([], []), visibility="private")
    return module


def test_what_escapes_mlirs_own_collection() -> None:
    """A pool's thread that verifies nested modules may call handlers itself, without the GIL.

    One of Python's would end the process.
    """
    context = ir.Context()
    handler = context.attach_diagnostic_handler(lambda _: True)

    def work(index: int) -> None:
        for _ in range(25):
            module = nested_redefinitions(context, f"of{index}_")
            with pytest.raises(VerificationError) as raised:
                twinjit.run_passes(module, "cse")
            assert raised.value.diagnostics
            for each in raised.value.diagnostics:
                assert f"'of{index}_" in each.message

    at_once(work, 4)
    handler.detach()


def status_in_child(work: Callable[[], object]) -> int:
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    signal.alarm(60)
    try:
        work()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def test_a_child_leaves_its_parents_contexts_alone() -> None:
    """Their threads are not there: destroying such a context would wait for them for ever."""
    gc.collect()  # what MLIR's own passes have run in is not kept
    contexts = [ir.Context()]
    twinjit.run_passes(long_module(contexts[0]), "func.func(cse)")

    def work() -> None:
        refused = refusal_of_fork(long_module(contexts[0], functions=1))
        assert "parse the module in a new mlir.ir.Context" in str(refused)
        contexts.clear()
        gc.collect()

    assert status_in_child(work) == 0
    twinjit.run_passes(long_module(contexts[0]), "func.func(cse)")


def refusal_of_fork(module: ir.Module) -> ForkError:
    with pytest.raises(ForkError) as raised:
        twinjit.run_passes(module, "cse")
    return raised.value


def test_a_child_forked_beside_runs_works() -> None:
    context = ir.Context()
    modules = [long_module(context, functions=20) for _ in range(2)]
    threads = [
        threading.Thread(target=lambda it=it: twinjit.run_passes(it, LOWERING)) for it in modules
    ]
    for thread in threads:
        thread.start()

    def work() -> None:
        module = parse(loops(1))
        twinjit.run_passes(module, LOWERING)
        assert "llvm.func" in str(module)

    assert status_in_child(work) == 0
    for thread in threads:
        thread.join()
    assert all("llvm.func" in str(module) for module in modules)
