"""``python -m benchmarks.sql.first_use FOLDER hive|files``: queries of a process that is new."""

from __future__ import annotations

import json
import sys
from time import perf_counter
from typing import Any, Final

import pyarrow as pa
import pyarrow.dataset as ds

__all__ = ["AGGREGATE"]

AGGREGATE: Final = "SELECT sum(a * 2 + key), avg(f), count(*) FROM t WHERE a % 3 = 1 AND f < 900.5"
_PROJECTION: Final = "SELECT a * 2 + key AS x, f / 2 AS y FROM t WHERE a % 3 = 1 AND f < 900.5"
_SCHEMA = pa.schema([("a", pa.int64()), ("f", pa.float64()), ("key", pa.int32())])


def _open(folder: str) -> Any:
    partitioning = ds.partitioning(pa.schema([("key", pa.int32())]), flavor="hive")
    return ds.dataset(folder, schema=_SCHEMA, partitioning=partitioning)


def _measure(folder: str, kind: str) -> dict[str, float]:
    import twinjit.sql as sql

    if kind == "files":
        data, text = ds.dataset(folder, schema=_SCHEMA), AGGREGATE.replace(" + key", "")
    else:
        data, text = _open(folder), AGGREGATE
    found = sql.query(text, t=data, jit="force").explain(analyze=True).to_data()
    times = found["milliseconds"]
    start = perf_counter()
    sql.query(text, t=data).to_table()
    again = (perf_counter() - start) * 1000
    if kind == "files":
        return {"compiled": found["kernels"]["compiled"]}
    # Fragments are known by now, in either case, and the query is another one.
    start = perf_counter()
    sql.query(_PROJECTION, t=data).to_reader().read_next_batch()
    return {
        "compile_ms": times["generate"] + times["compile"],
        "compiled": found["kernels"]["compiled"],
        "again_ms": again,
        "first_row_ms": (perf_counter() - start) * 1000,
    }


if __name__ == "__main__":
    print(json.dumps(_measure(*sys.argv[1:])))
