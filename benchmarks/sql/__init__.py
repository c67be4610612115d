"""SQL over partitions, against PostgreSQL 15 with its JIT forced and off, DuckDB and pyarrow.

PostgreSQL is Debian's, started on a socket in a temporary folder. TPC-H's ``lineitem`` is made by
``tpchgen-cli``, at scale factor 1 (0.1 with ``--quick``).

Figures
-------
``compile_1024_over_1``
    What making kernels takes (IR and code) for one aggregate with a filter over 1,024 partitions,
    over the same for one partition; medians of new processes, each with a store of its own.
``first_row_1024_over_1``
    The same of the time to the first batch of a projection, ``jit="auto"``.
``compile_ms_1``, ``compile_ms_1024``, ``first_row_ms_1``, ``first_row_ms_1024``
    Those medians.
``layouts``, ``kernels_compiled``
    Of data whose 1,024 files have three layouts in turn: how many were reached, and how many
    kernels were compiled for them.
``kernels_compiled_second_process``
    The same of a second process with the store of the first.
``pg_jit_over_ours_256``
    What PostgreSQL says its JIT took for that aggregate over 256 partitions, over what making
    kernels took here. Neither counts loading LLVM and what calls it.
``pg_jit_ms_1``, ``pg_jit_ms_256``, ``pg_total_jit_ms_256``, ``pg_total_ms_256``
    PostgreSQL's JIT, and the whole query with it and without it.
``ours_total_ms_256``
    The whole query here, ``jit="auto"``, planning included, in a process that has executed it.
``duckdb_over_ours_q6_decimal``, ``duckdb_over_ours_q6_float``, and of ``q1``
    TPC-H's queries over the same Arrow table in memory, one thread each, warm; money as decimal128,
    and as float64.
``arrow_over_ours_chain``, ``duckdb_over_ours_chain``
    A filter over a chain of ten operations on float64, one thread each; pyarrow.compute takes
    65,536 rows at a time.
``ours_ms_…``, ``duckdb_ms_…``, ``arrow_ms_chain``
    The medians behind these.
"""

from __future__ import annotations

from benchmarks.harness import Figures

__all__ = ["run"]


def run(*, quick: bool) -> Figures:
    """Measure."""
    from benchmarks.sql.partitions import partition_figures
    from benchmarks.sql.throughput import throughput_figures

    return {**partition_figures(quick=quick), **throughput_figures(quick=quick)}
