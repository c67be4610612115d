"""Random modules, and the many ways to write each down that a policy takes for the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TypeVar

from hypothesis import strategies as st

from twinjit import Policy

_T = TypeVar("_T")

_OPERATIONS = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "xori": lambda a, b: a ^ b,
}
_COMMUTATIVE = ("addi", "muli", "xori")
_MASK = (1 << 64) - 1


@dataclass(frozen=True)
class Step:
    """``v = operation(a, b)``, or with the number of a function as operation, its call on `a`."""

    operation: str | int
    a: int
    b: int


@dataclass(frozen=True)
class Spelling:
    """One way to write a module.

    Attributes
    ----------
    names
        Of functions; the first is public.
    order
        In which functions are listed.
    swaps
        Whether the operands of the next commutative operation are exchanged, round and round.
    attributes
        Of the next operation, likewise.
    blocks
        In which order the three blocks after each entry are listed.
    """

    names: Sequence[str]
    order: Sequence[int]
    swaps: Sequence[bool]
    attributes: Sequence[str]
    blocks: Sequence[int]


@dataclass(frozen=True)
class RandomModule:
    """Functions of one i64; each calls only later ones. The first is called ``f``.

    A function computes its steps, and returns the last value if that is odd, else its negative.
    """

    functions: tuple[tuple[Step, ...], ...]

    def run(self, x: int) -> int:
        result = self._call(0, x & _MASK)
        return result - (1 << 64) if result >> 63 else result

    def _call(self, number: int, x: int) -> int:
        values = [x]
        for step in self.functions[number]:
            if isinstance(step.operation, int):
                values.append(self._call(step.operation, values[step.a]))
            else:
                values.append(_OPERATIONS[step.operation](values[step.a], values[step.b]) & _MASK)
        return values[-1] if values[-1] & 1 else -values[-1] & _MASK

    def render(self, spelling: Spelling) -> str:
        swaps, attributes = cycle(spelling.swaps), cycle(spelling.attributes)
        texts = []
        for number, steps in enumerate(self.functions):
            lines = []
            for i, step in enumerate(steps, start=1):
                if isinstance(step.operation, int):
                    callee = spelling.names[step.operation]
                    lines.append(f"%{i} = func.call @{callee}(%{step.a}) : (i64) -> i64")
                    continue
                a, b = step.a, step.b
                if step.operation in _COMMUTATIVE and next(swaps):
                    a, b = b, a
                extra = next(attributes)
                lines.append(f"%{i} = arith.{step.operation} %{a}, %{b} {extra} : i64")
            texts.append(self._function(number, spelling, lines))
        return "\n".join(texts[number] for number in spelling.order)

    def _function(self, number: int, spelling: Spelling, lines: list[str]) -> str:
        visibility = "" if number == 0 else "private "
        last = len(lines)
        blocks = [
            f"^odd:\n  return %{last} : i64",
            f"""^even:
  %zero = arith.constant 0 : i64
  %minus = arith.subi %zero, %{last} : i64
  return %minus : i64""",
            "^dead:\n  cf.br ^odd",
        ]
        lines += [
            f"%isodd = arith.trunci %{last} : i64 to i1",
            "cf.cond_br %isodd, ^odd, ^even",
        ]
        header = f"func.func {visibility}@{spelling.names[number]}(%0: i64) -> i64"
        listed = [blocks[i] for i in spelling.blocks]
        return "\n".join([f"{header} attributes {{no_inline}} {{", *lines, *listed, "}"])


@st.composite
def modules(draw: st.DrawFn) -> RandomModule:
    count = draw(st.integers(2, 4))
    functions = []
    for number in range(count):
        # The first calls all: what none refers to has no order that all policies can find.
        calls = range(1, count) if number == 0 else range(0)
        operations: list[str | int] = [
            *calls,
            *draw(st.lists(st.sampled_from([*_OPERATIONS, *range(number + 1, count)]), max_size=5)),
        ]
        steps = []
        for position, operation in enumerate(draw(st.permutations(operations))):
            operand = st.integers(0, position)
            steps.append(Step(operation, draw(operand), draw(operand)))
        functions.append(tuple(steps))
    return RandomModule(tuple(functions))


@st.composite
def spellings(draw: st.DrawFn, module: RandomModule, policy: Policy) -> Spelling:
    """Ways to write a module that are the same under a policy."""
    count = len(module.functions)
    names = [f"g{i}" for i in range(1, count)]
    if policy.private_symbols == "rename":
        some = st.sampled_from(["exp", "local.0", "local.1", "malloc", "a", "b", "c"])
        names = draw(st.lists(some, min_size=count - 1, max_size=count - 1, unique=True))
    listed = list(range(count))
    ignores_attributes = policy.discardable == "ignore"
    return Spelling(
        names=["f", *names],
        order=draw(st.permutations(listed)) if policy.symbol_order == "ignore" else listed,
        swaps=draw(_some(st.booleans())) if policy.commutative == "ignore" else [False],
        attributes=draw(_some(st.sampled_from(["", "{t.a}", "{t.b = 3 : i8}"])))
        if ignores_attributes
        else [""],
        blocks=draw(st.permutations(range(3))),
    )


def _some(values: st.SearchStrategy[_T]) -> st.SearchStrategy[list[_T]]:
    return st.lists(values, min_size=1, max_size=5)
