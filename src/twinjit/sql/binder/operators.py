"""Operators: which operation they are for operands of some types."""

from __future__ import annotations

from typing import Final, NoReturn

from sqlglot import expressions as ast

from twinjit.sql.binder.intervals import Interval
from twinjit.sql.binder.literals import number
from twinjit.sql.binder.open_types import Open, resolve
from twinjit.sql.binder.places import refuse, unsupported
from twinjit.sql.binder.promotion import (
    NUMBERS,
    comparable_type,
    converted,
    operand_type,
)
from twinjit.sql.tree import Call, Constant, Expression
from twinjit.sql.types import (
    BOOL,
    DATE,
    FLOAT8,
    INT4,
    INT8,
    TEXT,
    SqlType,
    Unit,
    numeric,
    timestamp,
)

__all__ = ["QUOTIENT_SCALE", "combine", "compare", "negate"]

QUOTIENT_SCALE: Final = 24
"""The least scale of quotients: PostgreSQL gives at least 16 significant digits."""

_MOST_SCALE = 38
_SYMBOLS: Final = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "modulo": "%",
    "power": "^",
    "concat": "||",
    "equal": "=",
    "not_equal": "<>",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
}

Operand = Expression | Open | Interval


def _type_name(operand: Operand) -> str:
    if isinstance(operand, Interval):
        return "interval"
    if isinstance(operand, Open):
        return "unknown"
    return "numeric" if operand.type.kind == "numeric" else str(operand.type)


def _refuse_operator(node: ast.Expr, name: str, left: Operand, right: Operand) -> NoReturn:
    refuse(
        node,
        "42883",
        f"operator does not exist: {_type_name(left)} {_SYMBOLS[name]} {_type_name(right)}",
    )


def compare(node: ast.Expr, name: str, left: Expression | Open, right: Expression | Open) -> Call:
    """Bind a comparison.

    Raises
    ------
    QueryError
        If values of these types cannot be compared.
    """
    left, right = _same_type(left, right)
    type_ = comparable_type(left.type, right.type)
    if type_ is None:
        _refuse_operator(node, name, left, right)
    if type_.kind not in ("numeric", "timestamp") or left.type.kind != right.type.kind:
        left, right = converted(left, type_), converted(right, type_)
    return Call(name, (left, right), BOOL)


def _same_type(left: Expression | Open, right: Expression | Open) -> tuple[Expression, Expression]:
    """Give what is open the other's type."""
    if not isinstance(left, Open):
        return left, resolve(right, left.type)
    if isinstance(right, Open):
        return resolve(left, TEXT), resolve(right, TEXT)
    return resolve(left, right.type), right


def combine(node: ast.Expr, name: str, left: Operand, right: Operand) -> Expression:
    """Bind an operator other than a comparison.

    Raises
    ------
    QueryError
        If there is none for operands of these types, or it is not supported.
    """
    if name == "concat":
        return _concatenation(node, left, right)
    if isinstance(left, Interval) or isinstance(right, Interval):
        return _with_interval(node, name, left, right)
    if isinstance(left, Open) and isinstance(right, Open):
        refuse(
            node, "42725", f"operator is not unique: unknown {_SYMBOLS[name]} unknown: add a cast"
        )
    left, right = _same_type(left, right)
    kinds = (left.type.kind, right.type.kind)
    if "date" in kinds or "timestamp" in kinds:
        return _with_date(node, name, left, right)
    type_ = operand_type(left.type, right.type)
    if type_ is None:
        return _refuse_operator(node, name, left, right)
    if name == "power":
        if type_.kind == "numeric":
            unsupported(node, "^ of numeric", "cast to double precision")
        return Call(name, (converted(left, FLOAT8), converted(right, FLOAT8)), FLOAT8)
    if name == "modulo" and type_.kind in ("float4", "float8"):
        return _refuse_operator(node, name, left, right)
    return _arithmetic(node, name, left, right, type_)


