"""Executing queries: partitions, kernels, modes, limits, and what ends a query early."""

from __future__ import annotations

import datetime
import json
import math
import multiprocessing
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import twinjit
from twinjit.errors import (
    ConfigError,
    ExecutorError,
    QueryCancelledError,
    QueryError,
    QueryTimeoutError,
    SqlError,
)
from twinjit.sql import compile_expression, prepare, query
from twinjit.sql.execution.remote import in_order


@pytest.fixture
def compiler(tmp_path: Path) -> twinjit.Compiler:
    return twinjit.Compiler(cache=tmp_path / "cache")


def numbers(rows: int, start: int = 0) -> pa.Table:
    values = np.arange(start, start + rows)
    return pa.table({"i": pa.array(values, pa.int64()), "f": values * 0.5})


def execution(found: Any) -> dict[str, Any]:
    """Execute a query, and give what it did."""
    data: dict[str, Any] = found.explain(analyze=True).to_data()
    return data


@pytest.fixture
def partitioned(tmp_path: Path) -> Any:
    """64 partitions by key, of one layout."""
    folder = tmp_path / "data"
    for key in range(64):
        (folder / f"key={key}").mkdir(parents=True)
        pq.write_table(numbers(10, 10 * key), folder / f"key={key}" / "part.parquet")
    return ds.dataset(folder, partitioning="hive")


# Partitions and kernels


def test_partitions_of_one_layout_share_a_kernel(
    partitioned: Any, compiler: twinjit.Compiler
) -> None:
    text = "SELECT sum(i * 2 + key) AS s FROM t WHERE f >= 0"
    found = query(text, t=partitioned, jit="force", compiler=compiler)
    assert found.to_table().to_pydict() == {
        "s": [Decimal(2 * sum(range(640)) + 10 * sum(range(64)))]
    }
    kernels = execution(found)["kernels"]
    assert kernels["wanted"] == 1
    assert kernels["generated"] == 0  # since the first execution
    assert kernels["reused"] == 64


def test_a_new_process_compiles_nothing(
    partitioned: Any, compiler: twinjit.Compiler, tmp_path: Path
) -> None:
    text = "SELECT sum(i) FROM t WHERE f > 3"
    first = execution(query(text, t=partitioned, jit="force", compiler=compiler))["kernels"]
    other = twinjit.Compiler(cache=tmp_path / "cache")  # which shares the store alone
    second = execution(query(text, t=partitioned, jit="force", compiler=other))["kernels"]
    assert (first["compiled"], second["compiled"], second["from_store"]) == (1, 0, 1)


def test_pruned_partitions_generate_nothing(partitioned: Any, compiler: twinjit.Compiler) -> None:
    text = "SELECT count(*) FROM t WHERE key = 5 AND i < 0"
    done = execution(query(text, t=partitioned, jit="force", compiler=compiler))
    assert done["tables"]["t"] == {
        "partitions": 64,
        "pruned": 64,
        "row_groups": 1,
        "row_groups_pruned": 1,
    }
    assert done["kernels"]["wanted"] == 0


def test_files_of_other_types_have_kernels_of_their_own(
    tmp_path: Path, compiler: twinjit.Compiler
) -> None:
    schema = pa.schema([("i", pa.int64()), ("f", pa.float64())])
    pq.write_table(numbers(5), tmp_path / "a.parquet")
    narrow = pa.table({"i": pa.array([5, 6], pa.int16()), "f": pa.array([1, None], pa.float32())})
    pq.write_table(narrow, tmp_path / "b.parquet")
    pq.write_table(pa.table({"i": pa.array([7, 8])}), tmp_path / "c.parquet")
    files = [str(tmp_path / f"{name}.parquet") for name in "abc"]
    data = ds.dataset(files, schema=schema)
    text = "SELECT i, f FROM t WHERE i > 3"
    found = query(text, t=data, jit="force", compiler=compiler)
    assert found.to_table().to_pydict() == {
        "i": [4, 5, 6, 7, 8],
        "f": [2.0, 1.0, None, None, None],
    }
    assert execution(found)["kernels"]["wanted"] == 3


