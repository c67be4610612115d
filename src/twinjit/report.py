"""What one call of `compile` did: where the code came from and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Literal

__all__ = ["Clock", "Report", "Tier"]

Tier = Literal["compiled", "disk", "memory", "shared"]


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
        their functions), ``optimise``,
        ``codegen``, ``load``, ``publish``.
    pipeline
        Name of the pipeline, or its text where it has no name; ``"llvm"`` for LLVM IR, which needs
        none.
    object_bytes
        Size of the object code in bytes.
    cached
        Whether the artifact is in a store; False for a program without an identity, and where
        caching is off.
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
