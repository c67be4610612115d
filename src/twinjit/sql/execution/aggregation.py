"""GROUP BY and aggregates: rows of an input to one row for each group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from twinjit._native import _sql
from twinjit.sql.columns import DenseColumn, arrow_array
from twinjit.sql.data.pieces import Piece
from twinjit.sql.execution.evaluation import Environment, Evaluator
from twinjit.sql.execution.ordered import ordered_map
from twinjit.sql.failures import Failure, raise_first, raise_if_failed
from twinjit.sql.plan import Aggregate
from twinjit.sql.tree import Case, Constant, Expression
from twinjit.sql.types import BOOL, SqlType

__all__ = ["Aggregation"]


class Aggregation:
    """What is aggregated, and how.

    Each morsel is aggregated by itself, and what comes out is merged in the morsels' order. So
    neither threads nor the way in which rows are handled make a difference to sums of floats.

    Parameters
    ----------
    where
        The condition; None for all rows.
    """

    def __init__(
        self,
        environment: Environment,
        where: Expression | None,
        keys: Sequence[Expression],
        aggregates: Sequence[Aggregate],
    ) -> None:
        self._environment = environment
        self._keys = keys
        self._aggregates = aggregates
        self._arguments = [_argument(each) for each in aggregates]
        outputs = [*keys, *(each for each in self._arguments if each is not None)]
        self._evaluator = Evaluator(environment, where, outputs)

    def new(self) -> _sql.Aggregator:
        """Make an aggregator that has seen no rows."""
        aggregates = [
            (each.function, "" if argument is None else argument.type.kind, each.is_distinct)
            for each, argument in zip(self._aggregates, self._arguments, strict=True)
        ]
        return _sql.Aggregator([key.type.kind for key in self._keys], aggregates)

    def run(self, pieces: Iterable[Piece]) -> _sql.Aggregator:
        """Aggregate an input."""
        return self.merged(ordered_map(self.of_piece, pieces, self._environment.threads))

    def of_piece(self, piece: Piece) -> _sql.Aggregator:
        """Aggregate a piece of an input."""
        return self.merged(map(self._of_morsel, piece()))

    def _of_morsel(self, morsel: Any) -> _sql.Aggregator:
        aggregator = self.new()
        self._evaluator.aggregate(morsel, aggregator)
        return aggregator

    def merged(self, parts: Iterable[_sql.Aggregator]) -> _sql.Aggregator:
        """Merge aggregators, in order."""
        total: _sql.Aggregator | None = None
        for part in parts:
            if total is None:
                total = part
            else:
                with self._environment.counts.timed("merge"):
                    total.merge(part)
                raise_if_failed(total.failure)
        return self.new() if total is None else total

    def columns(self, aggregator: _sql.Aggregator) -> list[Any]:
        """Give the keys, then the aggregates, of all groups, as Arrow arrays."""
        keys = [
            arrow_array(key.type, DenseColumn(*aggregator.key(index)))
            for index, key in enumerate(self._keys)
        ]
        results = partial(_result, aggregator)
        return keys + [
            results(index, aggregate, argument)
            for index, (aggregate, argument) in enumerate(
                zip(self._aggregates, self._arguments, strict=True)
            )
        ]


def _argument(aggregate: Aggregate) -> Expression | None:
    """Give what is evaluated for each row: with FILTER, null where the condition is not true."""
    argument, condition = aggregate.argument, aggregate.condition
    if condition is None:
        return argument
    value = Constant(True, BOOL) if argument is None else argument
    return Case(((condition, value),), Constant(None, value.type), value.type)


def _result(
    aggregator: _sql.Aggregator, index: int, aggregate: Aggregate, argument: Expression | None
) -> Any:
    states = [DenseColumn(*each) for each in aggregator.states(index)]
    if aggregate.function != "avg":
        (state,) = states
        if aggregate.function == "sum" and aggregate.type.kind == "numeric":
            _check_digits(state)
        return arrow_array(aggregate.type, state)
    sums, counts = states
    if aggregate.type.kind == "numeric":
        scale = argument.type.scale if argument is not None else 0
        return _numeric_average(sums, counts.values, scale, aggregate.type)
    divisors = np.maximum(counts.values, 1)
    with np.errstate(all="ignore"):
        averages = sums.values / divisors
    return arrow_array(aggregate.type, DenseColumn(averages, sums.validity))


_END = 10**38
_HIGH_END = _END >> 64  # of values, in the high word


def _check_digits(sums: DenseColumn) -> None:
    """Refuse sums that 128 bits hold, and 38 digits do not."""
    high = sums.values[:, 1]
    for low, top in sums.values[((high >= _HIGH_END) | (high < -_HIGH_END)) & (sums.validity == 1)]:
        value = (int(top) << 64) | (int(low) & (1 << 64) - 1)
        raise_if_failed(Failure.NUMERIC_RANGE if abs(value) >= _END else 0)


def _numeric_average(
    sums: DenseColumn, counts: npt.NDArray[np.int64], scale: int, type_: SqlType
) -> pa.Array:
    rows = len(counts)
    divisors = np.zeros((rows, 2), np.int64)
    divisors[:, 0] = np.maximum(counts, 1)
    averages = np.zeros((rows, 2), np.int64)
    failures = np.zeros(rows, np.uint8)
    _sql.apply(
        "numeric_divide",
        [sums.values, scale, divisors, 0, type_.scale],
        sums.validity,
        averages,
        failures,
        _sql.Arena(),
    )
    raise_first(failures)
    return arrow_array(type_, DenseColumn(averages, sums.validity))
