"""SQL over partitioned Arrow data, by compiled kernels; PostgreSQL's semantics.

A query is planned (`binder`), its partitions are pruned (`data`), and what has to be evaluated for
each row is interpreted (`interpreter`) or done by kernels (`codegen`), each of which is compiled
once, whatever partition, query or process comes with it (`execution`).
"""

from __future__ import annotations

from twinjit.sql.expression import CompiledExpression, compile_expression
from twinjit.sql.query import Prepared, Query, prepare, query
from twinjit.sql.query_report import QueryReport

__all__ = [
    "CompiledExpression",
    "Prepared",
    "Query",
    "QueryReport",
    "compile_expression",
    "prepare",
    "query",
]
