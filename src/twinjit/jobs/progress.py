"""A progress bar for many programs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager

from twinjit.executable import Executable
from twinjit.forks import held_off
from twinjit.jobs.mapping import Result

__all__ = ["shown_progress"]


def _ignore(_: Result) -> None:
    pass


@contextmanager
def shown_progress(
    programs: Iterable[object], *, wanted: bool
) -> Iterator[Callable[[Result], None]]:
    """Show on standard error how far programs are, if it is a terminal.

    Yields
    ------
    Callable
        To be called with each result.
    """
    if not (wanted and sys.stderr and sys.stderr.isatty()):
        yield _ignore
        return
    with held_off():
        from rich import progress as rich
        from rich.console import Console
    columns = (
        rich.TextColumn("programs"),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TextColumn("{task.fields[counts]}"),
        rich.TimeElapsedColumn(),
    )
    total = len(programs) if isinstance(programs, Sized) else None
    with rich.Progress(*columns, console=Console(stderr=True)) as bar:
        counted = _Counts()
        task = bar.add_task("programs", total=total, counts=str(counted))

        def note(result: Result) -> None:
            counted.add(result)
            bar.update(task, advance=1, counts=str(counted))

        yield note
        bar.update(task, total=counted.total)


class _Counts:
    """Results by kind. Of programs that shared a compilation, one counts as compiled."""

    def __init__(self) -> None:
        self.total = self._compiled = self._failed = 0
        self._reports: set[int] = set()

    def add(self, result: Result) -> None:
        """Count one."""
        self.total += 1
        if not isinstance(result, Executable):
            self._failed += 1
        elif result.report.tier == "compiled" and id(result.report) not in self._reports:
            self._reports.add(id(result.report))  # the results are kept, and so is this one
            self._compiled += 1

    def __str__(self) -> str:
        hits = self.total - self._compiled - self._failed
        failed = f", {self._failed} failed" if self._failed else ""
        return f"{hits} hits, {self._compiled} compiled{failed}"
