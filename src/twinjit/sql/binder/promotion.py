"""Which types operations have: PostgreSQL's promotions and conversions."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from twinjit.sql.binder.literals import nearest_float4
from twinjit.sql.data.values import EXACT
from twinjit.sql.tree import Call, Constant, Expression
from twinjit.sql.types import (
    FLOAT4,
    FLOAT8,
    FLOATS,
    INT4,
    INTEGERS,
    UNITS,
    Kind,
    SqlType,
    numeric,
    timestamp,
)

__all__ = [
    "NUMBERS",
    "can_cast",
    "common_type",
    "comparable_type",
    "converted",
    "operand_type",
]

NUMBERS: Final[tuple[Kind, ...]] = (*INTEGERS, "numeric", *FLOATS)
"""In the order in which one is converted to the next where nobody says so."""


def operand_type(left: SqlType, right: SqlType) -> SqlType | None:
    """Give the type in which an operator computes with two numbers; None if it cannot."""
    if left.kind not in NUMBERS or right.kind not in NUMBERS:
        return None
    if left == right == FLOAT4:
        return FLOAT4
    if {left.kind, right.kind} & {"float4", "float8"}:
        return FLOAT8  # what PostgreSQL prefers where float4 meets anything but itself
    return common_type([left, right])


def comparable_type(left: SqlType, right: SqlType) -> SqlType | None:
    """Give the type in which two are compared; None if they cannot be."""
    found = operand_type(left, right)
    return found or common_type([left, right])


def common_type(types: Sequence[SqlType]) -> SqlType | None:
    """Give the type that CASE and its like have for branches of these; None if there is none."""
    kinds = {each.kind for each in types}
    if kinds <= set(NUMBERS):
        kind = max(kinds, key=NUMBERS.index)
        return numeric(max(each.scale for each in types)) if kind == "numeric" else SqlType(kind)
    if kinds <= {"date", "timestamp"} and "timestamp" in kinds:
        units = [each.unit for each in types if each.kind == "timestamp"]
        return timestamp(max(units, key=UNITS.index))
    return types[0] if len(kinds) == 1 else None


def can_cast(source: SqlType, target: SqlType) -> bool:
    """Say whether CAST can convert one type to another."""
    kinds = (source.kind, target.kind)
    if "text" in kinds or source.kind == target.kind:
        return True
    if source.kind in NUMBERS and target.kind in NUMBERS:
        return True
    return set(kinds) in ({"date", "timestamp"}, {"bool", INT4.kind})


def converted(expression: Expression, type_: SqlType) -> Expression:
    """Convert an expression; a constant at once where that cannot fail."""
    if expression.type == type_:
        return expression
    if isinstance(expression, Constant):
        folded = _folded(expression, type_)
        if folded is not None:
            return folded
    return Call("cast", (expression,), type_)


def _folded(constant: Constant, type_: SqlType) -> Constant | None:
    value, source = constant.value, constant.type
    if value is None:
        return Constant(None, type_)
    if not isinstance(value, int) or source.kind not in (*INTEGERS, "numeric"):
        return None
    exact = Decimal(value).scaleb(-source.scale, EXACT)
    if type_.kind == "float8":
        return Constant(float(exact), type_)
    if type_.kind == "float4":
        return Constant(nearest_float4(str(exact)), type_)
    if type_.kind == "numeric" and type_.scale >= source.scale:
        scaled = value * 10 ** (type_.scale - source.scale)
        return Constant(scaled, type_) if abs(scaled) < 10**38 else None
    if source.kind in INTEGERS and type_.kind in INTEGERS:
        is_wider = INTEGERS.index(type_.kind) > INTEGERS.index(source.kind)
        return Constant(value, type_) if is_wider else None
    return None
