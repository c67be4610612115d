"""Where the code of two compilations differs, for people and programs to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["CodeDifference"]


@dataclass(frozen=True)
class CodeDifference:
    """The first difference between what two compilations of one program gave.

    Attributes
    ----------
    part
        ``"outcome"`` where only one of them gave code, ``"key"``, ``"object"``, ``"signatures"``,
        or the name of another section of artifacts.
    what
        What differs, in words.
    section
        In an object file: the section; else empty.
    function
        The function that has the place, as the program calls it; empty where it is in none.
    offset
        Bytes from the section's beginning.
    first, second
        What there is in either: instructions around the place, or bytes, or values; a line each.
        At most as many as help to see it.
    """

    part: str
    what: str
    section: str = ""
    function: str = ""
    offset: int = 0
    first: tuple[str, ...] = ()
    second: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([self.what, *_beside(self.first, self.second)])

    def to_data(self) -> dict[str, Any]:
        """Give what JSON can hold of it, by the names of the attributes."""
        data = asdict(self)
        return {**data, "first": list(self.first), "second": list(self.second)}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> CodeDifference:
        """Make the difference that `to_data` was called on.

        Raises
        ------
        TypeError
            If this is none that it gives.
        """
        lines = {name: tuple(data.get(name, ())) for name in ("first", "second")}
        return cls(**{**data, **lines})


def _beside(first: Sequence[str], second: Sequence[str]) -> Iterator[str]:
    """Show two listings as one: what both begin and end with stands there once."""
    shorter = min(len(first), len(second))
    start = next((at for at in range(shorter) if first[at] != second[at]), shorter)
    most = shorter - start
    end = next((at for at in range(most) if first[-1 - at] != second[-1 - at]), most)
    yield from (f"    {line}" for line in first[:start])
    yield from (f"  - {line}" for line in first[start : len(first) - end])
    yield from (f"  + {line}" for line in second[start : len(second) - end])
    yield from (f"    {line}" for line in first[len(first) - end :])
