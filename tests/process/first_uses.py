"""``python -m tests.process.first_uses COUNT``: in so many forked children, everything at once.

Each child has imported `twinjit` and used nothing of it. Its threads then do, at one moment, what
is made or registered when it is first used: MLIR's library, dialects, passes, LLVM's targets, the
linker's memory manager, contexts, indices, stores.

Every other child has imported MLIR's bindings, too, and its threads use live modules: CPython lets
a thread see the bindings while another is at importing them, whoever does.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from pathlib import Path

import twinjit
from twinjit.errors import PipelineError

PROGRAMS = Path(__file__).parent.parent / "programs"
CHILD_SECONDS = 120  # more than a child needs on a loaded machine; one that hangs never ends
TENSORS = (
    "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> { "
    "%0 = arith.addf %a, %a : tensor<4xf32> return %0 : tensor<4xf32> }"
)
CASES = (
    "func.func @f(%c: i1, %x: f32) -> f32 { %0 = scf.if %c -> (f32) { %s = math.sqrt %x : f32 "
    "scf.yield %s : f32 } else { scf.yield %x : f32 } return %0 : f32 }"
)
STORED = "func.func @f() -> i64 { %c = arith.constant 7 : i64 return %c : i64 }"


def compile_in(dialect: str) -> None:
    """Compile what needs other dialects and passes than its neighbours."""
    twinjit.Compiler(cache=False).compile(PROGRAMS / f"{dialect}.mlir")


def hit() -> None:
    executable = twinjit.Compiler(cache=sys.argv[2]).compile(STORED)
    assert (executable.report.tier, executable.f()) == ("disk", 7)


def use_live_module() -> None:
    import mlir.ir

    with mlir.ir.Context():
        module = mlir.ir.Module.parse(CASES)
    assert twinjit.fingerprint(module) == twinjit.fingerprint(CASES)
    assert twinjit.Compiler(cache=False).compile(module).f(False, 2.0) == 2


def refuse() -> None:
    try:
        twinjit.Compiler(pipeline="builtin.module(no-such-pass)", cache=False).compile(CASES)
    except PipelineError:
        return
    raise AssertionError("a pipeline with an unknown pass was taken")


def describe_targets() -> None:
    assert twinjit.Target.host().instruction_sets
    assert twinjit.Target.baseline("x86-64-v2").triple


USES: tuple[Callable[[], object], ...] = (
    hit,
    refuse,
    describe_targets,
    lambda: twinjit.compile(TENSORS),
    lambda: twinjit.fingerprint("define i32 @f(i32 %x) { ret i32 %x }", language="llvm"),
    lambda: twinjit.diff(CASES, STORED),
    lambda: twinjit.Compiler(policy=twinjit.Policy(constants="lift")).explain(TENSORS),
    *(lambda name=name: compile_in(name) for name in ("affine", "memref", "cf", "scf")),
)


def use_all_at_once(*, has_bindings: bool) -> bool:
    uses = USES
    if has_bindings:
        import mlir.ir  # noqa: F401 -- loading it is the point

        uses = (use_live_module, *uses)
    barrier = threading.Barrier(len(uses))
    failures = []

    def start(use: Callable[[], object]) -> None:
        barrier.wait()
        try:
            use()
        except BaseException:
            failures.append(traceback.format_exc())

    threads = [threading.Thread(target=start, args=(use,)) for use in uses]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(*failures, sep="\n", file=sys.stderr, flush=True, end="")
    return not failures


def in_child(number: int) -> int:
    child = os.fork()
    if child == 0:
        signal.alarm(CHILD_SECONDS)
        with tempfile.TemporaryDirectory() as folder:
            os.environ["TWINJIT_CACHE_DIR"] = folder
            ended_well = use_all_at_once(has_bindings=number % 2 == 0)
        os._exit(0 if ended_well else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    statuses = [in_child(number) for number in range(int(sys.argv[1]))]
    if any(statuses):
        sys.exit(f"children ended with {statuses}")
