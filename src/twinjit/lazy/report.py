"""What a module's functions cost so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from twinjit.report import FunctionCounts, Tier, describe_timing, timing_of

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
    imported
        Functions of libraries that became part of those that were compiled.
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
    imported: int = 0
    phases: Mapping[str, float] = field(default_factory=dict)
    object_bytes: int = 0

    @property
    def counts(self) -> FunctionCounts:
        """The functions by what was done with them."""
        return FunctionCounts(self.compiled, self.imported, sum(self.hits.values()), self.skipped)

    @property
    def timing(self) -> dict[str, float]:
        """The phases summed up; see `twinjit.report.timing_of`."""
        return timing_of(self.phases)

    def text(self) -> str:
        """Write it in lines, as a database's EXPLAIN writes of its JIT."""
        hits = ", ".join(f"{count} from {tier}" for tier, count in self.hits.items() if count)
        lines = [
            f"Code: {self.object_bytes:,} bytes, of functions as they were called",
            f"Functions: {self.counts}" + (f" ({hits})" if hits else ""),
            f"Timing: {describe_timing(self.phases)}",
        ]
        if self.generated or self.generation_skipped:
            lines.append(f"IR: generated {self.generated} times, {self.generation_skipped} skipped")
        return "\n".join(lines)

    def to_data(self) -> dict[str, Any]:
        """Give what JSON can hold of it: the attributes by name, ``counts`` and ``timing``."""
        hits, phases = dict(self.hits), dict(self.phases)
        summed = {"counts": asdict(self.counts), "timing": self.timing}
        return {**asdict(self), "hits": hits, "phases": phases, **summed}

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
