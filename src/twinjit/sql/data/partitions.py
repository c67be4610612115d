"""Partitions of inputs: where batches of one physical schema come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pyarrow as pa

from twinjit.errors import QueryError
from twinjit.sql.data.ranges import Range

__all__ = ["Partition", "RowGroup", "no_row_groups", "reading", "rows_alone"]


@dataclass(frozen=True)
class RowGroup:
    """Rows of a partition that can be read without the others, and what is known of them."""

    index: int
    rows: int
    ranges: Mapping[str, Range]


def no_row_groups() -> Sequence[RowGroup] | None:
    """Say that there are none."""
    return None


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Raise what Arrow and files raise as a QueryError that tells what was read."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise QueryError(f"{name} cannot be read: {error}", "58030") from error


def rows_alone(rows: int) -> pa.RecordBatch:
    """Make a batch of so many rows without columns, which Arrow cannot count, but for one."""
    return pa.record_batch([pa.nulls(rows)], names=[""])


@dataclass(frozen=True)
class Partition:
    """A part of an input.

    Attributes
    ----------
    name
        For messages: a path, or a number.
    schema
        The physical schema of its batches. Columns may be missing, and of other types than
        the input's.
    constants
        Columns that have one value in all its rows, which batches do not have: of length 1.
    read
        Gives its batches with the columns asked for, in that order, only of the row groups with
        these indices, or of all for None.
    row_groups
        Gives what is known of its row groups, which may mean to open a file; None if there are
        none.
    recipe
        Makes it in another process, to which it can be sent; None where that is not possible.
    """

    name: str
    schema: pa.Schema
    read: Callable[[Sequence[str], Sequence[int] | None], Iterator[pa.RecordBatch]]
    constants: Mapping[str, pa.Scalar] = field(default_factory=dict)
    row_groups: Callable[[], Sequence[RowGroup] | None] = no_row_groups
    recipe: Callable[[], Partition] | None = None
