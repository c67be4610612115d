"""Fragments of datasets as partitions, and what Parquet files tell of their row groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.dataset as datasets

from twinjit.errors import QueryError
from twinjit.sql.arrow_types import sql_type_of
from twinjit.sql.data.partitions import Partition, RowGroup, no_row_groups, rows_alone
from twinjit.sql.data.ranges import Range
from twinjit.sql.data.values import value_of

__all__ = ["file_partition"]


def file_partition(fragment: Any, schema: pa.Schema, number: int) -> Partition:
    """Make a partition of a fragment of a dataset.

    Parameters
    ----------
    fragment
        A `pyarrow.dataset.Fragment`.
    schema
        The dataset's.
    number
        Its place in the dataset, for one without a path.
    """
    keys = datasets.get_partition_keys(fragment.partition_expression)
    constants = {
        name: pa.scalar(value, schema.field(name).type)
        for name, value in keys.items()
        if name in schema.names
    }

    def read(columns: Sequence[str], groups: Sequence[int] | None) -> Iterator[pa.RecordBatch]:
        part = fragment if groups is None else fragment.subset(row_group_ids=list(groups))
        yield from _batches(part, columns)

    is_parquet = isinstance(fragment, datasets.ParquetFileFragment)
    return Partition(
        name=getattr(fragment, "path", None) or f"fragment {number}",
        schema=fragment.physical_schema,
        read=read,
        constants=constants,
        row_groups=partial(_row_groups, fragment) if is_parquet else no_row_groups,
        recipe=partial(file_partition, fragment, schema, number),
    )


def _batches(fragment: Any, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    physical = fragment.physical_schema
    try:
        if columns:
            # With the file's own schema, columns keep the types that they have in it.
            yield from fragment.to_batches(
                schema=physical, columns=list(columns), use_threads=False
            )
        elif rows := fragment.count_rows():
            yield rows_alone(rows)
    except (OSError, pa.ArrowException) as error:
        path = getattr(fragment, "path", "a fragment")
        raise QueryError(f"{path} cannot be read: {error}", "58030") from error


def _row_groups(fragment: Any) -> Sequence[RowGroup]:
    # The fragment may be of some row groups of its file only.
    return [
        RowGroup(group.id, group.num_rows, _ranges(fragment.metadata.row_group(group.id), fragment))
        for group in fragment.row_groups
    ]


def _ranges(metadata: Any, fragment: Any) -> Mapping[str, Range]:
    ranges = {}
    for index in range(metadata.num_columns):
        column = metadata.column(index)
        name = column.path_in_schema
        place = fragment.physical_schema.get_field_index(name)
        if place >= 0 and column.statistics is not None:
            ranges[name] = _range(column.statistics, fragment.physical_schema.field(place))
    return ranges


def _range(statistics: Any, field: pa.Field) -> Range:
    can_be_null = not statistics.has_null_count or statistics.null_count > 0
    can_have_value = statistics.num_values > 0
    try:
        type_ = sql_type_of(field.type)
    except QueryError:  # of no column that a query can read
        return Range()
    # Of floats, NaN does not count there. Bounds of texts may be cut off, and are bounds still.
    if not statistics.has_min_max or type_.kind in ("float4", "float8"):
        return Range(can_be_null=can_be_null, can_have_value=can_have_value)
    try:
        lowest, highest = (value_of(bound, type_) for bound in (statistics.min, statistics.max))
    except (TypeError, ValueError, ArithmeticError):  # a writer's nonsense, or none that we know
        lowest = highest = None
    return Range(lowest, highest, can_be_null, can_have_value)
