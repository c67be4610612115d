"""Inputs of queries: tables, readers and datasets, as partitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import pyarrow as pa

from twinjit.errors import QueryError
from twinjit.forks import held_off
from twinjit.sql.data.files import file_partition
from twinjit.sql.data.partitions import Partition, reading, rows_alone

__all__ = ["ReaderSource", "Source", "open_source"]


class Source(Protocol):
    """An input of a query."""

    @property
    def schema(self) -> pa.Schema:
        """What queries see."""
        ...

    def partitions(self) -> Iterator[Partition]:
        """Give its partitions, in order."""
        ...


class TableSource:
    """A table, or a record batch, in memory: one partition."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    @property
    def schema(self) -> pa.Schema:
        """The table's."""
        return self._table.schema

    def partitions(self) -> Iterator[Partition]:
        """Give the table as one partition."""

        def read(columns: Sequence[str], _: Sequence[int] | None) -> Iterator[pa.RecordBatch]:
            if columns:
                yield from self._table.select(list(columns)).to_batches()
            elif self._table.num_rows:
                yield rows_alone(self._table.num_rows)

        yield Partition("table", self._table.schema, read)


class ReaderSource:
    """A reader of record batches, which can be read once."""

    def __init__(self, reader: pa.RecordBatchReader) -> None:
        self._reader = reader
        self._is_read = False

    @property
    def schema(self) -> pa.Schema:
        """The reader's."""
        return self._reader.schema

    def partitions(self) -> Iterator[Partition]:
        """Give the one partition that it is.

        Raises
        ------
        QueryError
            When its batches are asked for a second time.
        """

        def read(columns: Sequence[str], _: Sequence[int] | None) -> Iterator[pa.RecordBatch]:
            if self._is_read:
                raise QueryError(
                    "a RecordBatchReader can be read once; give a Table or a dataset to a query "
                    "that is executed again",
                    "55000",
                )
            self._is_read = True
            with reading("the RecordBatchReader"):
                for batch in self._reader:
                    yield batch.select(list(columns)) if columns else rows_alone(batch.num_rows)

        yield Partition("reader", self._reader.schema, read)


class DatasetSource:
    """A dataset: each fragment, as a rule a file, is a partition."""

    def __init__(self, dataset: pa.dataset.Dataset) -> None:
        self._dataset = dataset

    @property
    def schema(self) -> pa.Schema:
        """The dataset's, which its files may differ from."""
        return self._dataset.schema

    def partitions(self) -> Iterator[Partition]:
        """Give the dataset's fragments.

        Raises
        ------
        QueryError
            If it is filtered, which its fragments would not be.
        """
        try:
            fragments = self._dataset.get_fragments()
        except ValueError as error:
            raise QueryError(
                f"{error} Give the dataset without a filter, and the condition to the query",
                "0A000",
            ) from error
        for number, fragment in enumerate(fragments):
            yield file_partition(fragment, self._dataset.schema, number)


def open_source(data: object, name: str) -> Source:
    """Sort what is given as a table of a query.

    Parameters
    ----------
    data
        A `pyarrow.Table`, `RecordBatch`, `RecordBatchReader` or `pyarrow.dataset.Dataset`; or an
        object with ``__arrow_c_stream__``.
    name
        Under which it was given, for messages.

    Raises
    ------
    QueryError
        If it is none of these.
    """
    if isinstance(data, pa.Table):
        return TableSource(data)
    if isinstance(data, pa.RecordBatch):
        return TableSource(pa.Table.from_batches([data]))
    if isinstance(data, pa.RecordBatchReader):
        return ReaderSource(data)
    with held_off():
        import pyarrow.dataset as datasets
    if isinstance(data, datasets.Dataset):
        return DatasetSource(data)
    if hasattr(data, "__arrow_c_stream__"):
        return ReaderSource(pa.RecordBatchReader.from_stream(data))
    raise QueryError(
        f"table {name} is a {type(data).__name__}; give a pyarrow Table, RecordBatch, "
        "RecordBatchReader or dataset",
        "42P01",
    )
