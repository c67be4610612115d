"""What one call of `compile` did: where the code came from and what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Any, Literal

__all__ = ["Clock", "FunctionCounts", "Report", "Tier", "describe_timing", "timing_of"]

Tier = Literal["compiled", "disk", "memory", "shared"]

# As PostgreSQL's EXPLAIN sums them up, but for loading, which it counts as emission.
_STAGES = {
    "generation": (
        *("generation", "parse", "fingerprint", "passes", "translate", "normalise", "extract"),
    ),
    "import": ("libraries",),
    "optimisation": ("optimise",),
    "emission": ("codegen",),
    "loading": ("load",),
}


@dataclass(frozen=True)
class FunctionCounts:
    """How many functions there are by what was done with them.

    Attributes
    ----------
    generated
        Compiled.
    imported
        Of libraries, and part of what was compiled.
    reused
        Found in a tier instead.
    skipped
        Not compiled, since nobody called them: of lazy programs.
    """

    generated: int = 0
    imported: int = 0
    reused: int = 0
    skipped: int = 0

    def __str__(self) -> str:
        return ", ".join(f"{count} {name}" for name, count in asdict(self).items())


def timing_of(phases: Mapping[str, float]) -> dict[str, float]:
    """Sum phases up.

    Returns
    -------
    dict of str to float
        Seconds of ``generation`` (until there is LLVM IR), ``import`` (of library functions),
        ``optimisation``, ``emission``, ``loading`` and all ``other`` phases, such as waits.
    """
    summed = {
        stage: sum(phases.get(phase, 0.0) for phase in parts) for stage, parts in _STAGES.items()
    }
    return {**summed, "other": max(0.0, sum(phases.values()) - sum(summed.values()))}


def describe_timing(phases: Mapping[str, float]) -> str:
    """Say in one line what `timing_of` gives."""
    timing = timing_of(phases)
    return ", ".join(f"{stage} {1e3 * seconds:.3f} ms" for stage, seconds in timing.items())


@dataclass(frozen=True)
class Report:
    """Account of one call.

    Attributes
    ----------
    tier
        Where the code came from: ``"memory"``, ``"disk"`` or ``"shared"`` for a hit,
        ``"compiled"`` for a miss.
    seconds
        The whole call, in seconds.
    phases
        Seconds by phase, in order; a phase that did not run is absent. ``wait`` (for another
        process or thread that compiles the same text), ``import`` (loading MLIR's library, once in
        a process), ``parse``, ``fingerprint``,
        ``passes`` and ``translate`` (of MLIR), ``normalise`` (of LLVM IR), ``libraries`` (importing
        their functions), ``optimise``, ``codegen``, ``check`` (compiling once more, and
        comparing), ``load``, ``publish``.
    pipeline
        Name of the pipeline, or its text where it has no name; ``"llvm"`` for LLVM IR, which needs
        none.
    object_bytes
        Size of the object code in bytes.
    cached
        Whether the artifact is in a store; False for a program without an identity, and where
        caching is off.
    opt_level
        LLVM's optimisation level.
    functions
        How many the program offers to callers.
    imported
        Functions of libraries that became part of the program.
    promoted
        The report of the optimised code that took this one's place (``tier_up``); None where none
        has.
    """

    tier: Tier
    seconds: float
    phases: Mapping[str, float] = field(default_factory=dict)
    pipeline: str = ""
    object_bytes: int = 0
    cached: bool = True
    opt_level: int = 3
    functions: int = 0
    imported: int = 0
    promoted: Report | None = None

    def __str__(self) -> str:
        phases = ", ".join(f"{name} {1e3 * value:.2f} ms" for name, value in self.phases.items())
        return (
            f"{self.tier} in {1e3 * self.seconds:.3f} ms"
            + (f" ({phases})" if phases else "")
            + f"; {self.object_bytes} bytes of object code; pipeline {self.pipeline}"
            + (f"; {self.imported} functions imported" if self.imported else "")
        )

    @property
    def counts(self) -> FunctionCounts:
        """The functions by what was done with them."""
        if self.tier == "compiled":
            return FunctionCounts(generated=self.functions, imported=self.imported)
        return FunctionCounts(reused=self.functions)

    @property
    def timing(self) -> dict[str, float]:
        """The phases summed up; see `timing_of`."""
        return timing_of(self.phases)

    def text(self) -> str:
        """Write it in lines, as a database's EXPLAIN writes of its JIT."""
        return "\n".join(self._lines())

    def to_data(self) -> dict[str, Any]:
        """Give what JSON can hold of it: the attributes by name, ``counts`` and ``timing``."""
        promoted = self.promoted and self.promoted.to_data()
        return {
            **asdict(self),
            "phases": dict(self.phases),
            "counts": asdict(self.counts),
            "timing": self.timing,
            "promoted": promoted,
        }

    def _lines(self) -> Iterator[str]:
        yield (
            f"Code: {self.tier} in {1e3 * self.seconds:.3f} ms, {self.object_bytes:,} bytes at "
            f"-O{self.opt_level}, pipeline {self.pipeline}, "
            + ("stored" if self.cached else "not stored")
        )
        yield f"Functions: {self.counts}"
        yield f"Timing: {describe_timing(self.phases)}"
        if self.promoted:
            yield "Optimised:"
            yield from (f"  {line}" for line in self.promoted._lines())


class Clock:
    """Times the phases of one call.

    Attributes
    ----------
    start
        When it was made, of `perf_counter`.
    phases
        Seconds by phase, in order.
    spans
        The phases as they came: name, start of `perf_counter`, and seconds.
    """

    def __init__(self) -> None:
        self.start = self._last = perf_counter()
        self.phases: dict[str, float] = {}
        self.spans: list[tuple[str, float, float]] = []

    def lap(self, phase: str) -> None:
        """End a phase that began at the last call of `lap` or `split`."""
        now = perf_counter()
        self.phases[phase] = now - self._last
        self.spans.append((phase, self._last, now - self._last))
        self._last = now

    def split(self, phases: Mapping[str, float]) -> None:
        """Enter phases that were timed elsewhere and end now."""
        self.phases.update(phases)
        for phase, seconds in phases.items():
            self.spans.append((phase, self._last, seconds))
            self._last += seconds
        self._last = perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since this clock was made."""
        return perf_counter() - self.start
