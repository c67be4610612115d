"""Programs of any size, of the mix of operations that compilers of arrays make."""

from __future__ import annotations

from random import Random
from typing import Any

from benchmarks.harness import EXAMPLES

__all__ = ["count", "graph", "one_function", "parse", "program"]


def graph(name: str, number: int) -> str:
    """Text of one of ``examples/``, of which no other number has the code.

    A small function beside it sees to that.
    """
    beside = f" func.func @number() -> i64 {{ %n = arith.constant {number} : i64 return %n : i64 }}"
    text = (EXAMPLES / f"{name}.mlir").read_text()
    return text.replace("module {", f"module {{{beside}", 1)


def parse(text: str) -> Any:
    """Parse into a context of its own."""
    import mlir.ir as ir

    with ir.Context():
        return ir.Module.parse(text)


def count(module: Any) -> int:
    """Count the operations in a module, itself included."""
    total = 0
    pending = [module.operation]
    while pending:
        operation = pending.pop()
        total += 1
        for region in operation.regions:
            for block in region:
                pending += [inner.operation for inner in block]
    return total


def program(operations: int, seed: int = 0) -> str:
    """Text of a module of about so many operations, in functions of varied sizes."""
    random = Random(seed)
    functions: list[str] = []
    left = operations - 1
    while left > 0:
        size = min(left, random.choice([8, 20, 40, 40, 80, 160, 400]))
        functions.append(_function(random, len(functions), size))
        left -= size
    return "\n".join(functions)


def one_function(operations: int) -> str:
    """Text of a module of one function of about so many operations."""
    return _function(Random(1), 0, operations - 1)


def _function(random: Random, number: int, size: int) -> str:
    writer = _Writer(random, number)
    while writer.operations < size - 1:
        writer.statement()
    body = "\n  ".join(writer.lines)
    return (
        f"func.func @f{number}(%i0: i32, %x0: f32, %n0: index, %m: memref<?x16xf32>, "
        f"%p: !llvm.ptr) -> f32 attributes {{t.number = {number} : i64}} {{\n  {body}\n  "
        f"return %x{writer.floats - 1} : f32\n}}"
    )


class _Writer:
    """Writes statements over the integers %i…, floats %x… and indices %n… so far."""

    def __init__(self, random: Random, number: int) -> None:
        self.random = random
        self.number = number
        self.lines: list[str] = []
        self.operations = 1
        self.integers = self.floats = self.indices = 1

    def _any(self, letter: str, known: int) -> str:
        return f"%{letter}{max(0, known - 1 - int(self.random.expovariate(0.2)))}"

    def _integer(self) -> str:
        return self._any("i", self.integers)

    def _float(self) -> str:
        return self._any("x", self.floats)

    def _index(self) -> str:
        return self._any("n", self.indices)

    def statement(self) -> None:
        choice = self.random.choice(
            [self._arith, self._arith, self._math, self._constant, self._memory, self._address,
             self._loop, self._branch, self._call]
        )  # fmt: skip
        choice()

    def _add(self, line: str, operations: int = 1) -> None:
        self.lines.append(line)
        self.operations += operations

    def _new_integer(self, line: str) -> None:
        self._add(f"%i{self.integers} = {line}")
        self.integers += 1

    def _new_float(self, line: str, operations: int = 1) -> None:
        self._add(f"%x{self.floats} = {line}", operations)
        self.floats += 1

    def _arith(self) -> None:
        name = self.random.choice(["addi", "muli", "subi", "andi", "xori", "maxsi"])
        flags = self.random.choice(["", " overflow<nsw>"]) if name in ("addi", "muli") else ""
        self._new_integer(f"arith.{name} {self._integer()}, {self._integer()}{flags} : i32")

    def _math(self) -> None:
        flags = self.random.choice(["", " fastmath<contract>"])
        name = self.random.choice(["addf", "mulf", "subf", "divf"])
        self._new_float(f"arith.{name} {self._float()}, {self._float()}{flags} : f32")

    def _constant(self) -> None:
        self._new_integer(f"arith.constant {self.random.randrange(1000)} : i32")
        self._add(f"%n{self.indices} = arith.constant {self.random.randrange(64)} : index")
        self.indices += 1

    def _memory(self) -> None:
        where = f"%m[{self._index()}, {self._index()}] : memref<?x16xf32>"
        self._add(f"memref.store {self._float()}, {where}")
        self._new_float(f"memref.load {where}")

    def _address(self) -> None:
        name = f"%a{self.operations}"
        flags = self.random.choice(["", "inbounds "])
        self._add(
            f"{name} = llvm.getelementptr {flags}%p[{self._integer()}] : "
            "(!llvm.ptr, i32) -> !llvm.ptr, f32"
        )
        self._new_float(f"llvm.load {name} {{alignment = 4 : i64}} : !llvm.ptr -> f32")

    def _loop(self) -> None:
        start, stop, step = (self._index() for _ in range(3))
        self._new_float(
            f"scf.for %k = {start} to {stop} step {step} iter_args(%s = {self._float()}) -> (f32) "
            f"{{ %v = memref.load %m[%k, %k] : memref<?x16xf32> %w = math.absf %v : f32 "
            f"%t = arith.addf %s, %w : f32 scf.yield %t : f32 }}",
            operations=5,
        )

    def _branch(self) -> None:
        name = f"%c{self.operations}"
        predicate = self.random.choice(["slt", "eq", "ugt"])
        self._add(f"{name} = arith.cmpi {predicate}, {self._integer()}, {self._integer()} : i32")
        self._new_float(
            f"scf.if {name} -> (f32) {{ scf.yield {self._float()} : f32 }} else {{ "
            f"%e = math.sqrt {self._float()} : f32 scf.yield %e : f32 }}",
            operations=4,
        )

    def _call(self) -> None:
        nearest = max(0, self.number - 30)
        callee = f"@f{self.random.randint(nearest, self.number)}"
        self._new_float(
            f"func.call {callee}({self._integer()}, {self._float()}, {self._index()}, %m, %p) : "
            "(i32, f32, index, memref<?x16xf32>, !llvm.ptr) -> f32"
        )
