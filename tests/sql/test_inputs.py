"""What is read of inputs: partitions, row groups, columns, and what is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from twinjit.errors import QueryError
from twinjit.sql import query


def counts(text: str, data: Any) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Execute a query; give its rows, and what became of partitions."""
    found = query(text, t=data, jit="off", threads=1)
    scanned: dict[str, int] = found.explain(analyze=True).to_data()["tables"]["t"]
    rows: list[dict[str, Any]] = found.to_table().to_pylist()
    return rows, scanned


def test_keys_of_directories_prune(tmp_path: Path) -> None:
    for year in (2023, 2024):
        for kind in ("a", "b"):
            folder = tmp_path / str(year) / kind
            folder.mkdir(parents=True)
            pq.write_table(pa.table({"n": [1, 2]}), folder / "x.parquet")
    schema = pa.schema([("year", pa.int16()), ("kind", pa.string())])
    data = ds.dataset(tmp_path, partitioning=ds.partitioning(schema))
    rows, scanned = counts("SELECT kind, sum(n) AS s FROM t WHERE year = 2024 GROUP BY kind", data)
    assert rows == [{"kind": "a", "s": 3}, {"kind": "b", "s": 3}]
    assert (scanned["partitions"], scanned["pruned"]) == (4, 2)
    rows, scanned = counts("SELECT count(*) AS c FROM t WHERE kind LIKE 'b%'", data)
    assert rows == [{"c": 4}]
    assert scanned["pruned"] == 0  # nobody looks through LIKE


def test_dictionaries_as_keys(tmp_path: Path) -> None:
    for key in ("x", "y", None):
        name = "__HIVE_DEFAULT_PARTITION__" if key is None else key
        (tmp_path / f"key={name}").mkdir()
        pq.write_table(pa.table({"n": [1]}), tmp_path / f"key={name}" / "0.parquet")
    partitioning = ds.HivePartitioning(
        pa.schema([("key", pa.dictionary(pa.int32(), pa.string()))]),
        dictionaries={"key": pa.array(["x", "y"])},
    )
    data = ds.dataset(tmp_path, partitioning=partitioning)
    rows, _ = counts("SELECT key, count(*) AS c FROM t GROUP BY key ORDER BY key", data)
    assert rows == [{"key": "x", "c": 1}, {"key": "y", "c": 1}, {"key": None, "c": 1}]


def test_statistics_prune_row_groups(tmp_path: Path) -> None:
    table = pa.table({"n": range(100), "s": [f"{n:03}" for n in range(100)]})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=10)
    data = ds.dataset(tmp_path / "x.parquet")
    rows, scanned = counts("SELECT n FROM t WHERE n BETWEEN 37 AND 38", data)
    assert [row["n"] for row in rows] == [37, 38]
    assert (scanned["row_groups"], scanned["row_groups_pruned"]) == (10, 9)
    rows, scanned = counts("SELECT n FROM t WHERE s = '055'", data)
    assert [row["n"] for row in rows] == [55]
    assert scanned["row_groups_pruned"] == 9
    rows, scanned = counts("SELECT n FROM t WHERE n IS NULL", data)
    assert (rows, scanned["pruned"]) == ([], 1)


def test_nan_is_in_no_statistics(tmp_path: Path) -> None:
    table = pa.table({"f": [1.0, float("nan"), 2.0]})
    pq.write_table(table, tmp_path / "x.parquet")
    rows, _ = counts("SELECT count(*) AS c FROM t WHERE f > 1e300", ds.dataset(tmp_path))
    assert rows == [{"c": 1}]


def test_feather_has_no_row_groups(tmp_path: Path) -> None:
    feather.write_feather(pa.table({"n": range(5)}), tmp_path / "x.feather")
    data = ds.dataset(tmp_path, format="feather")
    rows, scanned = counts("SELECT sum(n) AS s FROM t WHERE n > 2", data)
    assert (rows, scanned["row_groups"]) == ([{"s": 7}], 0)


def test_files_without_rows_and_without_columns(tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": pa.array([], pa.int64())}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"n": [1, 2, 3]}), tmp_path / "b.parquet")
    rows, _ = counts("SELECT count(*) AS c FROM t", ds.dataset(tmp_path))
    assert rows == [{"c": 3}]


def test_types_that_may_not_fit(tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": pa.array([1], pa.int32())}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"n": ["x"]}), tmp_path / "b.parquet")
    files = [str(tmp_path / f"{each}.parquet") for each in "ab"]
    data = ds.dataset(files, schema=pa.schema([("n", pa.int32())]))
    with pytest.raises(QueryError, match=r"column n is of type text in .*b\.parquet") as raised:
        counts("SELECT n FROM t", data)
    assert raised.value.sqlstate == "42804"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": list(range(1000))}), tmp_path / "x.parquet")
    data = ds.dataset(tmp_path)
    raw = bytearray((tmp_path / "x.parquet").read_bytes())
    raw[4:400] = bytes(396)
    (tmp_path / "x.parquet").write_bytes(raw)
    with pytest.raises(QueryError, match="cannot be read") as raised:
        counts("SELECT n FROM t", data)
    assert raised.value.sqlstate == "58030"


def test_what_is_no_table() -> None:
    with pytest.raises(QueryError, match="table t is a dict"):
        query("SELECT n FROM t", tables={"t": {"n": [1]}})


def test_objects_with_arrows_interface() -> None:
    class Stream:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return pa.table({"n": [1, 2]}).__arrow_c_stream__(requested_schema)

    assert query("SELECT sum(n) AS s FROM t", t=Stream()).to_table()["s"][0].as_py() == 3
