"""What of an input a query reads: partitions and row groups, without those that cannot matter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from twinjit.errors import QueryError
from twinjit.sql.arrow_types import sql_type_of
from twinjit.sql.data.partitions import Partition
from twinjit.sql.data.ranges import Range, can_be_true
from twinjit.sql.data.sources import Source
from twinjit.sql.data.values import value_of
from twinjit.sql.plan import Input
from twinjit.sql.tree import Expression, Value
from twinjit.sql.types import FLOATS, INTEGERS, UNITS, SqlType

__all__ = ["Morsel", "Scan", "ScanCounts", "scans"]


@dataclass
class ScanCounts:
    """What became of the partitions of an input.

    Attributes
    ----------
    partitions
        Those that were looked at.
    pruned
        Of these, those of which no row was read.
    row_groups, row_groups_pruned
        Those of the other partitions; none where a format has no row groups.
    """

    partitions: int = 0
    pruned: int = 0
    row_groups: int = 0
    row_groups_pruned: int = 0


@dataclass(frozen=True)
class Morsel:
    """Some rows of an input.

    Attributes
    ----------
    columns
        What a plan's `Input` reads, in its order: an array of the physical type, or a scalar where
        all rows of the partition have the same.
    rows
        How many.
    """

    columns: tuple[pa.Array | pa.Scalar, ...]
    rows: int

    def slice(self, start: int, rows: int) -> Morsel:
        """Give at most `rows` rows from `start` on, without copying."""
        columns = tuple(
            each if isinstance(each, pa.Scalar) else each.slice(start, rows)
            for each in self.columns
        )
        return Morsel(columns, max(0, min(rows, self.rows - start)))


@dataclass(frozen=True)
class Scan:
    """A partition that is to be read.

    Attributes
    ----------
    number
        Its place among all partitions of the input.
    groups
        Indices of the row groups that are to be read; None for all.
    """

    number: int
    partition: Partition
    groups: tuple[int, ...] | None
    input: Input
    schema: pa.Schema

    def morsels(self) -> Iterator[Morsel]:
        """Read the rows.

        Raises
        ------
        QueryError
            If a file cannot be read.
        """
        partition = self.partition
        wanted = [name for name in self.input.columns if self._is_read(name)]
        for batch in partition.read(wanted, self.groups):
            read = dict(zip(wanted, batch.columns, strict=False))
            columns = tuple(
                read[name] if name in read else self._constant(name) for name in self.input.columns
            )
            yield Morsel(columns, batch.num_rows)

    def _is_read(self, name: str) -> bool:
        partition = self.partition
        return name not in partition.constants and name in partition.schema.names

    def _constant(self, name: str) -> pa.Scalar:
        if name in self.partition.constants:
            return self.partition.constants[name]
        return pa.scalar(None, self.schema.field(name).type)


def scans(
    source: Source,
    input_: Input,
    where: Expression | None,
    parameters: Sequence[Value],
    counts: ScanCounts,
) -> Iterator[Scan]:
    """Give the partitions of an input that can have rows for which a condition is true.

    Parameters
    ----------
    where
        Over the columns of the input; None for all rows.
    counts
        To which what is found is added.
    """
    for number, partition in enumerate(source.partitions()):
        _check_types(partition, input_)
        counts.partitions += 1
        pruning = _Pruning(partition, input_, where, parameters)
        if not pruning.keeps_partition():
            counts.pruned += 1
            continue
        groups = pruning.kept_groups(counts)
        if groups == ():
            counts.pruned += 1
        else:
            yield Scan(number, partition, groups, input_, source.schema)


class _Pruning:
    def __init__(
        self,
        partition: Partition,
        input_: Input,
        where: Expression | None,
        parameters: Sequence[Value],
    ) -> None:
        self._partition = partition
        self._input = input_
        self._where = where
        self._parameters = parameters
        self._known = {
            index: known
            for index, (name, type_) in enumerate(zip(input_.columns, input_.types, strict=True))
            if (known := _known_range(partition, name, type_))
        }

    def keeps_partition(self) -> bool:
        return self._keeps({})

    def kept_groups(self, counts: ScanCounts) -> tuple[int, ...] | None:
        groups = self._partition.row_groups() if self._where else None
        if groups is None:
            return None
        kept = tuple(group.index for group in groups if self._keeps(group.ranges))
        counts.row_groups += len(groups)
        counts.row_groups_pruned += len(groups) - len(kept)
        return None if len(kept) == len(groups) else kept

    def _keeps(self, ranges: Mapping[str, Range]) -> bool:
        if self._where is None:
            return True
        known = dict(self._known)
        for index, (name, type_) in enumerate(
            zip(self._input.columns, self._input.types, strict=True)
        ):
            if index not in known and name in ranges and self._has_type(name, type_):
                known[index] = ranges[name]
        return can_be_true(self._where, known, self._parameters)

    def _has_type(self, name: str, type_: SqlType) -> bool:
        """Whether a file writes values as the query does."""
        found: SqlType = sql_type_of(self._partition.schema.field(name).type)
        return found == type_


def _known_range(partition: Partition, name: str, type_: SqlType) -> Range | None:
    if name in partition.constants:
        try:
            return Range.of(value_of(partition.constants[name], type_))
        except (TypeError, ValueError, ArithmeticError):  # whoever reads it finds out
            return None
    return None if name in partition.schema.names else Range.of(None)


def _check_types(partition: Partition, input_: Input) -> None:
    """Refuse a file in which a column is of a type whose values may not fit the query's."""
    for name, type_ in zip(input_.columns, input_.types, strict=True):
        if name in partition.constants or name not in partition.schema.names:
            continue
        if (times := partition.schema.names.count(name)) > 1:
            raise QueryError(f"{partition.name} has {times} columns {name}", "42702")
        found = sql_type_of(partition.schema.field(name).type)
        if not _fits(found, type_):
            raise QueryError(
                f"column {name} is of type {found} in {partition.name}, and {type_} in the query: "
                "give the dataset a schema with a type that holds both",
                "42804",
            )


def _fits(found: SqlType, wanted: SqlType) -> bool:
    """Whether each value of one type is one of another, but for what 128 or 64 bits do not hold."""
    if found.kind == wanted.kind:
        is_finer = UNITS.index(wanted.unit) >= UNITS.index(found.unit)
        return wanted.scale >= found.scale and is_finer
    if wanted.kind == "numeric":
        return found.kind in INTEGERS
    if found.kind == "date":
        return wanted.kind == "timestamp"
    return any(
        found.kind in chain and wanted.kind in chain[chain.index(found.kind) :]
        for chain in (INTEGERS, FLOATS)
    )
