"""Inputs cut into pieces, each of which a thread handles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from twinjit.sql.data.scan import Morsel, Scan

__all__ = ["Piece", "pieces"]

Piece = Callable[[], Iterator[Morsel]]
"""Reads rows."""

_MOST_ROWS = 1 << 20
"""Rows of a morsel. Floats are summed up in each morsel, and the sums then, so that the result
depends on this and not on threads."""


def pieces(scans: Iterable[Scan]) -> Iterator[Piece]:
    """Cut partitions up: files by row groups, where they have any, all else by batches.

    What has no row groups is read where the pieces are asked for.
    """
    for scan in scans:
        groups = scan.groups
        if groups is None:
            known = scan.partition.row_groups()
            groups = None if known is None else tuple(group.index for group in known)
        if groups is None:
            for morsel in _split(scan.morsels()):
                yield lambda morsel=morsel: iter((morsel,))  # type: ignore[misc]  # mypy wants one without a default
        else:
            for group in groups:
                part = replace(scan, groups=(group,))
                yield lambda part=part: _split(part.morsels())  # type: ignore[misc]  # as above


def _split(morsels: Iterator[Morsel]) -> Iterator[Morsel]:
    for morsel in morsels:
        for start in range(0, morsel.rows, _MOST_ROWS):
            yield morsel.slice(start, _MOST_ROWS) if morsel.rows > _MOST_ROWS else morsel
