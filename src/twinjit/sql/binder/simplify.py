"""What constants decide before any row is there, as in PostgreSQL.

It matters where an operand would fail: PostgreSQL never evaluates one beside a null that makes a
strict call null, beside FALSE in an AND, beside TRUE in an OR, or behind a condition of CASE that
is constant.
"""

from __future__ import annotations

from dataclasses import replace

from twinjit._native import _sql
from twinjit.sql.columns import first_value
from twinjit.sql.data.scan import Morsel
from twinjit.sql.interpreter import Interpreter
from twinjit.sql.plan import Plan
from twinjit.sql.rewriting import map_operands
from twinjit.sql.tree import (
    And,
    BooleanTest,
    Call,
    Case,
    Coalesce,
    Constant,
    Expression,
    Extreme,
    IsNull,
    NullIf,
    Or,
)
from twinjit.sql.types import BOOL

__all__ = ["simplified", "simplified_plan"]


def simplified(expression: Expression) -> Expression:
    """Simplify an expression, the innermost parts first, and of what can decide, the first.

    Raises
    ------
    SqlError
        If a call of constants fails, as it does where PostgreSQL plans.
    """
    match expression:
        case And(operands):
            return _chain(And, operands, ends=False)
        case Or(operands):
            return _chain(Or, operands, ends=True)
        case Case():
            return _case(expression)
        case Coalesce(operands):
            return _coalesce(expression, operands)
    found = map_operands(expression, simplified)
    match found:
        case Call(_, arguments, type_) if any(map(_is_null, arguments)):
            return Constant(None, type_)
        case Call(_, arguments) if all(isinstance(each, Constant) for each in arguments):
            return _computed(found)
        case Extreme(_, operands) if all(isinstance(each, Constant) for each in operands):
            return _computed(found)
        case NullIf(operand, Constant(is_equal)):
            return Constant(None, found.type) if is_equal else operand
        case IsNull(Constant(value)):
            return Constant(value is None, BOOL)
        case BooleanTest(Constant(value), wanted):
            return Constant(value is wanted, BOOL)
    return found


def _is_null(expression: Expression) -> bool:
    return isinstance(expression, Constant) and expression.value is None


def _computed(call: Call | Extreme) -> Constant:
    arena = _sql.Arena()
    (column,), _ = Interpreter(None, [call]).run(Morsel((), 1), (), arena)
    return Constant(first_value(call.type.kind, column), call.type)


def _coalesce(coalesce: Coalesce, operands: tuple[Expression, ...]) -> Expression:
    kept: list[Expression] = []
    for operand in map(simplified, operands):
        if _is_null(operand):
            continue
        kept.append(operand)
        if isinstance(operand, Constant):
            break
    if len(kept) > 1:
        return Coalesce(tuple(kept), coalesce.type)
    return kept[0] if kept else Constant(None, coalesce.type)


def _chain(
    kind: type[And] | type[Or], operands: tuple[Expression, ...], *, ends: bool
) -> Expression:
    kept: list[Expression] = []
    for operand in map(simplified, operands):
        if operand == Constant(ends, BOOL):
            return operand
        if operand != Constant(not ends, BOOL):
            kept.append(operand)
    if len(kept) > 1:
        return kind(tuple(kept), BOOL)
    return kept[0] if kept else Constant(not ends, BOOL)


def _case(case: Case) -> Expression:
    branches: list[tuple[Expression, Expression]] = []
    for unsimplified, value in case.branches:
        condition = simplified(unsimplified)
        if isinstance(condition, Constant):
            if condition.value is not True:
                continue
            otherwise = simplified(value)
            break
        branches.append((condition, simplified(value)))
    else:
        otherwise = simplified(case.otherwise)
    if not branches:
        return otherwise
    return Case(tuple(branches), otherwise, case.type)


def simplified_plan(plan: Plan) -> Plan:
    """Simplify all expressions of a plan."""
    where = None if plan.where is None else simplified(plan.where)
    having = None if plan.having is None else simplified(plan.having)
    return replace(
        plan,
        where=None if where == Constant(True, BOOL) else where,
        keys=None if plan.keys is None else tuple(map(simplified, plan.keys)),
        aggregates=tuple(
            replace(
                each,
                argument=None if each.argument is None else simplified(each.argument),
                condition=None if each.condition is None else simplified(each.condition),
            )
            for each in plan.aggregates
        ),
        having=having,
        outputs=tuple((name, simplified(each)) for name, each in plan.outputs),
    )
