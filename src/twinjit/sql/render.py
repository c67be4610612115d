"""Expressions and plans as text, for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from twinjit.sql.plan import Aggregate, Order, Plan
from twinjit.sql.tree import (
    And,
    BooleanTest,
    Call,
    Case,
    Coalesce,
    Column,
    Constant,
    Expression,
    Extreme,
    IsDistinct,
    IsNull,
    NullIf,
    Or,
    Parameter,
)

__all__ = ["plan_lines", "render"]

_SYMBOLS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "modulo": "%",
    "equal": "=",
    "not_equal": "<>",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
    "concat": "||",
    "add_days": "+",
    "subtract_days": "-",
    "days_between": "-",
}


def render(expression: Expression, names: Sequence[str]) -> str:
    """Write an expression in SQL's words, with each operation in brackets.

    Parameters
    ----------
    names
        Of the columns, by index.
    """

    def each(operands: Sequence[Expression]) -> Iterator[str]:
        return (render(operand, names) for operand in operands)

    match expression:
        case Column(index):
            return names[index]
        case Constant():
            return _constant(expression)
        case Parameter(index):
            return f"${index + 1}"
        case Call("cast", (operand,), type_):
            return f"{render(operand, names)}::{type_}"
        case Call("not", (IsNull(operand),)):
            return f"({render(operand, names)} IS NOT NULL)"
        case Call("not", (operand,)):
            return f"(NOT {render(operand, names)})"
        case Call(name, (_, _) as operands) if name in _SYMBOLS:
            return f"({f' {_SYMBOLS[name]} '.join(each(operands))})"
        case Call(name, operands):
            return f"{name}({', '.join(each(operands))})"
        case And(operands):
            return f"({' AND '.join(each(operands))})"
        case Or(operands):
            return f"({' OR '.join(each(operands))})"
        case Coalesce(operands):
            return f"COALESCE({', '.join(each(operands))})"
        case Extreme(which, operands):
            return f"{which.upper()}({', '.join(each(operands))})"
    return _special(expression, names)


def _special(expression: Expression, names: Sequence[str]) -> str:
    def text(operand: Expression) -> str:
        return render(operand, names)

    match expression:
        case Case(branches, otherwise):
            whens = " ".join(f"WHEN {text(when)} THEN {text(then)}" for when, then in branches)
            return f"CASE {whens} ELSE {text(otherwise)} END"
        case NullIf(operand, Call(_, (_, other))):
            return f"NULLIF({text(operand)}, {text(other)})"
        case IsNull(operand):
            return f"({text(operand)} IS NULL)"
        case IsDistinct(left, right):
            return f"({text(left)} IS DISTINCT FROM {text(right)})"
        case BooleanTest(operand, value):
            word = "UNKNOWN" if value is None else str(value).upper()
            return f"({text(operand)} IS {word})"
    raise AssertionError(f"no text for {expression!r}")


def _constant(constant: Constant) -> str:
    value, type_ = constant.value, constant.type
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        quoted = value.decode(errors="replace").replace("'", "''")
        return f"'{quoted}'"
    if type_.kind == "numeric" and isinstance(value, int):
        return _decimal(value, type_.scale)
    if type_.kind in ("date", "timestamp"):
        return f"{type_.kind}({value})"
    return str(value).upper() if isinstance(value, bool) else str(value)


def _decimal(value: int, scale: int) -> str:
    digits = str(abs(value)).rjust(scale + 1, "0")
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[:-scale]}.{digits[-scale:]}" if scale else f"{sign}{digits}"


def plan_lines(plan: Plan) -> list[str]:
    """Write a plan, what is done last first, each step further in than what it takes rows from."""
    steps = list(_steps(plan))
    lines = [f"{'  ' * depth}{step}" for depth, step in enumerate(steps)]
    inner = "  " * len(steps)
    return lines + [
        f"{inner}Scan {each.table}: {', '.join(each.columns) or 'no columns'}"
        for each in plan.inputs
    ]


def _steps(plan: Plan) -> Iterator[str]:
    columns = [name for each in plan.inputs for name in each.columns]
    grouped = columns
    if plan.keys is not None:
        grouped = [render(key, columns) for key in plan.keys]
        grouped += [_aggregate(each, columns) for each in plan.aggregates]
    for word, bound in (("Limit", plan.limit), ("Offset", plan.offset)):
        if bound is not None:
            yield f"{word} {render(bound, grouped)}"
    outputs = [render(expression, grouped) for _, expression in plan.outputs]
    if plan.order:
        yield f"Sort by {', '.join(_order(each, outputs) for each in plan.order)}"
    if plan.is_distinct:
        yield "Distinct"
    yield f"Project {', '.join(outputs[: len(outputs) - plan.hidden])}"
    if plan.having is not None:
        yield f"Filter groups {render(plan.having, grouped)}"
    if plan.keys is not None:
        yield f"Aggregate {', '.join(grouped[len(plan.keys) :]) or 'nothing'}" + (
            f" by {', '.join(grouped[: len(plan.keys)])}" if plan.keys else ""
        )
    if plan.where is not None:
        yield f"Filter {render(plan.where, columns)}"
    if plan.join is not None:
        left = [render(key, columns) for key, _ in plan.join.keys]
        right = [render(key, plan.inputs[1].columns) for _, key in plan.join.keys]
        pairs = (f"{a} = {b}" for a, b in zip(left, right, strict=True))
        yield f"Join on {' AND '.join(pairs)}"


def _aggregate(aggregate: Aggregate, columns: Sequence[str]) -> str:
    argument = "*" if aggregate.argument is None else render(aggregate.argument, columns)
    distinct = "DISTINCT " if aggregate.is_distinct else ""
    text = f"{aggregate.function}({distinct}{argument})"
    if aggregate.condition is not None:
        text += f" FILTER (WHERE {render(aggregate.condition, columns)})"
    return text


def _order(order: Order, outputs: Sequence[str]) -> str:
    direction = " DESC" if order.is_descending else ""
    is_usual = order.nulls_first == order.is_descending
    nulls = "" if is_usual else f" NULLS {'FIRST' if order.nulls_first else 'LAST'}"
    return f"{outputs[order.output]}{direction}{nulls}"
