"""What was decided on the functions of a library, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

__all__ = ["ImportDecision", "decision_trees"]

_Told = tuple[str, int, str | None, float, float, int, int, int, str]


@dataclass(frozen=True)
class ImportDecision:
    """Whether a function of a library would be imported, and the same of what it calls.

    Attributes
    ----------
    name
        Of the function, or of a constant that it uses.
    file
        The bitcode that defines it; None where the library does not.
    imported
        Whether it becomes part of programs.
    reason
        Why it does or does not.
    cost, limit
        In instructions, constants counted in; 0 where no policy limits the import.
    instructions, constant_bytes
        Of the function and of what comes along with it.
    locals
        Number of the static functions and constants that come along.
    callees
        What an imported function refers to, in order of first use; what is met several times
        occurs once, where it is nearest.
    """

    name: str
    file: str | None
    imported: bool
    reason: str
    cost: float = 0
    limit: float = 0
    instructions: int = 0
    constant_bytes: int = 0
    locals: int = 0
    callees: tuple[ImportDecision, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def to_json(self) -> dict[str, Any]:
        """Give what JSON can hold, by the names of the attributes."""
        whole: dict[str, Any] = {}
        pending = [(self, whole)]  # no recursion: calls are as deep as a library has functions
        while pending:
            each, data = pending.pop()
            data |= {field.name: getattr(each, field.name) for field in fields(each)}
            below: list[dict[str, Any]] = [{} for _ in each.callees]
            data["callees"] = below
            pending += zip(each.callees, below, strict=True)
        return whole

    def walk(self) -> Iterator[ImportDecision]:
        """Go through this decision and all below."""
        for _, each in self._levels():
            yield each

    def _levels(self) -> Iterator[tuple[int, ImportDecision]]:
        pending = [(0, self)]
        while pending:
            depth, each = pending.pop()
            yield depth, each
            pending += ((depth + 1, callee) for callee in reversed(each.callees))

    def _lines(self) -> Iterator[str]:
        for depth, each in self._levels():
            place = f" ({each.file})" if each.file else ""
            verdict = "imported" if each.imported else "not imported"
            yield f"{'  ' * depth}{each.name}{place}: {verdict}: {each.reason}"


def decision_trees(told: Sequence[_Told]) -> list[ImportDecision]:
    """Make decisions, by function that was asked for, of what the native core tells."""
    below: list[list[ImportDecision]] = [[] for _ in told]
    roots: list[ImportDecision] = []
    for number in reversed(range(len(told))):  # callees come after their callers
        parent = told[number][1]
        made = _decision(told[number], tuple(reversed(below[number])))
        (roots if parent < 0 else below[parent]).append(made)
    return roots[::-1]


def _decision(told: _Told, callees: tuple[ImportDecision, ...]) -> ImportDecision:
    name, _, file, limit, cost, instructions, constant_bytes, local, obstacle = told
    return ImportDecision(
        name,
        file,
        not obstacle,
        obstacle or _reason(instructions, cost, limit, local),
        cost,
        limit,
        instructions,
        constant_bytes,
        local,
        callees,
    )


def _reason(instructions: int, cost: float, limit: float, local: int) -> str:
    along = f", {local} static functions and constants counted in" if local else ""
    if limit:
        return f"it costs {cost:g} of at most {limit:g} instructions{along}"
    return f"copied with its {instructions} instructions{along}"
