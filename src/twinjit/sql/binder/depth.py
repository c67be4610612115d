"""How deep expressions may be nested: as deep as Python can go down them, with room to spare."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import ParamSpec, TypeVar

from twinjit.errors import QueryError
from twinjit.sql.plan import Plan
from twinjit.sql.rewriting import operands_of
from twinjit.sql.tree import Expression

__all__ = ["check_depth", "expressions_of", "refusing_depth"]

_MOST = 100
"""Making code takes some seven frames of Python for each level, of usually 1,000."""

_Given = ParamSpec("_Given")
_Bound = TypeVar("_Bound")


def _too_deep() -> QueryError:
    return QueryError(
        f"the query is nested too deep: {_MOST} levels are possible. Long sums count a level for "
        "each operand; use brackets to make them balanced",
        "54001",
    )


def refusing_depth(bind: Callable[_Given, _Bound]) -> Callable[_Given, _Bound]:
    """Have a function that goes down a query refuse what is nested too deep for it."""

    @wraps(bind)
    def bound(*given: _Given.args, **named: _Given.kwargs) -> _Bound:
        try:
            return bind(*given, **named)
        except RecursionError:
            raise _too_deep() from None

    return bound


def check_depth(expression: Expression) -> None:
    """Refuse an expression that is nested too deep.

    Raises
    ------
    QueryError
        If it is.
    """
    level = [expression]
    for _ in range(_MOST):
        level = [operand for each in level for operand in operands_of(each)]
        if not level:
            return
    raise _too_deep()


def expressions_of(plan: Plan) -> Iterator[Expression]:
    """Give all expressions of a plan."""
    yield from (each for _, each in plan.outputs)
    yield from plan.keys or ()
    yield from (each for each in (plan.where, plan.having) if each is not None)
    for aggregate in plan.aggregates:
        parts = aggregate.argument, aggregate.condition
        yield from (each for each in parts if each is not None)
    for pair in plan.join.keys if plan.join else ():
        yield from pair
