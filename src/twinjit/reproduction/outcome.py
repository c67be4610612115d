"""What came of compiling a program several times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from twinjit.code_difference import CodeDifference

__all__ = ["Mode", "ModeOutcome", "Reproduction"]

Mode = Literal["again", "fresh", "used", "thread", "process"]
"""Under which circumstances a program is compiled once more; see `reproduce`."""


@dataclass(frozen=True)
class ModeOutcome:
    """What came of compiling a program under some circumstances.

    Attributes
    ----------
    mode
        The circumstances.
    compilations
        Of this program; they end with the first that gave different code.
    seconds
        All that took, other programs included.
    difference
        From the code of the very first compilation; None for none.
    """

    mode: Mode
    compilations: int
    seconds: float
    difference: CodeDifference | None = None

    @property
    def identical(self) -> bool:
        """Whether all gave the same code."""
        return self.difference is None

    def __str__(self) -> str:
        times = "once" if self.compilations == 1 else f"{self.compilations} times"
        if self.difference is None:
            return f"{self.mode:8} identical ({times}, {1e3 * self.seconds:.0f} ms)"
        return f"{self.mode:8} different: {self.difference}"

    def to_data(self) -> dict[str, Any]:
        """Give what JSON can hold of it."""
        return {
            "mode": self.mode,
            "identical": self.identical,
            "compilations": self.compilations,
            "seconds": self.seconds,
            "difference": self.difference and self.difference.to_data(),
        }


@dataclass(frozen=True)
class Reproduction:
    """Whether a program gives the same code whenever and wherever it is compiled.

    Attributes
    ----------
    program
        What messages call it.
    key
        Digest of its key, in hexadecimal. Of a program without an identity it says nothing.
    outcomes
        One for each mode, in their order.
    """

    program: str
    key: str
    outcomes: tuple[ModeOutcome, ...]

    @property
    def identical(self) -> bool:
        """Whether all compilations gave the same code."""
        return all(each.identical for each in self.outcomes)

    @property
    def compilations(self) -> int:
        """How often the program was compiled, the first time included."""
        return 1 + sum(each.compilations for each in self.outcomes)

    @property
    def difference(self) -> CodeDifference | None:
        """The first that was found; None for none."""
        return next((each.difference for each in self.outcomes if each.difference), None)

    def __str__(self) -> str:
        verdict = "identical" if self.identical else "different"
        total = f"{verdict}: {self.program}, compiled {self.compilations} times"
        return "\n".join([*map(str, self.outcomes), total])

    def to_data(self) -> dict[str, Any]:
        """Give what JSON can hold of it."""
        return {
            "program": self.program,
            "key": self.key,
            "identical": self.identical,
            "compilations": self.compilations,
            "outcomes": [each.to_data() for each in self.outcomes],
        }