def test_other_literals_and_parameters_need_no_other_kernel(compiler: twinjit.Compiler) -> None:
    table = numbers(100)
    prepared = prepare("SELECT count(*) AS n FROM t WHERE i < $1", t=table, jit="force",
                       compiler=compiler)  # fmt: skip
    assert prepared.parameters == ("bigint",)
    counts = [prepared(most, t=table).to_table()["n"][0].as_py() for most in (3, 70, 1000)]
    assert counts == [3, 70, 100]
    query("SELECT count(*) AS n FROM t WHERE i < 50", t=table, jit="force", compiler=compiler)
    assert compiler.stats()["compiled"] == 1


def test_tiny_inputs_compile_nothing(compiler: twinjit.Compiler) -> None:
    done = execution(query("SELECT i + 1 FROM t", t=numbers(100), compiler=compiler))
    assert done["kernels"] == {
        "wanted": 1,
        "generated": 0,
        "compiled": 0,
        "from_store": 0,
        "reused": 0,
        "skipped": 1,
    }
    assert (done["rows_interpreted"], done["rows_compiled"]) == (100, 0)


def test_large_inputs_go_over_to_kernels(compiler: twinjit.Compiler) -> None:
    table = numbers(4_000_000)
    found = query("SELECT sum(f * 2) AS s FROM t WHERE i % 3 = 1", t=table, compiler=compiler)
    done = execution(found)
    assert done["rows_interpreted"] > 0
    assert done["rows_compiled"] + done["rows_interpreted"] == 4_000_000
    off = query("SELECT sum(f * 2) AS s FROM t WHERE i % 3 = 1", t=table, jit="off")
    assert found.to_table() == off.to_table()


def test_infinities_are_no_failures(compiler: twinjit.Compiler) -> None:
    """A kernel takes them for one first, and another kernel does not."""
    table = pa.table({"a": [1.0, math.inf, math.nan, -2.0] * 50_000})
    found = query("SELECT a * a + a AS x FROM t", t=table, jit="force", compiler=compiler)
    values = found.to_table()["x"].to_numpy()
    with np.errstate(invalid="ignore"):
        expected = table["a"].to_numpy() ** 2 + table["a"].to_numpy()
    np.testing.assert_array_equal(values, expected)
    assert execution(found)["kernels"]["wanted"] == 2


# Other processes


@pytest.mark.parametrize(
    "text",
    [
        "SELECT key % 3 AS k, sum(i), avg(f), count(DISTINCT i % 4) FROM t GROUP BY 1 ORDER BY 1",
        "SELECT i, key FROM t WHERE f > 300 ORDER BY i DESC LIMIT 9",
        "SELECT DISTINCT key % 5 AS k FROM t WHERE i > 55",
        "SELECT i / (key - 99) AS x FROM t LIMIT 3",
    ],
)
def test_executors(partitioned: Any, text: str, workers: Any) -> None:
    here = query(text, t=partitioned).to_table()
    assert query(text, t=partitioned, executor=workers).to_table() == here


@pytest.fixture(scope="module")
def workers() -> Any:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


def test_failures_of_executors(partitioned: Any, workers: Any) -> None:
    found = query("SELECT 1 / (key - 40) FROM t", t=partitioned, executor=workers)
    with pytest.raises(SqlError, match="division by zero"):
        found.to_table()
    with pytest.raises(ExecutorError, match="in the memory of this process"):
        query("SELECT i FROM t", t=numbers(3), executor=workers).to_table()
    with pytest.raises(ExecutorError, match="executor is 5"):
        query("SELECT i FROM t", t=numbers(3), executor=5)


def test_parts_that_fail_do_so_in_their_turn() -> None:
    def parts() -> Any:
        yield 1
        yield 2
        raise ValueError("the third")

    with ThreadPoolExecutor(1) as executor:
        results = in_order(executor, lambda part: part, parts(), lambda: None)  # type: ignore[arg-type,return-value]  # numbers for parts
        assert [next(results), next(results)] == [1, 2]
        with pytest.raises(ValueError, match="the third"):
            next(results)


# Results


def test_a_reader_gives_batches_as_they_come() -> None:
    reader = query("SELECT i + 1 AS j FROM t", t=numbers(300_000), threads=1).to_reader()
    assert reader.schema == pa.schema([("j", pa.int64())])
    first = reader.read_next_batch()
    assert first.num_rows < 300_000
    assert first["j"][0].as_py() == 1
    assert first.num_rows + reader.read_all().num_rows == 300_000


