"""What a diff gives: the differences between two programs, with their places in both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, overload

from blake3 import blake3

__all__ = ["Diff", "Difference", "Kind"]

Kind = Literal["changed", "inserted", "removed", "moved"]

_LONGEST_IN_DATA = 1 << 16
_BEFORE = 40  # characters shown before the first that differs
_SHOWN = 160


class Line(NamedTuple):
    """A value on one side: ``-`` for a, ``+`` for b, nothing for both; and where it was written."""

    sign: str
    value: str
    location: str

    def __str__(self) -> str:
        sign = f"{self.sign} " if self.sign else ""
        return f"{sign}{self.value}{f'  [{self.location}]' if self.location else ''}"


@dataclass(frozen=True)
class Difference:
    """One difference between two programs, called a and b.

    Attributes
    ----------
    kind
        ``"changed"``, ``"inserted"`` (b has it), ``"removed"`` (a has it) or ``"moved"``.
    path_a, path_b
        Where it is in each program, from the outside to the inside, such as ``("@f", "region 0",
        "block 1", "operation 3 (arith.addi)", "operand 1")``; empty where nothing corresponds.
    a, b
        What is there in each program; None where nothing corresponds.
    location_a, location_b
        Where that was written, as ``file:line:column``; empty where unknown.
    note
        What the values do not show, such as which definitions their names stand for.
    """

    kind: Kind
    path_a: tuple[str, ...]
    path_b: tuple[str, ...]
    a: str | None
    b: str | None
    location_a: str = ""
    location_b: str = ""
    note: str = ""

    @property
    def path(self) -> tuple[str, ...]:
        """The path in a, or in b where a has none."""
        return self.path_a or self.path_b

    @property
    def place(self) -> str:
        """The path as text; where the programs' paths differ, both."""
        if not (self.path_a and self.path_b):
            return " / ".join(self.path)
        if len(self.path_a) != len(self.path_b):
            return f"{' / '.join(self.path_a)} → {' / '.join(self.path_b)}"
        return " / ".join(
            one if one == other else f"{one} → {other}"
            for one, other in zip(self.path_a, self.path_b, strict=True)
        )

    @property
    def excerpts(self) -> tuple[str | None, str | None]:
        """The values, of long ones only what is around the first difference."""
        return _excerpts(self.a, self.b)

    def to_data(self) -> dict[str, Any]:
        """Express the difference in JSON.

        A value of more than 65,536 characters is an object: ``length``, ``blake3`` of the text in
        UTF-8, ``differs_at`` (the first character that differs), and ``excerpt``.
        """
        return {
            "kind": self.kind,
            "place": self.place,
            "path_a": list(self.path_a) or None,
            "path_b": list(self.path_b) or None,
            "a": _value_data(self.a, self.b),
            "b": _value_data(self.b, self.a),
            "location_a": self.location_a,
            "location_b": self.location_b,
            "note": self.note,
        }

    @property
    def lines(self) -> tuple[Line, ...]:
        """What is there in each program, line by line, for people."""
        a, b = self.excerpts
        if self.kind == "moved":
            places = dict.fromkeys(filter(None, (self.location_a, self.location_b)))
            return (Line("", a or "", " → ".join(places)),)
        sides = ("-", a, self.location_a), ("+", b, self.location_b)
        return tuple(Line(sign, value, place) for sign, value, place in sides if value is not None)

    def __str__(self) -> str:
        lines = [f"{self.kind} {self.place}", *(f"  {line}" for line in self.lines)]
        return "\n".join([*lines, *([f"  ({self.note})"] if self.note else [])])


class Diff(Sequence[Difference]):
    """All differences between two programs, in the order of the first; true if there are any."""

    def __init__(self, differences: Sequence[Difference] = ()) -> None:
        self._differences = tuple(differences)

    @property
    def counts(self) -> dict[str, int]:
        """How many differences there are of each kind."""
        found = Counter(each.kind for each in self._differences)
        return {kind: found[kind] for kind in ("changed", "inserted", "removed", "moved")}

    def to_data(self) -> dict[str, Any]:
        """Express the diff in JSON."""
        return {
            "equal": not self._differences,
            "counts": self.counts,
            "differences": [each.to_data() for each in self._differences],
        }

    @property
    def summary(self) -> str:
        """The counts in words."""
        counts = ", ".join(f"{count} {kind}" for kind, count in self.counts.items() if count)
        return counts or "no differences"

    def __str__(self) -> str:
        return "\n".join([*map(str, self._differences), self.summary])

    def __repr__(self) -> str:
        return f"<Diff: {self.summary}>"

    def __len__(self) -> int:
        return len(self._differences)

    @overload
    def __getitem__(self, index: int) -> Difference: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Difference]: ...
    def __getitem__(self, index: int | slice) -> Difference | Sequence[Difference]:
        return self._differences[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Diff) and self._differences == other._differences

    def __hash__(self) -> int:
        return hash(self._differences)


def _value_data(value: str | None, other: str | None) -> Any:
    if value is None or len(value) <= _LONGEST_IN_DATA:
        return value
    return {
        "length": len(value),
        "blake3": blake3(value.encode(errors="surrogatepass")).hexdigest(),
        "differs_at": None if other in (None, value) else _first_difference(value, other or ""),
        "excerpt": _excerpts(value, other)[0],
    }


def _excerpts(a: str | None, b: str | None) -> tuple[str | None, str | None]:
    start = 0
    if a is not None and b is not None and max(len(a), len(b)) > _SHOWN:
        start = max(0, _first_difference(a, b) - _BEFORE) if a != b else 0
    return (
        None if a is None else _excerpt(a, start),
        None if b is None else _excerpt(b, start),
    )


def _excerpt(text: str, start: int) -> str:
    if len(text) <= _SHOWN:
        return text
    end = start + _SHOWN
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _first_difference(a: str, b: str) -> int:
    """Return how many characters two texts have in common at the beginning."""
    known, bound = 0, min(len(a), len(b))
    while known < bound:
        middle = (known + bound + 1) // 2
        if a[known:middle] == b[known:middle]:
            known = middle
        else:
            bound = middle - 1
    return known
