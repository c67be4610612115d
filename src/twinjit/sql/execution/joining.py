"""Inner hash joins: the rows of one input, looked up by those of the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from twinjit._native import _sql
from twinjit.sql.arrow_types import arrow_type_of
from twinjit.sql.columns import DenseColumn, address_words
from twinjit.sql.data.pieces import Piece
from twinjit.sql.data.scan import Morsel
from twinjit.sql.execution.evaluation import Environment, Evaluator
from twinjit.sql.plan import Input, Plan
from twinjit.sql.rewriting import columns_of, map_operands
from twinjit.sql.tree import And, Column, Expression
from twinjit.sql.types import BOOL

__all__ = ["HashJoin", "JoinConditions"]


class JoinConditions:
    """What of a join's WHERE can be decided before it.

    Attributes
    ----------
    left, right
        Over the columns of one input, counted from 0; None for all rows.
    rest
        Over the columns of both.
    """

    def __init__(self, where: Expression | None, left_columns: int) -> None:
        operands = where.operands if isinstance(where, And) else () if where is None else (where,)
        sides: dict[str, list[Expression]] = {"left": [], "right": [], "rest": []}
        for operand in operands:
            are_left = {column.index < left_columns for column in columns_of(operand)}
            side = "rest" if len(are_left) == 2 else "right" if are_left == {False} else "left"
            sides[side].append(operand)
        self.left = _all_of(sides["left"])
        self.right = _all_of([_moved(each, -left_columns) for each in sides["right"]])
        self.rest = _all_of(sides["rest"])


def _all_of(conditions: Sequence[Expression]) -> Expression | None:
    if len(conditions) > 1:
        return And(tuple(conditions), BOOL)
    return conditions[0] if conditions else None


def _moved(part: Any, by: int) -> Any:
    if isinstance(part, Column):
        return Column(part.index + by, part.type)
    return map_operands(part, lambda operand: _moved(operand, by))


class HashJoin:
    """A join, whose right input is held in memory.

    Parameters
    ----------
    plan
        With a `Join`.
    conditions
        Of the plan.
    right
        The pieces of the right input, which are read here.
    """

    def __init__(
        self,
        environment: Environment,
        plan: Plan,
        conditions: JoinConditions,
        right: Iterable[Piece],
    ) -> None:
        if plan.join is None:
            raise AssertionError("the plan has no join")
        left_keys, right_keys = zip(*plan.join.keys, strict=True)
        left_input, right_input = plan.inputs
        self._stop = environment.stop
        self._left = _Side(environment, left_input, conditions.left, left_keys)
        side = _Side(environment, right_input, conditions.right, right_keys)
        self._table = _sql.JoinTable([key.type.kind for key in right_keys])
        batches: list[pa.RecordBatch] = []
        for keys, batch in (found for piece in right for found in side.of_piece(piece)):
            self._table.build(address_words(keys), batch.num_rows)
            batches.append(batch)
        self._rows = pa.Table.from_batches(batches, side.schema).combine_chunks()

    def over(self, piece: Piece) -> Piece:
        """Make the piece of what comes out of the join for a piece of the left input."""

        def read() -> Iterator[Morsel]:
            for morsel in piece():
                yield from self._joined(morsel)

        return read

    def _joined(self, morsel: Morsel) -> Iterator[Morsel]:
        for keys, batch in self._left.of_morsel(morsel):
            self._stop.check()
            left, right = self._table.probe(address_words(keys), batch.num_rows)
            if len(left):
                rows = self._rows.take(pa.array(right)).combine_chunks()
                columns = [*batch.take(pa.array(left)).columns, *map(_one_chunk, rows.columns)]
                yield Morsel(tuple(columns), len(left))


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


class _Side:
    """An input: its columns and its keys, of rows for which its condition is true."""

    def __init__(
        self,
        environment: Environment,
        input_: Input,
        where: Expression | None,
        keys: Sequence[Expression],
    ) -> None:
        self._count = len(input_.columns)
        columns = [Column(index, type_) for index, type_ in enumerate(input_.types)]
        self._evaluator = Evaluator(environment, where, [*columns, *keys])
        self.schema = pa.schema([(str(each.index), arrow_type_of(each.type)) for each in columns])

    def of_piece(self, piece: Piece) -> Iterator[tuple[list[DenseColumn], pa.RecordBatch]]:
        """Give keys and columns of all rows of a piece."""
        for morsel in piece():
            yield from self.of_morsel(morsel)

    def of_morsel(self, morsel: Morsel) -> Iterator[tuple[list[DenseColumn], pa.RecordBatch]]:
        """Give keys and columns, some rows at a time; texts of keys are valid until the next."""
        for dense in self._evaluator.project(morsel):
            arrays = self._evaluator.arrays(dense)[: self._count]
            yield dense[self._count :], pa.RecordBatch.from_arrays(arrays, schema=self.schema)