def _arithmetic(
    node: ast.Expr, name: str, left: Expression, right: Expression, type_: SqlType
) -> Expression:
    if type_.kind != "numeric":
        return Call(name, (converted(left, type_), converted(right, type_)), type_)
    if left.type.kind != "numeric":
        left = converted(left, numeric(0))
    if right.type.kind != "numeric":
        right = converted(right, numeric(0))
    larger = max(left.type.scale, right.type.scale)
    scale = larger
    if name == "multiply":
        scale = left.type.scale + right.type.scale
    elif name == "divide":
        scale = max(QUOTIENT_SCALE, larger)
    if scale > _MOST_SCALE:
        unsupported(
            node,
            f"a product with {scale} digits behind the point",
            "cast a factor to a numeric of less, such as numeric(20,4), or to double precision",
        )
    return Call(name, (left, right), numeric(scale))


def _concatenation(node: ast.Expr, left: Operand, right: Operand) -> Expression:
    if isinstance(left, Interval) or isinstance(right, Interval):
        unsupported(node, "a value of type interval", "use it with + and - alone")
    if not any(isinstance(each, Open) or each.type == TEXT for each in (left, right)):
        return _refuse_operator(node, "concat", left, right)
    texts = tuple(converted(resolve(each, TEXT), TEXT) for each in (left, right))
    return Call("concat", texts, TEXT)


def _with_date(node: ast.Expr, name: str, left: Expression, right: Expression) -> Expression:
    kinds = (left.type.kind, right.type.kind)
    is_days = left.type.kind in ("int2", "int4"), right.type.kind in ("int2", "int4")
    if name == "subtract" and kinds == ("date", "date"):
        return Call("days_between", (left, right), INT4)
    if name in ("add", "subtract") and left.type == DATE and is_days[1]:
        return Call(f"{name}_days", (left, converted(right, INT4)), DATE)
    if name == "add" and is_days[0] and right.type == DATE:
        return Call("add_days", (right, converted(left, INT4)), DATE)
    if name == "subtract" and set(kinds) <= {"date", "timestamp"}:
        unsupported(node, "a value of type interval", "subtract dates, or extract the epoch")
    return _refuse_operator(node, name, left, right)


_PER_UNIT: Final[dict[Unit, int]] = {"s": 1_000_000, "ms": 1_000, "us": 1}


def _with_interval(node: ast.Expr, name: str, left: Operand, right: Operand) -> Expression:
    if name == "add" and isinstance(left, Interval):
        left, right = right, left
    if isinstance(left, (Interval, Open)) or not isinstance(right, Interval):
        if isinstance(left, Expression) and name in ("multiply", "divide"):
            unsupported(node, "arithmetic of intervals", "write the interval that you mean")
        return _refuse_operator(node, name, left, right)
    if name not in ("add", "subtract") or left.type.kind not in ("date", "timestamp"):
        return _refuse_operator(node, name, left, right)
    by = right if name == "add" else right.negated()
    unit = left.type.unit
    if left.type == DATE or by.microseconds % _PER_UNIT.get(unit, 1):
        unit = "us"
    parts = (Constant(by.months, INT4), Constant(by.days, INT4), Constant(by.microseconds, INT8))
    return Call("add_interval", (converted(left, timestamp(unit)), *parts), timestamp(unit))


def negate(node: ast.Expr, operand: Operand) -> Operand:
    """Bind a minus sign.

    Raises
    ------
    QueryError
        If the operand is no number.
    """
    if isinstance(operand, Interval):
        return operand.negated()
    if isinstance(operand, Open):
        refuse(node, "42725", "operator is not unique: - unknown: add a cast")
    if operand.type.kind not in NUMBERS:
        refuse(node, "42883", f"operator does not exist: - {operand.type}")
    if literal := _signed(node):
        # The signs are part of the literal, as they are where PostgreSQL finds its type.
        return number(literal)
    match operand:
        case Constant(int() as value, type_) if type_.kind == "numeric":
            return Constant(-value, type_)
    return Call("negate", (operand,), operand.type)


def _signed(node: ast.Expr) -> str | None:
    """Give the number that a minus sign, or several, stand before."""
    operand = node.this.unnest()
    if isinstance(operand, ast.Neg):
        inner = _signed(operand)
        return (
            None if inner is None else inner.removeprefix("-") if inner[0] == "-" else f"-{inner}"
        )
    if isinstance(operand, ast.Literal) and not operand.args.get("is_string"):
        return f"-{operand.name}"
    return None
