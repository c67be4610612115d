"""Plans of queries: what the binder makes of a SELECT, and what is executed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from twinjit.sql.tree import Expression
from twinjit.sql.types import SqlType

__all__ = ["Aggregate", "Input", "Join", "Order", "Plan"]

AggregateFunction = Literal["sum", "count", "min", "max", "avg", "bool_and", "bool_or"]


@dataclass(frozen=True)
class Input:
    """A table in FROM: its name among the arguments of the query, and the columns that are read."""

    table: str
    columns: tuple[str, ...]
    types: tuple[SqlType, ...]


@dataclass(frozen=True)
class Join:
    """Of the rows of two inputs, the pairs whose keys are equal and not null.

    The keys are pairs of expressions of one type: over the columns of the left input, and over
    those of the right one, which are counted from 0 there. Elsewhere, the right one's columns
    follow those of the left one.
    """

    keys: tuple[tuple[Expression, Expression], ...]


@dataclass(frozen=True)
class Aggregate:
    """An aggregate function.

    Attributes
    ----------
    argument
        None for ``count(*)``.
    condition
        Of FILTER: only rows for which it is true count; the argument is not evaluated for others.
    type
        Of the result. Sums are of int8 for int2 and int4, of numeric(0) for int8; averages of
        float8 for floats, and else of numeric with the scale that ``divide`` has.
    """

    function: AggregateFunction
    argument: Expression | None
    is_distinct: bool
    condition: Expression | None
    type: SqlType


@dataclass(frozen=True)
class Order:
    """A sort key, by its place among the outputs, hidden ones included."""

    output: int
    is_descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class Plan:
    """A SELECT.

    Attributes
    ----------
    inputs
        One or two tables, which `join` joins.
    where
        Over the inputs' columns, of type bool; None for all rows.
    keys
        Of GROUP BY, over the inputs' columns; empty for one group of all rows. None if the query
        does not aggregate.
    aggregates
        Over the inputs' columns.
    having
        Over the columns that aggregation gives: the keys, then the aggregates.
    outputs
        Names and expressions, over the same where the query aggregates, else over the inputs'
        columns.
    hidden
        How many of the last outputs are there for `order` alone.
    is_distinct
        Of SELECT DISTINCT.
    limit, offset
        Constants or parameters of int8; None for none.
    parameters
        The types of ``$1``, ``$2`` ….
    """

    inputs: tuple[Input, ...]
    join: Join | None
    where: Expression | None
    keys: tuple[Expression, ...] | None
    aggregates: tuple[Aggregate, ...]
    having: Expression | None
    outputs: tuple[tuple[str, Expression], ...]
    hidden: int
    is_distinct: bool
    order: tuple[Order, ...]
    limit: Expression | None
    offset: Expression | None
    parameters: tuple[SqlType, ...]
