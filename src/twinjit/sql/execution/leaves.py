"""What is done with each piece of an input, here or in another process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import pyarrow as pa

from twinjit._native import _sql
from twinjit.sql.arrow_types import arrow_type_of
from twinjit.sql.data.pieces import Piece, pieces
from twinjit.sql.data.scan import Scan
from twinjit.sql.execution.aggregation import Aggregation
from twinjit.sql.execution.evaluation import Environment, Evaluator
from twinjit.sql.execution.ordered import ordered_map
from twinjit.sql.execution.remote import Part, in_order
from twinjit.sql.execution.stopping import QueryStop
from twinjit.sql.options import QueryOptions
from twinjit.sql.plan import Plan
from twinjit.sql.tree import Expression

__all__ = ["Leaf", "output_schema"]


def output_schema(plan: Plan, columns: int | None = None) -> pa.Schema:
    """Give the schema of a plan's first outputs, or of all, hidden ones included."""
    return pa.schema(
        [pa.field(name, arrow_type_of(each.type)) for name, each in plan.outputs[:columns]]
    )


class Leaf:
    """The step of a plan that reads an input: aggregates it, or gives outputs for its rows.

    Parameters
    ----------
    where
        The condition; None for all rows.
    most
        How many rows of a piece are wanted; None for all.

    Attributes
    ----------
    aggregation
        Of a plan that aggregates, or whose outputs are distinct; else None.
    """

    def __init__(
        self, environment: Environment, plan: Plan, where: Expression | None, most: int | None
    ) -> None:
        self._environment = environment
        self._plan = plan
        self._most = most
        outputs = [each for _, each in plan.outputs]
        self.aggregation: Aggregation | None = None
        if plan.keys is not None:
            self.aggregation = Aggregation(environment, where, plan.keys, plan.aggregates)
        elif plan.is_distinct:
            self.aggregation = Aggregation(environment, where, outputs, ())
        else:
            self._evaluator = Evaluator(environment, where, outputs)
            self._schema = output_schema(plan)

    def columns(self, read: Iterable[Piece]) -> list[Any]:
        """Aggregate an input; give the groups' columns."""
        return self._grouped(self._aggregation().run(read))

    def remote_columns(self, found: Iterable[Scan]) -> list[Any]:
        """Do the same with an executor."""
        aggregators = map(_sql.Aggregator.load, self._remote(found))
        return self._grouped(self._aggregation().merged(aggregators))

    def _grouped(self, aggregator: _sql.Aggregator) -> list[Any]:
        return self._aggregation().columns(aggregator)

    def _aggregation(self) -> Aggregation:
        if self.aggregation is None:
            raise AssertionError("the plan does not aggregate")
        return self.aggregation

    def batches(self, read: Iterable[Piece]) -> Iterator[pa.RecordBatch]:
        """Give the outputs of an input's rows."""
        found = ordered_map(self._project, read, self._environment.threads)
        return chain.from_iterable(found)

    def remote_batches(self, found: Iterable[Scan]) -> Iterator[pa.RecordBatch]:
        """Do the same with an executor."""
        return chain.from_iterable(self._remote(found))

    def _project(self, piece: Piece) -> list[pa.RecordBatch]:
        batches: list[pa.RecordBatch] = []
        rows = 0
        for morsel in piece():
            for columns in self._evaluator.project(morsel):
                arrays = self._evaluator.arrays(columns)
                batches.append(pa.RecordBatch.from_arrays(arrays, schema=self._schema))
                rows += batches[-1].num_rows
                if self._most is not None and rows >= self._most:
                    return batches
        return batches

    def _remote(self, found: Iterable[Scan]) -> Iterator[Any]:
        environment = self._environment
        parts = (
            Part.of(self._plan, environment.parameters, environment.jit, self._most, scan)
            for scan in found
        )
        return in_order(environment.executor, evaluate_part, parts, environment.stop.check)

    def of_scan(self, scan: Scan) -> bytes | list[pa.RecordBatch]:
        """Handle a partition whole; give an aggregator that is saved, or batches."""
        read = pieces([scan])
        if self.aggregation is None:
            return [batch for piece in read for batch in self._project(piece)]
        return self.aggregation.merged(map(self.aggregation.of_piece, read)).save()


def evaluate_part(part: Part) -> bytes | list[pa.RecordBatch]:
    """Handle a part where it was sent to."""
    options = QueryOptions(jit=part.jit, threads=1)
    environment = options.environment(part.parameters, QueryStop(None))
    return Leaf(environment, part.plan, part.plan.where, part.most).of_scan(part.scan())
