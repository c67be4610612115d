"""What was decided on the functions of a library, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
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
        return {
            "name": self.name,
            "file": self.file,
            "imported": self.imported,
            "reason": self.reason,
            "cost": self.cost,
            "limit": self.limit,
            "instructions": self.instructions,
            "constant_bytes": self.constant_bytes,
            "locals": self.locals,
            "callees": [each.to_json() for each in self.callees],
        }

    def walk(self) -> Iterator[ImportDecision]:
        """Go through this decision and all below."""
        pending = [self]
        while pending:
            each = pending.pop()
            yield each
            pending += reversed(each.callees)

    def _lines(self, indent: str = "") -> Iterator[str]:
        place = f" ({self.file})" if self.file else ""
        verdict = "imported" if self.imported else "not imported"
        yield f"{indent}{self.name}{place}: {verdict}: {self.reason}"
        for callee in self.callees:
            yield from callee._lines(indent + "  ")


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
