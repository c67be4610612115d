"""What a query did, and how long it took."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from twinjit.forks import fork_lock
from twinjit.sql.codegen.cache import KernelCounts
from twinjit.sql.data.scan import ScanCounts

__all__ = ["QueryCounts"]


class QueryCounts:
    """Counts and times of one execution; threads may share it.

    Attributes
    ----------
    scans
        By table.
    kernels
        What became of kernels.
    rows_compiled, rows_interpreted
        Rows that kernels and the interpreter handled, of inputs and between steps.
    seconds
        By phase, summed over threads: ``read``, ``compiled``, ``interpreted``, ``wait`` (for
        kernels), ``merge``, ``finish``.
    """

    def __init__(self) -> None:
        self._lock = fork_lock()  # guards the numbers
        self.scans: dict[str, ScanCounts] = {}
        self.kernels = KernelCounts()
        self.rows_compiled = 0
        self.rows_interpreted = 0
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def add_rows(self, rows: int, *, is_compiled: bool) -> None:
        """Count rows that were handled."""
        with self._lock:
            if is_compiled:
                self.rows_compiled += rows
            else:
                self.rows_interpreted += rows

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Count the time of what is done inside."""
        start = perf_counter()
        try:
            yield
        finally:
            elapsed = perf_counter() - start
            with self._lock:
                self.seconds[phase] += elapsed
