"""How fast rows are handled, one thread each, over the same Arrow tables in memory."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.harness import interleave

__all__ = ["throughput_figures"]

_Q6: Final = """
SELECT sum(l_extendedprice * l_discount) AS revenue FROM lineitem
WHERE l_shipdate >= date '1994-01-01' AND l_shipdate < date '1995-01-01'
  AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24"""
_Q1: Final = """
SELECT l_returnflag, l_linestatus,
  sum(l_quantity) AS sum_qty, sum(l_extendedprice) AS sum_base_price,
  sum(l_extendedprice * (1 - l_discount)) AS sum_disc_price,
  sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge, avg(l_quantity) AS avg_qty,
  avg(l_extendedprice) AS avg_price, avg(l_discount) AS avg_disc, count(*) AS count_order
FROM lineitem WHERE l_shipdate <= date '1998-09-02'
GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus"""
_CHAIN: Final = (
    "SELECT count(*) AS n FROM lineitem"
    " WHERE ((((((((((a + b) * c) - a) * b) + c) * a) - b) * c) + a) * b) > 0.25"
)
_MONEY = ("l_quantity", "l_extendedprice", "l_discount", "l_tax")
_COLUMNS = [*_MONEY, "l_returnflag", "l_linestatus", "l_shipdate"]
_BATCH = 65_536
_CHAIN_ROWS = 1 << 22


def lineitem(scale: float, money: pa.DataType | None = None) -> pa.Table:
    """Make TPC-H's table, of the columns that its first and its sixth query read."""
    generator = Path(sys.executable).with_name("tpchgen-cli")
    program = str(generator) if generator.exists() else shutil.which("tpchgen-cli")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [program or "tpchgen-cli", "parquet", "-s", str(scale), "--tables=lineitem",
             f"--output-dir={folder}"],
            check=True,
            capture_output=True,
        )  # fmt: skip
        table = pq.read_table(f"{folder}/lineitem.parquet", columns=_COLUMNS)
    for place, name in enumerate(_COLUMNS):
        column = table.column(name)
        if money is not None and name in _MONEY:
            table = table.set_column(place, name, column.cast(money))
        elif pa.types.is_string_view(column.type):
            table = table.set_column(place, name, column.cast(pa.string()))
    return table


def throughput_figures(*, quick: bool) -> dict[str, float]:
    """Measure."""
    rounds = 5 if quick else 15
    table = lineitem(0.1 if quick else 1)
    figures: dict[str, float] = {}
    for kind in ("decimal", "float"):
        if kind == "float":
            for place, name in enumerate(_MONEY):
                table = table.set_column(place, name, table.column(name).cast(pa.float64()))
        for name, text in (("q6", _Q6), ("q1", _Q1)):
            figures |= _compared(f"{name}_{kind}", text, table, rounds, {})
    return figures | _chain_figures(rounds)


def _chain_figures(rounds: int) -> dict[str, float]:
    random = np.random.default_rng(1)
    table = pa.table({name: random.random(_CHAIN_ROWS) for name in "abc"})

    def arrow() -> int:
        return sum(_chain_of_arrow(*batch) for batch in table.to_batches(max_chunksize=_BATCH))

    return _compared("chain", _CHAIN, table, rounds, {"arrow": arrow})


def _chain_of_arrow(a: Any, b: Any, c: Any) -> int:
    found = pc.add(a, b)
    for operation, operand in (
        (pc.multiply, c), (pc.subtract, a), (pc.multiply, b), (pc.add, c), (pc.multiply, a),
        (pc.subtract, b), (pc.multiply, c), (pc.add, a), (pc.multiply, b),
    ):  # fmt: skip
        found = operation(found, operand)
    count: int = pc.sum(pc.greater(found, 0.25)).as_py() or 0
    return count


def _compared(
    name: str, text: str, table: pa.Table, rounds: int, others: dict[str, Callable[[], object]]
) -> dict[str, float]:
    """Time a query here, in DuckDB, and otherwise, in turn, after checking the results."""
    import duckdb

    import twinjit.sql as sql

    query = sql.query(text, lineitem=table, jit="force", threads=1)
    with duckdb.connect() as connection:
        connection.execute("SET threads=1")
        connection.register("lineitem", table)

        def other() -> pa.Table:
            return connection.sql(text).to_arrow_table()

        _check(query.to_table(), other())
        pa.set_cpu_count(1)
        ways: dict[str, Callable[[], object]] = {"ours": query.to_table, "duckdb": other, **others}
        once = dict.fromkeys(ways, 1)
        samples = [interleave(ways, rounds=1, repeat=once) for _ in range(rounds)]
    times = {way: median(each[way] for each in samples) for way in ways}
    figures = {f"{way}_ms_{name}": seconds * 1000 for way, seconds in times.items()}
    for way in ways:
        if way != "ours":
            figures[f"{way}_over_ours_{name}"] = median(
                each[way] / each["ours"] for each in samples
            )
    return figures


def _check(ours: pa.Table, theirs: pa.Table) -> None:
    """Refuse figures of results that differ."""
    for our, their in zip(ours.to_pylist(), theirs.to_pylist(), strict=True):
        for name, value in our.items():
            other = their[name]
            is_same = value == other if isinstance(value, str) else _is_close(value, other)
            if not is_same:
                raise RuntimeError(f"{name} is {value} here, and {other} in DuckDB")


def _is_close(value: Any, other: Any) -> bool:
    return abs(float(value) - float(other)) <= 1e-9 * abs(float(other))