def test_a_record_batch_reader_is_read_once() -> None:
    def reader() -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(numbers(10).schema, numbers(10).to_batches())

    found = query("SELECT sum(i) AS s FROM t", t=reader())
    assert found.to_table()["s"][0].as_py() == 45
    with pytest.raises(QueryError, match="can be read once"):
        found.to_table()


def test_without_rows() -> None:
    empty = numbers(0)
    assert query("SELECT i, f FROM t", t=empty).to_table().num_rows == 0
    found = query("SELECT count(*) AS n, sum(i) AS s, max(f) AS m FROM t", t=empty).to_table()
    assert found.to_pydict() == {"n": [0], "s": [None], "m": [None]}
    assert query("SELECT i, count(*) FROM t GROUP BY i", t=empty).to_table().num_rows == 0
    joined = query("SELECT a.i FROM a JOIN b ON a.i = b.i", a=empty, b=numbers(3)).to_table()
    assert joined.num_rows == 0


def test_threads_and_modes_give_the_same_floats() -> None:
    random = np.random.default_rng(7)
    table = pa.table(
        {"g": random.integers(0, 100, 500_000), "x": random.normal(size=500_000) * 1e6}
    )
    split = pa.concat_tables([table[start : start + 9_999] for start in range(0, 500_000, 9_999)])
    text = "SELECT g, sum(x), avg(x) FROM t GROUP BY g ORDER BY g"
    tables = [
        query(text, t=split, jit=jit, threads=threads).to_table()
        for jit in ("off", "force", "auto")
        for threads in (1, 4)
    ]
    assert all(each == tables[0] for each in tables)


@pytest.mark.parametrize("limit", [0, 1, 7])
def test_limits_end_scans_early(limit: int) -> None:
    batches = iter(numbers(1_000_000).to_batches(max_chunksize=1000))
    taken = []

    def counted() -> Any:
        for batch in batches:
            taken.append(batch.num_rows)
            yield batch

    reader = pa.RecordBatchReader.from_batches(numbers(1).schema, counted())
    found = query(f"SELECT i FROM t LIMIT {limit} OFFSET 2", t=reader, threads=1).to_table()
    assert found["i"].to_pylist() == list(range(2, 2 + limit))
    assert len(taken) < 5


@pytest.mark.parametrize(("clause", "sqlstate"), [("LIMIT $1", "2201W"), ("OFFSET $1", "2201X")])
def test_negative_limits(clause: str, sqlstate: str) -> None:
    with pytest.raises(SqlError) as raised:
        query(f"SELECT i FROM t {clause}", t=numbers(3), parameters=[-1]).to_table()
    assert raised.value.sqlstate == sqlstate


# Ends


@pytest.mark.parametrize("jit", ["off", "force", "auto"])
def test_deadlines(jit: Any) -> None:
    table = numbers(8_000_000)
    text = f"SELECT sum(i % 7 {'+ i % 11 ' * 40}) FROM t GROUP BY i"
    start = time.monotonic()
    with pytest.raises(QueryTimeoutError, match=r"0\.05 seconds"):
        query(text, t=table, jit=jit, timeout=0.05).to_table()
    assert time.monotonic() - start < 20


def test_cancelling() -> None:
    found = query("SELECT sum(i) FROM t GROUP BY i", t=numbers(20_000_000), jit="off")
    timer = threading.Timer(0.05, found.cancel)
    timer.start()
    with pytest.raises(QueryCancelledError):
        found.to_table()
    timer.join()


def test_a_failure_tells_postgresqls_code() -> None:
    with pytest.raises(SqlError) as raised:
        query("SELECT 1 / (i - 5) FROM t", t=numbers(10), jit="force").to_table()
    assert (raised.value.sqlstate, str(raised.value)) == ("22012", "division by zero")


@pytest.mark.parametrize("jit", ["off", "force"])
def test_long_lists(jit: Any) -> None:
    listed = ", ".join(map(str, range(0, 10_000, 2)))
    found = query(f"SELECT count(*) AS n FROM t WHERE i IN ({listed})", t=numbers(300), jit=jit)
    assert found.to_table()["n"][0].as_py() == 150
    wide = ", ".join(f"i + {n} AS c{n}" for n in range(150))
    assert (
        query(f"SELECT {wide} FROM t", t=numbers(3), jit=jit).to_table()["c149"][2].as_py() == 151
    )


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT {'1 + ' * 3000} i FROM t",
        f"SELECT {'(' * 3000}i{')' * 3000} FROM t",
        f"SELECT {' + '.join(['i'] * 200)} FROM t",
        f"SELECT {'CASE WHEN i = 1 THEN ' * 300}i{' END' * 300} FROM t",
    ],
)
def test_queries_that_are_too_deep(text: str) -> None:
    with pytest.raises(QueryError, match="nested too deep") as raised:
        query(text, t=numbers(3))
    assert raised.value.sqlstate == "54001"


