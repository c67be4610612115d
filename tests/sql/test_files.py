"""Where batches come from: tables, readers, and files of several formats; and what fails there."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from twinjit.errors import QueryError
from twinjit.sql import query
from twinjit.sql.data.partitions import Partition
from twinjit.sql.data.sources import open_source
from twinjit.sql.data.values import value_of
from twinjit.sql.types import BOOL, DATE, FLOAT8, INT8, TEXT, SqlType, numeric, timestamp

TABLE = pa.table({"i": [1, 2, 3], "s": ["a", None, "ü"]})


def partitions(data: object) -> list[Partition]:
    return list(open_source(data, "t").partitions())


def rows(partition: Partition, columns: list[str], groups: list[int] | None = None) -> Any:
    return [row for batch in partition.read(columns, groups) for row in batch.to_pylist()]


def result(text: str, data: object, **options: Any) -> list[tuple[object, ...]]:
    found = query(text, t=data, jit="off", **options).to_table()
    return list(zip(*(column.to_pylist() for column in found.columns), strict=True))


def refused(text: str, data: object, sqlstate: str, **options: Any) -> str:
    with pytest.raises(QueryError) as raised:
        result(text, data, **options)
    assert raised.value.sqlstate == sqlstate
    return str(raised.value)


# In memory


class Stream:
    """What has nothing but a stream of Arrow's C interface."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return TABLE.__arrow_c_stream__(requested_schema)


IN_MEMORY = {
    "table": lambda: TABLE,
    "chunks": lambda: pa.concat_tables([TABLE[:1], TABLE[1:1], TABLE[1:]]),
    "batch": lambda: TABLE.to_batches()[0],
    "reader": lambda: TABLE.to_reader(),
    "stream": Stream,
    "dataset": lambda: ds.dataset(TABLE),
}


@pytest.mark.parametrize("make", IN_MEMORY.values(), ids=IN_MEMORY)
def test_data_in_memory(make: Any) -> None:
    (partition,) = partitions(make())
    assert partition.row_groups() is None
    assert rows(partition, ["s", "i"]) == [
        {"s": "a", "i": 1},
        {"s": None, "i": 2},
        {"s": "ü", "i": 3},
    ]
    (counted,) = partitions(make())
    assert sum(batch.num_rows for batch in counted.read([], None)) == 3
    assert result("SELECT s FROM t WHERE i > 1", make()) == [(None,), ("ü",)]
    assert result("SELECT count(*) FROM t", make()) == [(3,)]


def test_chunks_of_columns_that_do_not_match() -> None:
    table = pa.table(
        {"a": pa.chunked_array([[1], [2, 3]]), "b": pa.chunked_array([["x", "y"], ["z"]])}
    )
    assert result("SELECT a, b FROM t", table) == [(1, "x"), (2, "y"), (3, "z")]


def test_a_reader_is_read_once() -> None:
    (partition,) = partitions(TABLE.to_reader())
    assert len(rows(partition, ["i"])) == 3
    with pytest.raises(QueryError, match="can be read once") as raised:
        rows(partition, ["i"])
    assert raised.value.sqlstate == "55000"
    found = query("SELECT i FROM t WHERE i = 2", t=Stream(), jit="off")
    assert found.to_table().num_rows == 1
    with pytest.raises(QueryError, match="can be read once"):
        found.to_table()


def test_a_reader_that_fails() -> None:
    def broken() -> Iterator[pa.RecordBatch]:
        yield TABLE.to_batches()[0]
        raise OSError("the disk is gone")

    def reader() -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(TABLE.schema, broken())

    assert "the disk is gone" in refused("SELECT i FROM t", reader(), "58030", threads=1)
    assert "the disk is gone" in refused("SELECT i FROM t", reader(), "58030", threads=4)
    assert result("SELECT i FROM t LIMIT 3", reader(), threads=1) == [(1,), (2,), (3,)]


@pytest.mark.parametrize("data", [5, "t.parquet", [TABLE], None, TABLE.schema])
def test_what_is_no_data(data: object) -> None:
    assert "table t is a" in refused("SELECT 1 FROM t", data, "42P01")


# Files


def write(path: Path, table: pa.Table, format_: str) -> Path:
    """Write rows as two row groups, where the format has any."""
    if format_ == "parquet":
        pq.write_table(table, path, row_group_size=2)
    elif format_ == "feather":
        feather.write_feather(table, path, chunksize=2)
    elif format_ == "csv":
        csv.write_csv(table, path)
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
    return path


