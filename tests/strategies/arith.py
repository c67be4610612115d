"""Functions of integer arithmetic, as text with any names."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

_ARITH_OPERATIONS = ("addi", "subi", "muli", "andi", "xori")
_ARITH_TYPES = ("i8", "i32", "i64", "i128")


@dataclass(frozen=True)
class ArithProgram:
    """A function of one type: parameters, then constants (an int) and binary operations."""

    type: str
    parameters: int
    body: tuple[int | tuple[str, int, int], ...]

    @property
    def values(self) -> int:
        return self.parameters + len(self.body)

    def render(self, names: tuple[str, ...]) -> str:
        """As text; `names` has one for each value."""
        parameters = ", ".join(f"%{name}: {self.type}" for name in names[: self.parameters])
        lines = [f"func.func @f({parameters}) -> {self.type} {{"]
        for name, step in zip(names[self.parameters :], self.body, strict=True):
            if isinstance(step, int):
                lines.append(f"  %{name} = arith.constant {step} : {self.type}")
            else:
                operation, a, b = step
                operands = f"%{names[a]}, %{names[b]}"
                lines.append(f"  %{name} = arith.{operation} {operands} : {self.type}")
        lines += [f"  return %{names[-1]} : {self.type}", "}"]
        return "\n".join(lines)


@st.composite
def arith_programs(draw: st.DrawFn, max_steps: int = 12) -> ArithProgram:
    parameters = draw(st.integers(1, 3))
    body: list[int | tuple[str, int, int]] = []
    for _ in range(draw(st.integers(0, max_steps))):
        operand = st.integers(0, parameters + len(body) - 1)
        operation = st.tuples(st.sampled_from(_ARITH_OPERATIONS), operand, operand)
        body.append(draw(st.integers(-128, 127) | operation))
    return ArithProgram(draw(st.sampled_from(_ARITH_TYPES)), parameters, tuple(body))


def value_names(count: int) -> st.SearchStrategy[tuple[str, ...]]:
    name = st.from_regex(r"[a-zA-Z_$.-][a-zA-Z0-9_$.-]{0,7}", fullmatch=True)
    return st.lists(name, min_size=count, max_size=count, unique=True).map(tuple)