@pytest.mark.parametrize("jit", ["off", "force"])
def test_the_deepest_query(jit: Any) -> None:
    text = f"SELECT {' + '.join(['i'] * 90)} AS x FROM t"
    assert query(text, t=numbers(3), jit=jit).to_table()["x"].to_pylist() == [0, 90, 180]


# What is given


def test_explain() -> None:
    found = query("SELECT f, count(*) FROM t WHERE i > 3 GROUP BY f", t=numbers(10))
    plan = str(found.explain())
    assert "Scan t: i, f" in plan
    assert "kernels" not in plan
    report = found.explain(analyze=True)
    assert "result: 6 rows" in str(report)
    data = json.loads(report.json())
    assert data["rows"] == 6
    assert set(data["milliseconds"]) >= {"plan", "compile", "interpreted", "first_row", "total"}


PARAMETERS = [
    ("i = $1", [4], True),
    ("i = $1", [None], None),
    ("f = $1", [2], True),
    ("f = $1", [Decimal(2)], True),
    ("$1 > date '2024-01-01'", [datetime.date(2025, 1, 1)], True),
    ("$1 > timestamp '2024-01-01'", [datetime.datetime(2023, 1, 1)], False),
    ("$1 LIKE 'a%'", ["abc"], True),
    ("i + 0.5 = $1", [Decimal("4.5")], True),
    ("$1::bool", [np.bool_(True)], True),
]


@pytest.mark.parametrize("jit", ["off", "force"])
@pytest.mark.parametrize(("text", "values", "expected"), PARAMETERS)
def test_parameters(text: str, values: list[object], expected: object, jit: Any) -> None:
    found = query(f"SELECT {text} AS x FROM t", t=numbers(1, 4), parameters=values, jit=jit)
    assert found.to_table()["x"].to_pylist() == [expected]


@pytest.mark.parametrize(
    ("text", "values", "sqlstate"),
    [
        ("i = $1", [], "08P01"),
        ("i = $1", [1, 2], "08P01"),
        ("i = $1", ["1"], "22P02"),
        ("i = $1", [1.0], "22P02"),
        ("i = $1", [True], "22P02"),
        ("i::int2 = $1", [40_000], "22003"),
    ],
)
def test_wrong_parameters(text: str, values: list[object], sqlstate: str) -> None:
    with pytest.raises(QueryError) as raised:
        query(f"SELECT {text} FROM t", t=numbers(1), parameters=values)
    assert raised.value.sqlstate == sqlstate


def test_wrong_options() -> None:
    for options in ({"jit": "on"}, {"threads": 0}, {"timeout": "1"}, {"compiler": 1}):
        with pytest.raises(ConfigError):
            query("SELECT i FROM t", t=numbers(1), **options)  # type: ignore[arg-type]


def test_prepared_queries_check_schemas() -> None:
    prepared = prepare("SELECT i FROM t", t=numbers(1).schema)
    with pytest.raises(QueryError, match="another schema"):
        prepared(t=numbers(1).select(["i"]))
    with pytest.raises(QueryError, match="needs data for table t"):
        prepared()


@pytest.mark.parametrize("jit", ["off", "force", "auto"])
def test_expressions_over_ones_own_batches(jit: Any) -> None:
    compiled = compile_expression("i * $1 + f", numbers(1).schema, parameters=[2], jit=jit)
    assert compiled.type == pa.float64()
    (batch,) = numbers(100).to_batches()
    assert compiled(batch.slice(7)).to_pylist() == [2.5 * each for each in range(7, 100)]
    assert compiled(batch.slice(100)).to_pylist() == []
    wider = batch.add_column(0, "other", pa.nulls(100))
    assert compiled(wider)[3].as_py() == 7.5
    with pytest.raises(QueryError, match="column f is of type string"):
        compiled(pa.record_batch({"i": pa.array([1]), "f": ["x"]}))
    with pytest.raises(QueryError, match="0 columns f"):
        compiled(batch.select(["i"]))
