"""``python -m tests.process.small_stacks BYTES``: use everything in threads with so small a stack.

Each use has a thread of its own, and prints its name when it has ended. With ``warm`` after the
size, a thread with the usual stack has done all of it before.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mlir.ir
import numpy as np

import twinjit
from twinjit.errors import ArgumentTypeError, CompilationError, UnresolvedSymbolError

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
ADDS = (
    "func.func @f(%x: i64) -> i64 {{ %c = arith.constant {} : i64 %y = arith.addi %x, %c : i64 "
    "return %y : i64 }}"
)
MLP = (EXAMPLES / "mlp_dynamic.mlir").read_text()
DEEP = 990  # of 1000 regions in one another that are taken
NOWHERE = "func.func private @nowhere() func.func @f() { call @nowhere() : () -> () return }"


def nested(depth: int) -> str:
    regions = "scf.execute_region { " * depth + "scf.yield } " * depth
    return f"func.func @f() {{ {regions} return }}"


def parsed(text: str) -> Any:
    with mlir.ir.Context():
        return mlir.ir.Module.parse(text)


def parsed_in_one_thread(text: str) -> Any:
    """Parse into a context that only the GIL keeps other threads from."""
    context = mlir.ir.Context()
    context.enable_multithreading(False)
    with context:
        return mlir.ir.Module.parse(text)


def raises(error: type[Exception], work: Callable[[], object]) -> None:
    try:
        work()
    except error:
        return
    raise AssertionError(f"no {error.__name__}")


class Uses:
    """What a thread may do; each method is a use."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._compiler = twinjit.Compiler(cache=folder)
        self._live = parsed(MLP)
        self._deep = parsed(nested(DEEP))
        self._held = parsed_in_one_thread(nested(DEEP))
        self._number = 0

    def _new(self) -> str:
        self._number += 1
        return ADDS.format(self._number)

    def miss(self) -> None:
        assert self._compiler.compile(self._new()).f(0) == self._number

    def miss_of_a_graph(self) -> None:
        twinjit.Compiler(cache=False).compile(MLP)

    def hit_in_memory(self) -> None:
        text = self._new()
        assert self._compiler.compile(text) == self._compiler.compile(text)

    def hit_on_disk(self) -> None:
        text = self._new()
        self._compiler.compile(text)
        again = twinjit.Compiler(cache=self._folder).compile(text)
        assert (again.report.tier, again.f(0)) == ("disk", self._number)

    def hit_of_another_spelling(self) -> None:
        text = self._new()
        self._compiler.compile(text)
        assert self._compiler.compile(f"// another\n{text}").report.tier == "memory"

    def confirmed_hit(self) -> None:
        text = self._new()
        for _ in range(2):
            twinjit.Compiler(cache=self._folder, confirm="always").compile(text)

    def live_module(self) -> None:
        self._compiler.compile(self._live)
        assert self._compiler.compile(self._live).report.tier == "memory"

    def live_module_in_one_thread(self) -> None:
        twinjit.Compiler(cache=False).compile(self._held)
        assert twinjit.fingerprint(self._held) == twinjit.fingerprint(self._deep)
        assert twinjit.equivalent(self._held, self._deep)

    def lifted_constants(self) -> None:
        policy = twinjit.Policy(constants="lift")
        twinjit.Compiler(cache=False, policy=policy).compile(self._live)

    def deeply_nested(self) -> None:
        twinjit.Compiler(cache=False).compile(nested(DEEP))

    def deeply_nested_live(self) -> None:
        twinjit.Compiler(cache=False).compile(self._deep)

    def explain(self) -> None:
        assert self._compiler.explain(nested(DEEP)).key
        assert not self._compiler.would_hit(self._new())

    def identity(self) -> None:
        assert twinjit.fingerprint(self._live) == twinjit.fingerprint(MLP)
        assert twinjit.equivalent(self._deep, nested(DEEP))
        assert twinjit.diff(self._new(), self._new())
        assert twinjit.fingerprint("define void @f() { ret void }", language="llvm")

    def no_program(self) -> None:
        raises(CompilationError, lambda: self._compiler.compile("func.func @f(%x: i64 {"))
        raises(CompilationError, lambda: self._compiler.compile(nested(5000)))

    def no_pipeline(self) -> None:
        compiler = twinjit.Compiler(pipeline="builtin.module(no-such-pass)", cache=False)
        raises(CompilationError, lambda: compiler.compile(self._new()))

    def no_symbol(self) -> None:
        raises(UnresolvedSymbolError, lambda: self._compiler.compile(NOWHERE))

    def call(self) -> None:
        result = self._compiler.compile(MLP).mlp_dynamic(np.ones((3, 64), np.float32))
        assert result.shape == (3, 10)
        raises(ArgumentTypeError, lambda: self._compiler.compile(self._new()).f("text"))

    def counts(self) -> None:
        assert self._compiler.stats()
        assert self._compiler.store is not None
        assert self._compiler.store.stats()
        self._compiler.clear_memory()


def in_thread(use: Callable[[], object]) -> None:
    failures: list[BaseException] = []

    def run() -> None:
        try:
            use()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]


def use_all(uses: Uses) -> None:
    for name in vars(Uses):
        if not name.startswith("_"):
            in_thread(getattr(uses, name))
            print(name, flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        uses = Uses(folder)
        if sys.argv[2:] == ["warm"]:
            use_all(uses)
        threading.stack_size(int(sys.argv[1]))
        use_all(uses)