@pytest.mark.parametrize("format_", ["parquet", "feather", "arrow", "csv"])
def test_formats(tmp_path: Path, format_: str) -> None:
    path = write(tmp_path / "data", TABLE.select(["i"]), format_)
    data = ds.dataset(path, format=format_)
    (partition,) = partitions(data)
    assert partition.name == str(path)
    assert rows(partition, ["i"]) == [{"i": 1}, {"i": 2}, {"i": 3}]
    assert (partition.row_groups() is None) == (format_ != "parquet")
    assert result("SELECT count(*), sum(i) FROM t WHERE i <> 2", data) == [(2, Decimal(4))]
    assert result("SELECT count(*) FROM t", data) == [(3,)]


@pytest.mark.parametrize("format_", ["parquet", "feather", "arrow", "csv"])
def test_files_without_rows(tmp_path: Path, format_: str) -> None:
    path = write(tmp_path / "data", TABLE[:0], format_)
    data = ds.dataset(path, format=format_, schema=TABLE.schema)
    assert result("SELECT i FROM t WHERE i > 1", data) == []
    assert result("SELECT count(*), max(s) FROM t", data) == [(0, None)]


def test_datasets_without_files(tmp_path: Path) -> None:
    assert partitions(ds.dataset([], schema=TABLE.schema)) == []
    assert result("SELECT s FROM t", ds.dataset([], schema=TABLE.schema)) == []
    assert result("SELECT count(*) FROM t", ds.dataset([], schema=TABLE.schema)) == [(0,)]


def test_rows_and_bounds_of_row_groups(tmp_path: Path) -> None:
    (partition,) = partitions(ds.dataset(write(tmp_path / "data", TABLE, "parquet")))
    found = partition.row_groups()
    assert found is not None
    assert [(group.index, group.rows) for group in found] == [(0, 2), (1, 1)]
    first, second = (group.ranges for group in found)
    assert (first["i"].lowest, first["i"].highest, first["i"].can_be_null) == (1, 2, False)
    assert (first["s"].lowest, first["s"].highest, first["s"].can_be_null) == (b"a", b"a", True)
    assert second["s"].lowest == "ü".encode()
    assert rows(partition, ["i"], [1]) == [{"i": 3}]
    assert rows(partition, ["i"], [0]) == [{"i": 1}, {"i": 2}]
    assert [batch.num_rows for batch in partition.read([], [0])] == [2]


def test_fragments_of_some_row_groups(tmp_path: Path) -> None:
    data = ds.dataset(write(tmp_path / "data", TABLE, "parquet"))
    (fragment,) = data.get_fragments()
    parts = fragment.split_by_row_group()
    split = ds.FileSystemDataset(parts, data.schema, data.format, data.filesystem)
    _, last = partitions(split)
    assert [group.index for group in last.row_groups() or ()] == [1]
    assert [batch.num_rows for batch in last.read([], None)] == [1]
    assert result("SELECT count(*) FROM t", split) == [(3,)]
    assert result("SELECT i FROM t WHERE i > 2", split) == [(3,)]
    assert result("SELECT i FROM t", split) == [(1,), (2,), (3,)]


def test_unions(tmp_path: Path) -> None:
    one = ds.dataset(write(tmp_path / "data", TABLE, "parquet"))
    other = ds.dataset(write(tmp_path / "other", TABLE, "feather"), format="feather")
    assert result("SELECT sum(i) FROM t", ds.dataset([one, other])) == [(Decimal(12),)]


@pytest.mark.parametrize("format_", ["csv", "json"])
def test_texts_are_read_as_what_the_dataset_says(tmp_path: Path, format_: str) -> None:
    """Arrow would take them for the integer 7 and the float 1.1."""
    schema = pa.schema([("code", pa.string()), ("price", pa.decimal128(10, 2)), ("no", pa.int8())])
    texts = {"csv": "code,price\n007,1.10\n", "json": '{"code": "007", "price": "1.10"}\n'}
    (tmp_path / "data").write_text(texts[format_])
    data = ds.dataset(tmp_path / "data", format=format_, schema=schema)
    assert result("SELECT code, price, no FROM t", data) == [("007", Decimal("1.10"), None)]
    (tmp_path / "data").write_text(texts[format_].replace("1.10", "x"))
    assert "data cannot be read" in refused("SELECT price FROM t", data, "58030")


# What cannot be read


@pytest.fixture
def broken(tmp_path: Path) -> tuple[Any, Path]:
    """A dataset of two files, and the path of the second, for the test to break."""
    paths = [write(tmp_path / name, TABLE, "parquet") for name in ("a.parquet", "b.parquet")]
    return ds.dataset(list(map(str, paths))), paths[1]


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("content", [None, b"", b"PAR1 and no more PAR1"])
def test_unreadable_files(broken: tuple[Any, Path], content: bytes | None, threads: int) -> None:
    data, path = broken
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    for text in ("SELECT i FROM t", "SELECT count(*) FROM t", "SELECT i FROM t WHERE i = 3"):
        message = refused(text, data, "58030", threads=threads)
        assert message.startswith(f"{path} cannot be read: ")
    # What is before it has enough rows.
    assert result("SELECT i FROM t LIMIT 3", data, threads=threads) == [(1,), (2,), (3,)]


