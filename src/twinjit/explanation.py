"""How a program would be looked up, for people to read."""

from __future__ import annotations

from dataclasses import dataclass

from twinjit.key import Key
from twinjit.report import Tier

__all__ = ["Explanation"]


@dataclass(frozen=True)
class Explanation:
    """How a program would be looked up.

    Attributes
    ----------
    key
        Its key, part by part. Without the program's fingerprint where it has none.
    tier
        Where its code would come from now: ``"memory"``, ``"disk"``, ``"shared"``, or
        ``"compiled"`` for a miss.
    direct
        Whether an index leads from the raw program to the key, so that a hit parses nothing.
    uncacheable
        Why it is never cached: the part of it that has no identity, or the pass that reads files;
        empty where it is.
    """

    key: Key
    tier: Tier
    direct: bool
    uncacheable: str = ""

    def __str__(self) -> str:
        parts = [
            f"{name}: {value.hex() if isinstance(value, bytes) else value}"
            for name, value in self.key.parts
        ]
        return "\n".join([*parts, *self._outcome()])

    def _outcome(self) -> list[str]:
        if self.uncacheable:
            return [f"would be compiled each time, without the cache: {self.uncacheable}"]
        direct = "direct" if self.direct else "after parsing"
        found = "a miss" if self.tier == "compiled" else f"a hit in {self.tier}, {direct}"
        return [f"key: {self.key.hex}", f"would be {found}"]
