"""What threads gain, and what isolation, contexts and cancellation cost.

The figures are those of the modules in this folder, each described where it is measured.
"""

from __future__ import annotations

from benchmarks.harness import Figures
from benchmarks.parallel import cancelling, contexts, flight, isolation, threads

__all__ = ["run"]

_PARTS = (
    threads.threads,
    flight.single_flight,
    contexts.contexts,
    isolation.isolation,
    cancelling.cancelling,
)


def run(*, quick: bool) -> Figures:
    """Measure one part after the other."""
    figures: dict[str, float | str] = {}
    for part in _PARTS:
        figures.update(part(quick=quick))
    return figures
