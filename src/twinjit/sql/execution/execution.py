"""Executing a plan: from the batches of its inputs to those of its result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from twinjit._native import _sql
from twinjit.errors import SqlError
from twinjit.sql.arrow_types import arrow_type_of
from twinjit.sql.data.pieces import Piece, pieces
from twinjit.sql.data.scan import Morsel, ScanCounts, scans
from twinjit.sql.data.sources import Source
from twinjit.sql.execution.aggregation import Aggregation
from twinjit.sql.execution.evaluation import Environment, Evaluator
from twinjit.sql.execution.joining import HashJoin, JoinConditions
from twinjit.sql.execution.ordered import ordered_map
from twinjit.sql.execution.sorting import Sorter
from twinjit.sql.interpreter import Interpreter
from twinjit.sql.plan import Plan
from twinjit.sql.tree import Column, Expression

__all__ = ["Execution", "schema_of"]


def schema_of(plan: Plan) -> pa.Schema:
    """Give the schema of a plan's result."""
    return _schema(plan, len(plan.outputs) - plan.hidden)


def _schema(plan: Plan, columns: int) -> pa.Schema:
    return pa.schema(
        [pa.field(name, arrow_type_of(each.type)) for name, each in plan.outputs[:columns]]
    )


class Execution:
    """An execution of a plan.

    Parameters
    ----------
    sources
        By the names that the plan has for tables.
    """

    def __init__(self, plan: Plan, sources: Mapping[str, Source], environment: Environment) -> None:
        self._plan = plan
        self._sources = sources
        self._environment = environment
        self._outputs = [each for _, each in plan.outputs]
        self._schema = _schema(plan, len(plan.outputs))
        self._offset = self._bound(plan.offset, "OFFSET", "2201X") or 0
        limit = self._bound(plan.limit, "LIMIT", "2201W")
        self._most = None if limit is None else limit + self._offset

    def _bound(self, expression: Expression | None, clause: str, sqlstate: str) -> int | None:
        if expression is None:
            return None
        (column,), _ = Interpreter(None, [expression]).run(
            Morsel((), 1), self._environment.parameters, _sql.Arena()
        )
        if not column.validity[0]:
            return None
        bound = int(column.values[0])
        if bound < 0:
            raise SqlError(f"{clause} must not be negative", sqlstate)
        return bound

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Give the result, batch by batch."""
        plan = self._plan
        kept = len(plan.outputs) - plan.hidden
        names = range(kept)
        skip, left = self._offset, self._most
        for batch in self._ordered():
            if left is not None:
                batch = batch.slice(0, left)
                left -= batch.num_rows
            skipped = min(skip, batch.num_rows)
            skip -= skipped
            if skipped < batch.num_rows:
                yield batch.slice(skipped).select(list(names))
            if left == 0:
                return

    def _ordered(self) -> Iterator[pa.RecordBatch]:
        if self._most == 0:
            return
        plan = self._plan
        if not plan.order:
            yield from self._unordered()
            return
        sorter = Sorter(self._schema, plan.order, self._most)
        for batch in self._unordered():
            sorter.add(batch)
        with self._environment.counts.timed("finish"):
            table = sorter.finish()
        yield from table.to_batches()

    def _unordered(self) -> Iterator[pa.RecordBatch]:
        plan, environment = self._plan, self._environment
        read, where = self._input()
        if plan.keys is None:
            yield from self._rows(where, read)
            return
        aggregation = Aggregation(environment, where, plan.keys, plan.aggregates)
        columns = aggregation.columns(aggregation.run(read))
        is_plain = plan.having is None and not plan.is_distinct
        if is_plain and all(isinstance(each, Column) for each in self._outputs):
            chosen = [columns[each.index] for each in self._outputs if isinstance(each, Column)]
            yield self._batch(chosen)
            return
        groups = Morsel(tuple(columns), len(columns[0]))
        yield from self._rows(plan.having, [lambda: iter((groups,))])

    def _rows(self, where: Expression | None, read: Any) -> Iterator[pa.RecordBatch]:
        """Give the outputs of rows."""
        environment = self._environment
        if self._plan.is_distinct:
            distinct = Aggregation(environment, where, self._outputs, ())
            yield self._batch(distinct.columns(distinct.run(read)))
            return
        evaluator = Evaluator(environment, where, self._outputs)
        most = None if self._plan.order else self._most

        def project(piece: Piece) -> list[pa.RecordBatch]:
            batches: list[pa.RecordBatch] = []
            rows = 0
            for morsel in piece():
                for columns in evaluator.project(morsel):
                    batches.append(self._batch(evaluator.arrays(columns)))
                    rows += batches[-1].num_rows
                    if most is not None and rows >= most:
                        return batches
            return batches

        for batches in ordered_map(project, read, environment.threads):
            yield from batches

    def _batch(self, arrays: list[Any]) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    # Inputs

    def _input(self) -> tuple[Iterator[Piece], Expression | None]:
        """Give what rows are read from, and the condition that is left to evaluate."""
        plan = self._plan
        if plan.join is None:
            return self._pieces(0, plan.where), plan.where
        conditions = JoinConditions(plan.where, len(plan.inputs[0].columns))
        right = self._pieces(1, conditions.right)
        join = HashJoin(self._environment, plan, conditions, right)
        return map(join.over, self._pieces(0, conditions.left)), conditions.rest

    def _pieces(self, index: int, where: Expression | None) -> Iterator[Piece]:
        """Read an input, without what cannot have rows for which a condition is true."""
        input_ = self._plan.inputs[index]
        environment = self._environment
        counts = environment.counts.scans.setdefault(input_.table, ScanCounts())
        found = scans(self._sources[input_.table], input_, where, environment.parameters, counts)
        for piece in pieces(found):
            environment.stop.check()
            yield piece
