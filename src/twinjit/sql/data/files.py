"""Fragments of datasets as partitions, and what Parquet files tell of their row groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.dataset as datasets

from twinjit.errors import QueryError
from twinjit.sql.arrow_types import sql_type_of
from twinjit.sql.data.partitions import (
    Partition,
    RowGroup,
    no_row_groups,
    reading,
    rows_alone,
)
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
    name = getattr(fragment, "path", None) or f"fragment {number}"
    with reading(name):
        physical = _physical_schema(fragment, schema)

    def read(columns: Sequence[str], groups: Sequence[int] | None) -> Iterator[pa.RecordBatch]:
        with reading(name):
            part = fragment if groups is None else fragment.subset(row_group_ids=list(groups))
            yield from _batches(part, physical, columns)

    def row_groups() -> Sequence[RowGroup]:
        with reading(name):
            return _row_groups(fragment, physical)

    return Partition(
        name=name,
        schema=physical,
        read=read,
        constants=_keys(fragment, schema, name),
        row_groups=row_groups if _is(fragment, datasets.ParquetFileFormat) else no_row_groups,
        recipe=partial(file_partition, fragment, schema, number),
    )


def _is(fragment: Any, *formats: type) -> bool:
    return isinstance(fragment, datasets.FileFragment) and isinstance(fragment.format, formats)


def _physical_schema(fragment: Any, schema: pa.Schema) -> pa.Schema:
    found = fragment.physical_schema
    if not _is(fragment, datasets.CsvFileFormat, datasets.JsonFileFormat):
        return found
    # Such files are texts, which are read as what the dataset says.
    return pa.schema([schema.field(each.name) for each in found if each.name in schema.names])


def _keys(fragment: Any, schema: pa.Schema, name: str) -> Mapping[str, pa.Scalar]:
    try:
        keys = datasets.get_partition_keys(fragment.partition_expression)
    except ValueError as error:  # Python's datetime has no nanoseconds
        raise QueryError(f"{name} has a partition key of no use: {error}", "0A000") from error
    return {
        key: pa.scalar(value, schema.field(key).type)
        for key, value in keys.items()
        if key in schema.names
    }


def _batches(fragment: Any, physical: pa.Schema, columns: Sequence[str]) -> Iterator[Any]:
    if columns:
        # With the file's own schema, columns keep the types that they have in it.
        yield from fragment.to_batches(schema=physical, columns=list(columns), use_threads=False)
    elif rows := _count(fragment):
        yield rows_alone(rows)


def _count(fragment: Any) -> int:
    if not _is(fragment, datasets.ParquetFileFormat):
        rows: int = fragment.count_rows()
        return rows
    # pyarrow 26.0.1 counts all rows of the file, also where the fragment is of some row groups.
    return sum(group.num_rows for group in fragment.row_groups)


def _row_groups(fragment: Any, physical: pa.Schema) -> Sequence[RowGroup]:
    # The fragment may be of some row groups of its file only.
    metadata = fragment.metadata
    return [
        RowGroup(group.id, group.num_rows, _ranges(metadata.row_group(group.id), physical))
        for group in fragment.row_groups
    ]


def _ranges(metadata: Any, physical: pa.Schema) -> Mapping[str, Range]:
    columns = [metadata.column(index) for index in range(metadata.num_columns)]
    # A column a.b, and a struct a with a field b, have the same path.
    times = Counter(column.path_in_schema for column in columns)
    ranges = {}
    for column in columns:
        name = column.path_in_schema
        place = physical.get_field_index(name)
        if place >= 0 and times[name] == 1 and column.statistics is not None:
            ranges[name] = _range(column.statistics, physical.field(place))
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
