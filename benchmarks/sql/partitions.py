"""What compiling costs as partitions become more, here and in PostgreSQL."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.harness import child
from benchmarks.sql.first_use import AGGREGATE
from benchmarks.sql.postgres import postgres

__all__ = ["partition_figures"]

_ROWS = 40  # of a partition


def _write(folder: Path, partitions: int) -> None:
    """Write a dataset with hive partitions."""
    for key in range(partitions):
        rows = np.arange(_ROWS * key, _ROWS * (key + 1))
        (folder / f"key={key}").mkdir(parents=True)
        table = pa.table({"a": rows, "f": rows % 1000 * 1.0})
        pq.write_table(table, folder / f"key={key}" / "part.parquet")


def _write_layouts(folder: Path) -> None:
    """Write 1,024 files of three layouts in turn."""
    folder.mkdir()
    for number in range(1024):
        rows = np.arange(_ROWS * number, _ROWS * (number + 1))
        types = [(np.int64, np.float64), (np.int32, np.float64), (np.int32, np.float32)]
        of_a, of_f = types[number % 3]
        table = pa.table({"a": rows.astype(of_a), "f": (rows % 1000).astype(of_f)})
        pq.write_table(table, folder / f"{number:04}.parquet")


def _median_of(key: str, done: list[dict[str, float]]) -> float:
    return median(each[key] for each in done)


def partition_figures(*, quick: bool) -> dict[str, float]:
    """Measure."""
    rounds = 3 if quick else 7
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for partitions in (1, 256, 1024):
            _write(Path(folder) / str(partitions), partitions)
        runs: dict[int, list[dict[str, float]]] = {1: [], 256: [], 1024: []}
        for turn in range(rounds):
            for partitions, done in runs.items():
                store = f"{folder}/store-{partitions}-{turn}"
                done.append(_in_new_process(f"{folder}/{partitions}", store, "hive"))
        for name in ("compile_ms", "first_row_ms"):
            few, many = (_median_of(name, runs[partitions]) for partitions in (1, 1024))
            figures |= {f"{name}_1": few, f"{name}_1024": many}
            figures[f"{name.removesuffix('_ms')}_1024_over_1"] = many / few
        figures["ours_total_ms_256"] = _median_of("again_ms", runs[256])
        figures |= _layout_figures(Path(folder))
        figures |= _postgres_figures(rounds)
        ours = _median_of("compile_ms", runs[256])
        figures["pg_jit_over_ours_256"] = figures["pg_jit_ms_256"] / ours
    return figures


def _layout_figures(folder: Path) -> dict[str, float]:
    _write_layouts(folder / "layouts")
    first, second = (
        _in_new_process(str(folder / "layouts"), str(folder / "store"), "files") for _ in range(2)
    )
    return {
        "layouts": 3,
        "kernels_compiled": first["compiled"],
        "kernels_compiled_second_process": second["compiled"],
    }


def _in_new_process(data: str, store: str, kind: str) -> dict[str, float]:
    return child("benchmarks.sql.first_use", data, kind, environment={"TWINJIT_CACHE_DIR": store})


# PostgreSQL


def _postgres_figures(rounds: int) -> dict[str, float]:
    import psycopg

    forced = ["jit_above_cost=0", "jit_inline_above_cost=0", "jit_optimize_above_cost=0"]
    figures: dict[str, float] = {}
    with (
        postgres("max_parallel_workers_per_gather=0", *forced) as address,
        psycopg.connect(address, autocommit=True) as connection,
    ):
        for partitions in (1, 256):
            _fill(connection, partitions)
            found = {
                jit: [_explained(connection, jit) for _ in range(rounds)] for jit in ("on", "off")
            }
            times = [each["JIT"]["Timing"]["Total"] for each in found["on"]]
            figures[f"pg_jit_ms_{partitions}"] = median(times)
            if partitions == 256:
                for name, jit in (("pg_total_jit_ms_256", "on"), ("pg_total_ms_256", "off")):
                    totals = [each["Planning Time"] + each["Execution Time"] for each in found[jit]]
                    figures[name] = median(totals)
    return figures


def _fill(connection: Any, partitions: int) -> None:
    connection.execute(
        "drop table if exists t; create table t (a int8, f float8, key int4) partition by list(key)"
    )
    for key in range(partitions):
        connection.execute(f"create table t{key} partition of t for values in ({key})")
    connection.execute(
        "insert into t select n, n %% 1000, n / %s from generate_series(0, %s) n",
        [_ROWS, _ROWS * partitions - 1],
    )
    connection.execute("analyze t")


def _explained(connection: Any, jit: str) -> Any:
    connection.execute(f"set jit={jit}")
    row = connection.execute(f"explain (analyze, format json) {AGGREGATE}").fetchone()
    return row[0][0]
