"""How large numerics can be, so that what surely fits is not checked, and computed in 64 bits.

Arrow's decimals stay within their precision, which nobody checks here: values beyond it are no
Arrow data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from twinjit.sql.codegen.layout import ColumnLayout
from twinjit.sql.codegen.lifting import Slot
from twinjit.sql.tree import Call, Column, Expression
from twinjit.sql.types import Kind, SqlType

__all__ = ["LARGEST", "WORD_BOUND", "bound_of", "exact_bound_of"]

LARGEST: Final = 10**38 - 1
"""The magnitude that no numeric exceeds."""

WORD_BOUND: Final = 2**63 - 1

_INTEGERS: Final[dict[Kind, int]] = {"int2": 2**15, "int4": 2**31, "int8": 2**63}


def bound_of(expression: Expression, layouts: Sequence[ColumnLayout]) -> int:
    """Give a magnitude that an integer or numeric does not exceed, unless it fails.

    Parameters
    ----------
    layouts
        Of the columns.
    """
    return min(exact_bound_of(expression, layouts), LARGEST)


def exact_bound_of(expression: Expression, layouts: Sequence[ColumnLayout]) -> int:
    """Give the same, but of what its operation computes before that is checked.

    So it does not have to be checked if this is not above `LARGEST`.
    """
    match expression:
        case Column(index, type_):
            layout = layouts[index].dictionary or layouts[index]
            return _scaled(layout.bound or _of_type(layout.source), layout.source, type_)
        case Slot():
            return expression.bound
        case Call("cast", (operand,), type_) if operand.type.kind in (*_INTEGERS, "numeric"):
            return _scaled(bound_of(operand, layouts), operand.type, type_)
        case Call("add" | "subtract", operands, type_) if type_.kind == "numeric":
            scaled = (_scaled(bound_of(each, layouts), each.type, type_) for each in operands)
            return sum(min(each, LARGEST) for each in scaled)
        case Call("multiply", (left, right), type_) if type_.kind == "numeric":
            return bound_of(left, layouts) * bound_of(right, layouts)
        case Call("negate" | "abs", (operand,)):
            return bound_of(operand, layouts)
    return _of_type(expression.type)


def _of_type(type_: SqlType) -> int:
    return _INTEGERS.get(type_.kind, LARGEST)


def _scaled(bound: int, source: SqlType, target: SqlType) -> int:
    """Give the bound after a conversion, which rounds where it drops digits."""
    if target.kind != "numeric":
        return _of_type(target)
    digits = target.scale - source.scale  # integers have none
    if digits < 0:
        return bound // int(10**-digits) + 1
    return bound * int(10**digits)