def test_files_that_go_away_later(broken: tuple[Any, Path]) -> None:
    data, path = broken
    _, partition = partitions(data)
    path.unlink()
    with pytest.raises(QueryError, match=r"b\.parquet cannot be read") as raised:
        rows(partition, ["i"])
    assert raised.value.sqlstate == "58030"


def test_damaged_pages(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    table = pa.table({"i": list(range(10_000))})
    pq.write_table(table, path, use_dictionary=False, write_page_checksum=True, compression="none")
    content = bytearray(path.read_bytes())
    content[5_000] ^= 0xFF
    path.write_bytes(content)
    options = ds.ParquetFragmentScanOptions(page_checksum_verification=True)
    data = ds.dataset(path, format=ds.ParquetFileFormat(default_fragment_scan_options=options))
    assert "data.parquet cannot be read" in refused("SELECT sum(i) FROM t", data, "58030")
    assert result("SELECT count(*) FROM t", data) == [(10_000,)]


def test_filtered_datasets_are_refused(tmp_path: Path) -> None:
    """Their fragments would give what the filter drops."""
    data = ds.dataset(write(tmp_path / "data", TABLE, "parquet")).filter(ds.field("i") > 2)
    assert "without a filter" in refused("SELECT i FROM t", data, "0A000")


def test_keys_of_nanoseconds(tmp_path: Path) -> None:
    folder = tmp_path / "t=2024-01-02 03:04:05.123456789"
    folder.mkdir()
    write(folder / "data", TABLE, "parquet")
    keys = ds.partitioning(pa.schema([("t", pa.timestamp("ns"))]), flavor="hive")
    data = ds.dataset(tmp_path, partitioning=keys)
    assert "partition key" in refused("SELECT i FROM t", data, "0A000")


# Values


class Nanoseconds(datetime.datetime):
    """A datetime with what pandas' have beside it."""

    nanosecond = 7


DIGITS = "12345678901234567890123456789012345678"
MOMENT = datetime.datetime(1970, 1, 1, 0, 0, 2)
VALUES: list[tuple[object, SqlType, object]] = [
    (None, INT8, None),
    (pa.scalar(None, pa.int64()), INT8, None),
    (pa.scalar(5, pa.int16()), INT8, 5),
    (pa.scalar("ü"), TEXT, "ü".encode()),
    (pa.array(["x"]).dictionary_encode()[0], TEXT, b"x"),
    (b"\xff", TEXT, b"\xff"),
    (True, BOOL, True),
    (3, FLOAT8, 3.0),
    (pa.scalar(Decimal("1.5"), pa.decimal128(5, 2)), numeric(2), 150),
    (7, numeric(3), 7000),
    (Decimal(f"-{DIGITS[:35]}.{DIGITS[35:]}"), numeric(3), -int(DIGITS)),
    (datetime.date(1970, 1, 3), DATE, 2),
    (datetime.date(1969, 12, 31), timestamp("s"), -86_400),
    (MOMENT, DATE, 0),
    (MOMENT, timestamp("s"), 2),
    (MOMENT, timestamp("ns"), 2_000_000_000),
    (MOMENT.replace(year=1969), timestamp("ms"), -(365 * 86_400 - 2) * 1000),
    (Nanoseconds(1970, 1, 1, 0, 0, 2), timestamp("ns"), 2_000_000_007),
    (pa.scalar(1_000_000_007, pa.timestamp("ns")), timestamp("ns"), 1_000_000_007),
    (pa.scalar(9, pa.timestamp("s")), timestamp("us"), 9_000_000),
]  # fmt: skip


@pytest.mark.parametrize(("scalar", "type_", "value"), VALUES)
def test_values(scalar: object, type_: SqlType, value: object) -> None:
    found = value_of(scalar, type_)
    assert found == value
    assert type(found) is type(value)


NO_VALUES: list[tuple[object, SqlType]] = [
    (Decimal("1.255"), numeric(2)),
    (Decimal("1e-30"), numeric(2)),
    (Decimal("NaN"), numeric(2)),
    (Decimal("Infinity"), numeric(2)),
    ("x", numeric(2)),
    ("x", INT8),
    (MOMENT.replace(microsecond=1), timestamp("ms")),
    (Nanoseconds(1970, 1, 1), timestamp("us")),
    (pa.scalar(1, pa.timestamp("ns")), timestamp("us")),
    (MOMENT.replace(tzinfo=datetime.timezone.utc), timestamp("us")),
]


@pytest.mark.parametrize(("scalar", "type_"), NO_VALUES)
def test_what_is_no_value(scalar: object, type_: SqlType) -> None:
    with pytest.raises((TypeError, ValueError, ArithmeticError)):
        value_of(scalar, type_)
