"""LLVM IR of any size, of the mix of instructions that database kernels have."""

from __future__ import annotations

from random import Random

__all__ = ["llvm_program"]


def llvm_program(instructions: int, seed: int = 0) -> str:
    """Text of a module of about so many instructions, in functions that call each other."""
    random = Random(seed)
    functions: list[str] = []
    left = instructions
    while left > 0:
        size = min(left, random.choice([10, 20, 40, 80]))
        functions.append(_Function(random, len(functions)).text(size))
        left -= size
    return "\n".join([_HEAD, *functions])


_HEAD = """\
%Row = type { i64, double, ptr, [4 x i32] }
@weights = private constant [4 x double] [double 0.5, double 1.5, double 2.5, double 3.5]
@calls = internal global i64 0
declare double @llvm.sqrt.f64(double)
declare i64 @llvm.smax.i64(i64, i64)
"""


class _Function:
    """Writes one function: blocks in a row, in loops and branches, over values so far."""

    def __init__(self, random: Random, number: int) -> None:
        self.random = random
        self.number = number
        self.lines: list[str] = []
        self.integers, self.floats = ["%n"], ["%x"]
        self.count = 0
        self.block = "entry"

    def text(self, size: int) -> str:
        statements = (self._integer, self._float, self._memory, self._select, self._call)
        while self.count < size:
            self.random.choice((*statements, *statements, self._branch, self._loop))()
        linkage = self.random.choice(["", "", "internal "])
        body = "\n  ".join(self.lines)
        return (
            f"define {linkage}double @f{self.number}(ptr %rows, i64 %n, double %x) {{\nentry:\n"
            f"  {body}\n  ret double {self.floats[-1]}\n}}"
        )

    def _name(self, kind: str) -> str:
        self.count += 1
        return f"%{kind}{self.count}"

    def _some(self, values: list[str]) -> str:
        return self.random.choice(values[-6:])

    def _add(self, line: str) -> None:
        self.lines.append(line)

    def _integer(self) -> None:
        name = self._name("i")
        what = self.random.choice(["add", "add nsw", "mul", "sub", "xor", "and", "shl"])
        right = self.random.choice([self._some(self.integers), str(self.random.randrange(1, 60))])
        self._add(f"{name} = {what} i64 {self._some(self.integers)}, {right}")
        self.integers.append(name)

    def _float(self) -> None:
        name = self._name("d")
        what = self.random.choice(["fadd", "fmul", "fsub contract", "fdiv"])
        self._add(f"{name} = {what} double {self._some(self.floats)}, {self._some(self.floats)}")
        self.floats.append(name)

    def _memory(self) -> None:
        address, value = self._name("p"), self._name("d")
        self._add(
            f"{address} = getelementptr inbounds %Row, ptr %rows, i64 {self._some(self.integers)}, "
            "i32 1"
        )
        self._add(f"{value} = load double, ptr {address}")
        self._add(f"store double {self._some(self.floats)}, ptr {address}")
        self.floats.append(value)

    def _select(self) -> None:
        test, value, root = self._name("c"), self._name("i"), self._name("d")
        a, b = self._some(self.integers), self._some(self.integers)
        self._add(f"{test} = icmp slt i64 {a}, {b}")
        self._add(f"{value} = select i1 {test}, i64 {a}, i64 {b}")
        self._add(f"{root} = call double @llvm.sqrt.f64(double {self._some(self.floats)})")
        self.integers.append(value)
        self.floats.append(root)

    def _call(self) -> None:
        if not self.number:
            self._integer()
            return
        name = self._name("d")
        callee = self.random.randrange(max(0, self.number - 10), self.number)
        self._add(
            f"{name} = call double @f{callee}(ptr %rows, i64 {self._some(self.integers)}, double "
            f"{self._some(self.floats)})"
        )
        self.floats.append(name)

    def _branch(self) -> None:
        test, value = self._name("c"), self._name("d")
        here, yes, join = self.block, f"yes{self.count}", f"join{self.count}"
        other, inner = self._some(self.floats), f"%in{self.count}"
        self._add(f"{test} = icmp eq i64 {self._some(self.integers)}, {self.random.randrange(9)}")
        self._add(f"br i1 {test}, label %{yes}, label %{join}")
        self.lines += [f"{yes}:", f"{inner} = fneg double {other}", f"br label %{join}", f"{join}:"]
        self._add(f"{value} = phi double [ {other}, %{here} ], [ {inner}, %{yes} ]")
        self.floats.append(value)
        self.block = join

    def _loop(self) -> None:
        value = self._name("d")
        before, loop, after = self.block, f"loop{self.count}", f"after{self.count}"
        step, index, more = (f"%{letter}{self.count}" for letter in ("s", "k", "m"))
        start, bound = self._some(self.floats), self._some(self.integers)
        self.lines += [
            f"br label %{loop}",
            f"{loop}:",
            f"{index} = phi i64 [ 0, %{before} ], [ {index}.next, %{loop} ]",
            f"{value} = phi double [ {start}, %{before} ], [ {step}, %{loop} ]",
            f"{index}.w = and i64 {index}, 3",
            f"{index}.p = getelementptr [4 x double], ptr @weights, i64 0, i64 {index}.w",
            f"{index}.v = load double, ptr {index}.p",
            f"{step} = fadd double {value}, {index}.v",
            f"{index}.next = add nuw i64 {index}, 1",
            f"{more} = icmp slt i64 {index}.next, {bound}",
            f"br i1 {more}, label %{loop}, label %{after}",
            f"{after}:",
        ]
        self.floats.append(value)
        self.block = after
