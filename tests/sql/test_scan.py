"""What of an input a query reads: which partitions and row groups, and as what."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from twinjit.errors import QueryError
from twinjit.sql.binder import bind_query
from twinjit.sql.data.pieces import pieces
from twinjit.sql.data.scan import Morsel, Scan, ScanCounts, scans
from twinjit.sql.data.sources import open_source
from twinjit.sql.plan import Plan
from twinjit.sql.tree import Value


def planned(text: str, data: object) -> tuple[Plan, Any]:
    source = open_source(data, "t")
    return bind_query(text, {"t": source.schema}), source


def scanned(text: str, data: object, *parameters: Value) -> tuple[list[Scan], ScanCounts]:
    plan, source = planned(text, data)
    counts = ScanCounts()
    return list(scans(source, plan.inputs[0], plan.where, parameters, counts)), counts


def rows_of(found: list[Scan]) -> list[tuple[object, ...]]:
    return [row for scan in found for morsel in scan.morsels() for row in morsel_rows(morsel)]


def morsel_rows(morsel: Morsel) -> list[tuple[object, ...]]:
    columns = [
        [each.as_py()] * morsel.rows if isinstance(each, pa.Scalar) else each.to_pylist()
        for each in morsel.columns
    ]
    return list(zip(*columns, strict=True)) if columns else [()] * morsel.rows


def where(condition: str, data: object, *parameters: Value) -> list[int]:
    """Give the numbers of the partitions that a condition leaves."""
    found, counts = scanned(f"SELECT * FROM t WHERE {condition}", data, *parameters)
    assert counts.pruned == counts.partitions - len(found)
    return [scan.number for scan in found]


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """Write a Parquet file, with the folders of its name."""

    def write(name: str, columns: dict[str, Any], **options: Any) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(columns), path, **options)
        return str(path)

    return write


# Partition keys


@pytest.fixture
def by_year(write: Callable[..., str], tmp_path: Path) -> Any:
    for year in ("2022", "2023", "2024", "__HIVE_DEFAULT_PARTITION__"):
        write(f"year={year}/region=eu/part.parquet", {"i": [1, 2]})
    return ds.dataset(tmp_path, partitioning="hive")


KEY_CONDITIONS = [
    ("year = 2023", [1]),
    ("year >= 2023", [1, 2]),
    ("year <> 2023", [0, 2]),
    ("year IN (2022, 2024)", [0, 2]),
    ("year BETWEEN 2023 AND 2030", [1, 2]),
    ("year IS NULL", [3]),
    ("year IS NOT NULL", [0, 1, 2]),
    ("NOT (year = 2023)", [0, 2]),
    ("year = 2023 OR i = 1", [0, 1, 2, 3]),
    ("year = 2023 AND i = 1", [1]),
    ("year IS DISTINCT FROM 2023", [0, 1, 2, 3]),  # not seen through, and so not pruned
    ("region = 'eu'", [0, 1, 2, 3]),
    ("region > 'eu'", []),
    ("year = 2023.5", []),
    ("year = null", []),
]


@pytest.mark.parametrize(("condition", "left"), KEY_CONDITIONS)
def test_keys_of_hive_partitions(by_year: Any, condition: str, left: list[int]) -> None:
    assert where(condition, by_year) == left


def test_keys_are_columns_that_files_do_not_have(by_year: Any) -> None:
    found, _ = scanned("SELECT region, i, year FROM t WHERE year = 2024", by_year)
    assert found[0].input.columns == ("i", "year", "region")
    assert rows_of(found) == [(1, 2024, "eu"), (2, 2024, "eu")]
    (morsel,) = found[0].morsels()
    assert [isinstance(each, pa.Scalar) for each in morsel.columns] == [False, True, True]
    nothing, _ = scanned("SELECT year FROM t WHERE year IS NULL", by_year)
    assert rows_of(nothing) == [(None,), (None,)]


def test_keys_are_compared_with_parameters(by_year: Any) -> None:
    assert where("year > $1", by_year, 2023) == [2]
    assert where("year > $1", by_year, None) == []


def test_directory_partitions(write: Callable[..., str], tmp_path: Path) -> None:
    for month in ("2024-01-01", "2024-02-01"):
        for shop in ("a", "b"):
            write(f"{month}/{shop}/part.parquet", {"i": [1]})
    keys = pa.schema([("month", pa.date32()), ("shop", pa.string())])
    data = ds.dataset(tmp_path, partitioning=ds.partitioning(keys))
    assert where("month = date '2024-02-01'", data) == [2, 3]
    assert where("month < timestamp '2024-02-01' AND shop = 'b'", data) == [1]
    found, _ = scanned("SELECT month, shop FROM t WHERE shop > 'a' AND month > '2024-01-01'", data)
    assert rows_of(found) == [(datetime.date(2024, 2, 1), "b")]


def test_a_key_is_right_where_a_file_has_the_column_too(
    write: Callable[..., str], tmp_path: Path
) -> None:
    """As for `Dataset.to_table`."""
    write("k=7/part.parquet", {"k": pa.array([99], pa.int32()), "i": [1]})
    data = ds.dataset(tmp_path, partitioning="hive")
    assert rows_of(scanned("SELECT k, i FROM t WHERE k = 7", data)[0]) == [(7, 1)]
    assert where("k = 99", data) == []


def test_keys_of_types_that_expressions_lack(write: Callable[..., str], tmp_path: Path) -> None:
    for key in ("nan", "1.5"):
        write(f"f={key}/d=x/part.parquet", {"i": [1]})
    keys = pa.schema([("f", pa.float64()), ("d", pa.dictionary(pa.int32(), pa.string()))])
    dictionaries = {"d": pa.array(["x"])}
    way = ds.partitioning(keys, flavor="hive", dictionaries=dictionaries)
    data = ds.dataset(tmp_path, partitioning=way)
    # NaN is above all else, which the bounds of floats do not tell.
    assert where("f > 2", data) == [0, 1]
    assert where("d = 'x'", data) == [0, 1]
    assert where("d = 'y'", data) == []
    found, _ = scanned("SELECT f FROM t WHERE d = 'x'", data)
    values = sorted(str(row[0]) for row in rows_of(found))
    assert values == ["1.5", "nan"]


# Row groups


def grouped(write: Callable[..., str], values: Any, rows: int = 2, **options: Any) -> Any:
    return ds.dataset(write("data.parquet", {"x": values}, row_group_size=rows, **options))


def groups(condition: str, data: object, *parameters: Value) -> list[int]:
    """Give the row groups of a file that a condition leaves."""
    found, counts = scanned(f"SELECT x FROM t WHERE {condition}", data, *parameters)
    if not found:
        assert counts.row_groups_pruned == counts.row_groups
        return []
    (scan,) = found
    left = scan.groups if scan.groups is not None else range(counts.row_groups)
    assert counts.row_groups_pruned == counts.row_groups - len(left)
    return list(left)


BIG = Decimal("12345678901234567890123456789012345.678")
GROUPS: list[tuple[Any, str, list[int]]] = [
    (pa.array([1, 2, 3, 4, None, None], pa.int32()), "x > 2", [1]),
    (pa.array([1, 2, 3, 4, None, None], pa.int32()), "x IS NULL", [2]),
    (pa.array([1, 2, 3, 4, None, None], pa.int32()), "x IS NOT NULL", [0, 1]),
    (pa.array([1, 2, 3, 4, None, 9], pa.int32()), "coalesce(x, 0) = 0", [0, 1, 2]),
    (pa.array([1, 2, 3, 4], pa.int16()), "x = 4000000000", []),
    (pa.array([1, 2, 3, 2**32 - 1], pa.uint32()), "x > 2147483647", [1]),
    (pa.array([1, 2, 3, 2**64 - 1], pa.uint64()), "x > 9223372036854775807", [1]),
    (pa.array(["a", "b", "é", "ü"]), "x > 'z'", [1]),
    (pa.array(["a", "b", "é", "ü"], pa.large_string()), "x < 'b'", [0]),
    (pa.array(["a", "b", "é", "ü"]).dictionary_encode(), "x = 'ü'", [1]),
    (pa.array([True, True, False, None]), "x", [0]),
    (pa.array([True, True, False, None]), "x IS UNKNOWN", [1]),
    (pa.array([Decimal("1.25"), Decimal("-3.5"), Decimal(7), Decimal(8)]), "x < 1.25", [0]),
    (pa.array([1, 2, 40_000, 50_000], pa.date32()), "x > '2050-01-01'", [1]),
    (pa.array([0, 1, 2, 3], pa.timestamp("s")), "x >= '1970-01-01 00:00:03'", [1]),
    (pa.array([0, 1, 2, 3], pa.timestamp("us")), "x >= '1970-01-01 00:00:00.000003'", [1]),
]


@pytest.mark.parametrize(("values", "condition", "left"), GROUPS)
def test_statistics_of_row_groups(
    write: Callable[..., str], values: Any, condition: str, left: list[int]
) -> None:
    assert groups(condition, grouped(write, values)) == left


def test_rows_of_pruned_groups_are_not_read(write: Callable[..., str]) -> None:
    data = grouped(write, [1, 2, 3, 4, 5, 6])
    found, _ = scanned("SELECT x FROM t WHERE x = 4", data)
    assert rows_of(found) == [(3,), (4,)]
    cut = [morsel_rows(morsel) for piece in pieces(found) for morsel in piece()]
    assert cut == [[(3,), (4,)]]


@pytest.mark.parametrize("as_integer", [False, True])
def test_bounds_of_more_digits_than_pythons_usual_28(
    write: Callable[..., str], as_integer: bool
) -> None:
    values = pa.array([BIG, BIG + Decimal("0.001"), -BIG, -BIG], pa.decimal128(38, 3))
    data = grouped(write, values, rows=1, store_decimal_as_integer=as_integer)
    unscaled = int(str(BIG).replace(".", ""))
    assert where_parameter(data, "x = $1", unscaled) == [0]
    assert where_parameter(data, "x > $1", unscaled) == [1]
    assert where_parameter(data, "x < $1", unscaled) == [2, 3]


def where_parameter(data: Any, condition: str, value: int) -> list[int]:
    """Compare with a parameter of three digits behind the point."""
    return groups(condition.replace("$1", "$1::numeric(38,3)"), data, value)


def test_nan_is_in_no_statistics(write: Callable[..., str]) -> None:
    data = grouped(write, [1.0, math.nan, 2.0, 3.0, math.nan, math.nan, None, None])
    # Of floats, nulls alone count.
    assert groups("x > 100", data) == [0, 1, 2, 3]
    assert groups("x = 'NaN'", data) == [0, 1, 2, 3]
    assert groups("x IS NULL", data) == [3]


def test_bounds_that_are_cut_off_or_missing(write: Callable[..., str]) -> None:
    """Arrow writes no bounds of texts that are too long for them."""
    long = "a" * 10_000
    assert groups("x = 'zz'", grouped(write, [long, long + "b", "z", "zz"])) == [0, 1]
    without = grouped(write, [1, 2, 3, 4], write_statistics=False)
    assert groups("x = 4", without) == [0, 1]
    assert groups("x IS NULL", without) == [0, 1]


def test_nanoseconds_have_no_bounds_in_pythons_datetime(write: Callable[..., str]) -> None:
    values = pa.array([1, 1_000_000_001], pa.timestamp("ns"))
    data = grouped(write, values, rows=1)
    assert 1 in groups("x > timestamp '1970-01-01 00:00:01'", data)


def test_conditions_on_other_columns_and_joins(write: Callable[..., str]) -> None:
    path = write("two.parquet", {"x": [1, 2, 3, 4], "y": [9, 9, 7, 7]}, row_group_size=2)
    data = ds.dataset(path)
    assert groups("y = 7", data) == [1]
    assert groups("x = 1 OR y = 7", data) == [0, 1]
    assert groups("x > y", data) == []


def test_a_struct_is_not_taken_for_a_column_of_its_path(write: Callable[..., str]) -> None:
    struct = pa.array([{"b": 100}, {"b": 200}])
    data = ds.dataset(write("data.parquet", {"a.b": [1, 2], "a": struct, "c": [1, 2]}))
    found, _ = scanned('SELECT "a.b" FROM t WHERE "a.b" < 50', data)
    assert rows_of(found) == [(1,), (2,)]


# Physical schemas


def test_files_of_other_types_keep_them(write: Callable[..., str]) -> None:
    schema = pa.schema([("i", pa.int64()), ("n", pa.decimal128(20, 4)), ("t", pa.timestamp("us"))])
    one = write("a.parquet", {"i": pa.array([1], pa.int16()), "n": pa.array([5], pa.int32())})
    dates = pa.array([1, 2], pa.date32())
    other = write("b.parquet", {"t": dates, "n": [Decimal("1.5"), None]})
    found, counts = scanned("SELECT i, n, t FROM t", ds.dataset([one, other], schema=schema))
    assert (counts.partitions, counts.pruned) == (2, 0)
    assert rows_of(found) == [
        (1, 5, None),
        (None, Decimal("1.5"), datetime.date(1970, 1, 2)),
        (None, None, datetime.date(1970, 1, 3)),
    ]
    (morsel,) = found[0].morsels()
    assert [each.type for each in morsel.columns] == [pa.int16(), pa.int32(), pa.timestamp("us")]


def test_missing_columns_are_null(write: Callable[..., str]) -> None:
    schema = pa.schema([("i", pa.int64()), ("s", pa.string())])
    paths = [write("a.parquet", {"i": [1]}), write("b.parquet", {"i": [2], "s": ["x"]})]
    data = ds.dataset(paths, schema=schema)
    assert where("s IS NULL", data) == [0]
    assert where("s >= ''", data) == [1]
    assert rows_of(scanned("SELECT s FROM t", data)[0]) == [(None,), ("x",)]


def test_bounds_in_another_type_are_not_compared(write: Callable[..., str]) -> None:
    """A date's bounds are days, and those of the query's timestamps microseconds."""
    path = write("a.parquet", {"t": pa.array([20_000], pa.date32())})
    data = ds.dataset(path, schema=pa.schema([("t", pa.timestamp("us"))]))
    assert where("t > timestamp '2020-01-01'", data) == [0]


UNFIT = [
    (pa.int64(), pa.int32()),
    (pa.float64(), pa.float32()),
    (pa.float32(), pa.int64()),
    (pa.decimal128(10, 3), pa.decimal128(10, 2)),
    (pa.timestamp("us"), pa.timestamp("ms")),
    (pa.timestamp("us"), pa.date32()),
    (pa.string(), pa.int64()),
    (pa.int64(), pa.string()),
]


@pytest.mark.parametrize(("physical", "wanted"), UNFIT)
def test_types_whose_values_may_not_fit(
    write: Callable[..., str], physical: Any, wanted: Any
) -> None:
    path = write("a.parquet", {"x": pa.array([None], physical), "y": [1]})
    data = ds.dataset(path, schema=pa.schema([("x", wanted), ("y", pa.int64())]))
    with pytest.raises(QueryError, match=r"column x is of type .* in .*a\.parquet") as raised:
        scanned("SELECT x FROM t", data)
    assert raised.value.sqlstate == "42804"
    assert rows_of(scanned("SELECT y FROM t", data)[0]) == [(1,)]  # which reads it not


def test_columns_of_one_name() -> None:
    table = pa.table([pa.array([1]), pa.array([2]), pa.array([3])], names=["a", "a", "b"])
    assert rows_of(scanned("SELECT b FROM t", table)[0]) == [(3,)]
    with pytest.raises(QueryError, match="2 columns a") as raised:
        scanned("SELECT * FROM t", table)
    assert raised.value.sqlstate == "42702"


# Morsels


def test_slices_of_morsels() -> None:
    morsel = Morsel((pa.array([1, 2, 3, 4]), pa.scalar("x")), 4)
    assert morsel_rows(morsel.slice(1, 2)) == [(2, "x"), (3, "x")]
    assert morsel_rows(morsel.slice(3, 5)) == [(4, "x")]
    assert morsel_rows(morsel.slice(4, 5)) == []
    assert Morsel((), 7).slice(5, 9).rows == 2
