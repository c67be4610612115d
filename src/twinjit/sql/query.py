"""Queries over Arrow data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter

import pyarrow as pa

from twinjit.compiler import Compiler
from twinjit.errors import QueryError
from twinjit.sql.binder import bind_query
from twinjit.sql.data.sources import Source, open_source
from twinjit.sql.execution.evaluation import JitMode
from twinjit.sql.execution.execution import Execution, schema_of
from twinjit.sql.execution.stopping import QueryStop
from twinjit.sql.options import QueryOptions
from twinjit.sql.parameters import parameter_values
from twinjit.sql.plan import Plan
from twinjit.sql.query_report import QueryReport

__all__ = ["Prepared", "Query", "prepare", "query"]


class Query:
    """A query, its parameters and its data; executed each time that its result is asked for.

    Threads may share one, and execute it at once.
    """

    def __init__(
        self,
        plan: Plan,
        sources: Mapping[str, Source],
        parameters: Sequence[object],
        options: QueryOptions,
        planning: float,
    ) -> None:
        self._plan = plan
        self._sources = sources
        self._parameters = parameter_values(parameters, plan.parameters)
        self._options = options
        self._planning = planning
        self._stops: set[QueryStop] = set()

    @property
    def schema(self) -> pa.Schema:
        """The schema of the result."""
        return schema_of(self._plan)

    def to_table(self) -> pa.Table:
        """Execute the query, and give the whole result.

        Raises
        ------
        SqlError
            If an expression fails for a row, as it does in PostgreSQL.
        QueryCancelledError, QueryTimeoutError
            If it was stopped.
        QueryError
            If the data cannot be read, or is not what the query was planned for.
        CompilationError
            If a kernel cannot be compiled.
        """
        return pa.Table.from_batches(self._batches(QueryReport(self._plan)), self.schema)

    def to_reader(self) -> pa.RecordBatchReader:
        """Execute the query as its result is read.

        What `to_table` raises, the reader does. Dropping or closing it ends the query.
        """
        batches = self._batches(QueryReport(self._plan))
        return pa.RecordBatchReader.from_batches(self.schema, batches)

    def cancel(self) -> None:
        """End all executions that are under way, from any thread."""
        for stop in list(self._stops):
            stop.cancel()

    def explain(self, *, analyze: bool = False) -> QueryReport:
        """Say how the query is executed.

        Parameters
        ----------
        analyze
            Execute it, and say what that did, and how long it took.

        Raises
        ------
        SqlError, QueryError, QueryCancelledError, QueryTimeoutError, CompilationError
            As for `to_table`, with `analyze`.
        """
        report = QueryReport(self._plan)
        if analyze:
            for _ in self._batches(report):
                pass
        return report

    def _batches(self, report: QueryReport) -> Iterator[pa.RecordBatch]:
        start = perf_counter()
        stop = QueryStop(self._options.timeout)
        environment = self._options.environment(self._parameters, stop)
        self._stops.add(stop)
        first: float | None = None
        rows = 0
        try:
            for batch in Execution(self._plan, self._sources, environment).batches():
                first = first or perf_counter() - start
                rows += batch.num_rows
                yield batch
        finally:
            self._stops.discard(stop)
            total = perf_counter() - start
            report.finish(environment.counts, rows, self._planning, first or total, total)


class Prepared:
    """A query that is planned once, for any data of its tables' schemas."""

    def __init__(
        self, plan: Plan, schemas: Mapping[str, pa.Schema], options: QueryOptions, planning: float
    ) -> None:
        self._plan = plan
        self._schemas = dict(schemas)
        self._options = options
        self._planning = planning

    @property
    def parameters(self) -> tuple[str, ...]:
        """The types of ``$1``, ``$2`` …, in SQL's words."""
        return tuple(map(str, self._plan.parameters))

    @property
    def schema(self) -> pa.Schema:
        """The schema of the result."""
        return schema_of(self._plan)

    def __call__(
        self, *parameters: object, tables: Mapping[str, object] | None = None, **data: object
    ) -> Query:
        """Give the query for parameters and data.

        Parameters
        ----------
        *parameters
            Values of ``$1``, ``$2`` ….
        tables, **data
            Data for each table, as `query` takes it.

        Raises
        ------
        QueryError
            If a value is of another type, or data of another schema or missing.
        """
        sources = _opened({**(tables or {}), **data})
        for name, schema in self._schemas.items():
            if name not in sources:
                raise QueryError(f"the query needs data for table {name}", "42P01")
            if not sources[name].schema.equals(schema):
                raise QueryError(
                    f"table {name} has another schema than the query was prepared for: "
                    "prepare it for this one",
                    "42804",
                )
        return Query(self._plan, sources, parameters, self._options, self._planning)


