"""Sorting rows in PostgreSQL's order: NaN above all numbers, nulls where the query says."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from twinjit.sql.plan import Order

__all__ = ["Sorter", "sort"]

_MANY_ROWS = 1 << 20


def sort(table: pa.Table, order: Sequence[Order]) -> pa.Table:
    """Sort rows; those that are equal stay in their order.

    Parameters
    ----------
    order
        By which columns.
    """
    columns: list[pa.ChunkedArray] = []
    directions: list[str] = []
    for each in order:
        column = table.column(each.output)
        # Arrow has one place of nulls for all columns, and NaN beside them, whatever the direction.
        columns.append(pc.is_null(column))
        directions.append("descending" if each.nulls_first else "ascending")
        direction = "descending" if each.is_descending else "ascending"
        if pa.types.is_floating(column.type):
            columns.append(pc.is_nan(column))
            directions.append(direction)
        columns.append(column)
        directions.append(direction)
    names = [str(number) for number in range(len(columns))]
    keys = pa.Table.from_arrays(columns, names=names)
    indices = pc.sort_indices(keys, sort_keys=list(zip(names, directions, strict=True)))
    return table.take(indices)


class Sorter:
    """Sorts batches that come one after the other, keeping no more rows than are wanted.

    Parameters
    ----------
    schema
        Of the batches.
    order
        By which columns.
    most
        How many rows of the result are wanted; None for all.
    """

    def __init__(self, schema: pa.Schema, order: Sequence[Order], most: int | None) -> None:
        self._schema = schema
        self._order = order
        self._most = most
        self._kept: list[pa.RecordBatch] = []
        self._rows = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Take a batch in."""
        self._kept.append(batch)
        self._rows += batch.num_rows
        if self._most is not None and self._rows > max(_MANY_ROWS, 4 * self._most):
            self._kept = self.finish().to_batches()
            self._rows = sum(each.num_rows for each in self._kept)

    def finish(self) -> pa.Table:
        """Give the rows in order."""
        table = sort(pa.Table.from_batches(self._kept, self._schema), self._order)
        return table if self._most is None else table.slice(0, self._most)
