"""TPC-H's Q1 and Q6 over 1,024 partitions, in two processes: the second compiles nothing.

``python examples/sql_partitions.py [SCALE]``; needs ``twinjit[sql]`` and ``tpchgen-cli``. At scale
factor 0.1, the default, ``lineitem`` has 600,000 rows.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.dataset as ds

from twinjit import sql

PARTITIONS = 1024
QUERIES = {
    "Q6": """
        SELECT sum(l_extendedprice * l_discount) AS revenue FROM lineitem
        WHERE l_shipdate >= date '1994-01-01' AND l_shipdate < date '1995-01-01'
          AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24""",
    "Q1": """
        SELECT l_returnflag, l_linestatus, sum(l_quantity) AS sum_qty,
          sum(l_extendedprice * (1 - l_discount)) AS sum_disc_price,
          sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge,
          avg(l_quantity) AS avg_qty, avg(l_discount) AS avg_disc, count(*) AS count_order
        FROM lineitem WHERE l_shipdate <= date '1998-09-02'
        GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus""",
}


def write(folder: str, scale: str) -> None:
    """Write ``lineitem`` in 1,024 files."""
    beside = Path(sys.executable).with_name("tpchgen-cli")
    program = str(beside) if beside.exists() else shutil.which("tpchgen-cli")
    if program is None:
        raise SystemExit("this example needs tpchgen-cli: pip install tpchgen-cli")
    subprocess.run(
        [program, "parquet", "-s", scale, "--tables=lineitem", f"--parts={PARTITIONS}",
         f"--output-dir={folder}"],
        check=True,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip


def execute(folder: str, process: str) -> None:
    """Execute both queries, and say what that took."""
    lineitem = ds.dataset(f"{folder}/lineitem", format="parquet")
    for name, text in QUERIES.items():
        query = sql.query(text, lineitem=lineitem, jit="force")
        done = query.explain(analyze=True).to_data()
        kernels, times = done["kernels"], done["milliseconds"]
        print(
            f"{name}, {process} process: {done['tables']['lineitem']['partitions']} partitions; "
            f"{kernels['wanted']} kernel wanted, {kernels['compiled']} compiled; "
            f"kernels {times['generate'] + times['compile']:.0f} ms, {times['total']:.0f} ms in all"
        )
        if process == "second":
            for row in query.to_table().to_pylist():
                print("   ", ", ".join(f"{column} {value}" for column, value in row.items()))


def main() -> None:
    """Write the data, and execute the queries in two new processes with a store of their own."""
    scale = sys.argv[1] if len(sys.argv) > 1 else "0.1"
    with tempfile.TemporaryDirectory() as folder:
        write(folder, scale)
        environment = {**os.environ, "TWINJIT_CACHE_DIR": f"{folder}/store"}
        for process in ("first", "second"):
            subprocess.run([sys.executable, __file__, folder, process], check=True, env=environment)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        execute(*sys.argv[1:])
    else:
        main()
