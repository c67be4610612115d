"""Plans over the columns that they read, rather than over all that there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from twinjit.sql.arrow_types import sql_type_of
from twinjit.sql.binder.scope import Table
from twinjit.sql.binder.tables import From
from twinjit.sql.plan import Input, Join, Plan
from twinjit.sql.rewriting import columns_of, map_operands
from twinjit.sql.tree import Column, Expression

__all__ = ["over_used_columns"]


def over_used_columns(plan: Plan, from_: From) -> Plan:
    """Give a plan its inputs, with the columns that it reads.

    Parameters
    ----------
    plan
        Whose expressions count the columns of all tables.
    """
    keys = [part for pair in from_.keys for part in pair]
    used = {column.index for each in _over_inputs(plan, keys) for column in columns_of(each)}
    order = {index: place for place, index in enumerate(sorted(used))}
    inputs = tuple(_input(table, used) for table in from_.scope.tables)

    def moved(expression: Expression | None) -> Any:
        return None if expression is None else _moved(expression, order)

    are_over_inputs = plan.keys is None
    return replace(
        plan,
        inputs=inputs,
        join=_join(from_, order, len(inputs[0].columns)) if from_.is_join else None,
        where=moved(plan.where),
        keys=None if plan.keys is None else tuple(map(moved, plan.keys)),
        aggregates=tuple(
            replace(each, argument=moved(each.argument), condition=moved(each.condition))
            for each in plan.aggregates
        ),
        outputs=tuple(
            (name, moved(each) if are_over_inputs else each) for name, each in plan.outputs
        ),
    )


def _over_inputs(plan: Plan, keys: list[Expression]) -> Iterator[Expression]:
    yield from keys
    yield from filter(None, (plan.where,))
    yield from plan.keys or ()
    for aggregate in plan.aggregates:
        yield from filter(None, (aggregate.argument, aggregate.condition))
    if plan.keys is None:
        yield from (each for _, each in plan.outputs)


def _input(table: Table, used: set[int]) -> Input:
    fields = [
        table.schema.field(index - table.first)
        for index in sorted(used)
        if table.first <= index < table.first + len(table.schema.names)
    ]
    return Input(
        table.name,
        tuple(field.name for field in fields),
        tuple(sql_type_of(field.type, field.name) for field in fields),
    )


def _moved(expression: Any, order: Mapping[int, int], less: int = 0) -> Any:
    if isinstance(expression, Column):
        return Column(order[expression.index] - less, expression.type)
    return map_operands(expression, lambda part: _moved(part, order, less))


def _join(from_: From, order: Mapping[int, int], left: int) -> Join:
    return Join(tuple((_moved(a, order), _moved(b, order, left)) for a, b in from_.keys))
