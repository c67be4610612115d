"""Executing a plan: from the batches of its inputs to those of its result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from twinjit._native import _sql
from twinjit.errors import SqlError
from twinjit.sql.data.pieces import Piece, pieces
from twinjit.sql.data.scan import Morsel, Scan, ScanCounts, scans
from twinjit.sql.data.sources import Source
from twinjit.sql.execution.evaluation import Environment
from twinjit.sql.execution.joining import HashJoin, JoinConditions
from twinjit.sql.execution.leaves import Leaf, output_schema
from twinjit.sql.execution.sorting import Sorter
from twinjit.sql.interpreter import Interpreter
from twinjit.sql.plan import Plan
from twinjit.sql.tree import Column, Expression

__all__ = ["Execution", "schema_of"]


def schema_of(plan: Plan) -> pa.Schema:
    """Give the schema of a plan's result."""
    return output_schema(plan, len(plan.outputs) - plan.hidden)


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
        self._schema = output_schema(plan)
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
        most = None if plan.order else self._most
        if environment.executor is not None and plan.join is None:
            leaf = Leaf(environment, plan, plan.where, most)
            found = self._scans(0, plan.where)
            if leaf.aggregation is None:
                return leaf.remote_batches(found)
            return self._finished(leaf.remote_columns(found))
        read, where = self._input()
        leaf = Leaf(environment, plan, where, most)
        if leaf.aggregation is None:
            return leaf.batches(read)
        return self._finished(leaf.columns(read))

    def _finished(self, columns: list[Any]) -> Iterator[pa.RecordBatch]:
        """Give the outputs of groups."""
        plan = self._plan
        if plan.keys is None:  # they are the outputs, and distinct
            return iter((self._batch(columns),))
        is_plain = plan.having is None and not plan.is_distinct
        if is_plain and all(isinstance(each, Column) for each in self._outputs):
            chosen = [columns[each.index] for each in self._outputs if isinstance(each, Column)]
            return iter((self._batch(chosen),))
        groups = Morsel(tuple(columns), len(columns[0]))
        of_groups = replace(plan, keys=None, aggregates=())
        leaf = Leaf(self._environment, of_groups, plan.having, None)
        read: list[Piece] = [lambda: iter((groups,))]
        if leaf.aggregation is None:
            return leaf.batches(read)
        return iter((self._batch(leaf.columns(read)),))

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
        for piece in pieces(self._scans(index, where)):
            self._environment.stop.check()
            yield partial(self._read, piece)

    def _read(self, piece: Piece) -> Iterator[Morsel]:
        """Read a piece, counting the time that takes."""
        morsels = piece()
        while True:
            with self._environment.counts.timed("read"):
                morsel = next(morsels, None)
            if morsel is None:
                return
            yield morsel

    def _scans(self, index: int, where: Expression | None) -> Iterator[Scan]:
        input_ = self._plan.inputs[index]
        environment = self._environment
        counts = environment.counts.scans.setdefault(input_.table, ScanCounts())
        source = self._sources[input_.table]
        return scans(source, input_, where, environment.parameters, counts)