def query(
    text: str,
    *,
    parameters: Sequence[object] = (),
    tables: Mapping[str, object] | None = None,
    jit: JitMode = "auto",
    threads: int | None = None,
    timeout: float | None = None,
    compiler: Compiler | None = None,
    executor: object = None,
    **data: object,
) -> Query:
    """Plan a SELECT over Arrow data.

    Parameters
    ----------
    text
        In PostgreSQL's SQL (``docs/sql.md`` lists what is supported).
    parameters
        Values of ``$1``, ``$2`` ….
    tables
        Data of tables by name, also for names that are parameters here.
    jit
        ``"auto"`` to start interpreted, and to compile what is worth it in the background;
        ``"force"`` to compile everything first; ``"off"`` to compile nothing. The results are the
        same.
    threads
        How many pieces of the data are handled at a time; None for one for each core.
    timeout
        Seconds that an execution may take; None for no limit.
    compiler
        What compiles kernels; None for one that all queries without one share.
    executor
        Where partitions of files are handled: a `concurrent.futures.Executor` of processes, or a
        `distributed.Client`; None for here. Kernels are compiled there then.
    **data
        Data of tables: a `pyarrow.Table`, `RecordBatch`, `RecordBatchReader` (which can be read
        once) or `pyarrow.dataset.Dataset`.

    Returns
    -------
    Query
        Nothing of it has been executed.

    Raises
    ------
    QueryError
        If it is no SELECT, names what there is not, has operands of wrong types, or anything that
        is not supported, whose place it tells; or if a parameter is no value of its type.
    ConfigError, ExecutorError
        If an option cannot be used.
    """
    options = QueryOptions(jit, threads, timeout, compiler, executor)
    start = perf_counter()
    sources = _opened({**(tables or {}), **data})
    plan = bind_query(text, {name: each.schema for name, each in sources.items()})
    return Query(plan, sources, parameters, options, perf_counter() - start)


def prepare(
    text: str,
    *,
    tables: Mapping[str, object] | None = None,
    jit: JitMode = "auto",
    threads: int | None = None,
    timeout: float | None = None,
    compiler: Compiler | None = None,
    executor: object = None,
    **schemas: object,
) -> Prepared:
    """Plan a SELECT once, for parameters and data that are given later.

    Parameters
    ----------
    text, jit, threads, timeout, compiler, executor
        As for `query`.
    tables, **schemas
        For each table a `pyarrow.Schema`, or data that has one.

    Raises
    ------
    QueryError, ConfigError, ExecutorError
        As for `query`.
    """
    options = QueryOptions(jit, threads, timeout, compiler, executor)
    start = perf_counter()
    found = {
        name: each if isinstance(each, pa.Schema) else open_source(each, name).schema
        for name, each in {**(tables or {}), **schemas}.items()
    }
    return Prepared(bind_query(text, found), found, options, perf_counter() - start)


def _opened(tables: Mapping[str, object]) -> dict[str, Source]:
    return {name: open_source(data, name) for name, data in tables.items()}
