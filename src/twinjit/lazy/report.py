"""What a module's functions cost so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from twinjit.report import Tier

__all__ = ["LazyReport"]


@dataclass(frozen=True)
class LazyReport:
    """Account of a module whose functions are compiled when they are called.

    Attributes
    ----------
    functions
        How many there are.
    compiled
        How many were compiled since nobody had their code.
    hits
        How many were found instead, by tier.
    skipped
        How many nobody called (nor speculated on) yet.
    generated
        Calls of what generates IR.
    generation_skipped
        Functions that would be generated, and were not.
    speculated
        How many of those at hand nobody has called yet.
    phases
        Seconds by phase, summed over functions, in all threads: ``generation``, ``extract``,
        ``fingerprint``, ``optimise``, ``codegen``, ``load``.
    object_bytes
        Size of their object code.
    """

    functions: int
    compiled: int
    hits: Mapping[Tier, int]
    skipped: int
    generated: int
    generation_skipped: int
    speculated: int
    phases: Mapping[str, float] = field(default_factory=dict)
    object_bytes: int = 0

    def __str__(self) -> str:
        hits = ", ".join(f"{count} {tier} hits" for tier, count in self.hits.items() if count)
        phases = ", ".join(f"{name} {1e3 * value:.2f} ms" for name, value in self.phases.items())
        return (
            f"{self.functions} functions: {self.compiled} compiled"
            + (f", {hits}" if hits else "")
            + f", {self.skipped} skipped"
            + (f" ({phases})" if phases else "")
            + f"; {self.object_bytes} bytes of object code"
        )
