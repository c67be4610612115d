"""What conditions can be, given what columns can hold: which partitions no row can come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from twinjit.sql.tree import (
    And,
    BooleanTest,
    Call,
    Column,
    Constant,
    Expression,
    IsNull,
    Or,
    Parameter,
    Value,
)
from twinjit.sql.types import INTEGERS, SqlType

__all__ = ["Range", "can_be_true"]

Truth = bool | None


@dataclass(frozen=True)
class Range:
    """What an expression can be in a partition, as far as that is known without reading rows.

    Attributes
    ----------
    lowest, highest
        Bounds of what is not null, as `Value` writes them; None where there is no bound.
    can_be_null
        Whether it can be null.
    can_have_value
        Whether it can be anything else.
    """

    lowest: Value = None
    highest: Value = None
    can_be_null: bool = True
    can_have_value: bool = True

    @classmethod
    def of(cls, value: Value) -> Range:
        """Make the range of one value, or of null."""
        if value is None:
            return cls(can_have_value=False)
        return cls(value, value, can_be_null=False)


_UNKNOWN = Range()
_ALL: frozenset[Truth] = frozenset((True, False, None))


def can_be_true(
    condition: Expression, columns: Mapping[int, Range], parameters: Sequence[Value]
) -> bool:
    """Say whether a condition can be true for a row.

    What it cannot see through can be anything, so that True may be said of what never is. Errors do
    not count: as in PostgreSQL, a partition without rows for a query is not evaluated.

    Parameters
    ----------
    columns
        What is known of the columns, by their indices.
    parameters
        The values of the query's parameters.
    """
    return True in _Looker(columns, parameters).truths(condition)


# Of two values whose order is known: -1, 0 or 1.
_HOLDS: Final[Mapping[str, Callable[[int], bool]]] = {
    "equal": lambda order: order == 0,
    "not_equal": lambda order: order != 0,
    "less": lambda order: order < 0,
    "less_equal": lambda order: order <= 0,
    "greater": lambda order: order > 0,
    "greater_equal": lambda order: order >= 0,
}


class _Looker:
    def __init__(self, columns: Mapping[int, Range], parameters: Sequence[Value]) -> None:
        self._columns = columns
        self._parameters = parameters

    def truths(self, condition: Expression) -> frozenset[Truth]:
        """Give what a condition can be."""
        match condition:
            case And(operands):
                return self._joined(operands, ends=False)
            case Or(operands):
                return self._joined(operands, ends=True)
            case Call("not", (operand,)):
                return frozenset(_negated(each) for each in self.truths(operand))
            case Call(name, (left, right)) if name in _HOLDS and _is_comparable(left, right):
                return _compared(name, self.range_of(left), self.range_of(right))
            case IsNull(operand):
                found = self.range_of(operand)
                return frozenset(_only(found.can_be_null, found.can_have_value))
            case BooleanTest(operand, value):
                return frozenset(each is value for each in self.truths(operand))
            case _ if condition.type.kind == "bool":
                return _truths_of(self.range_of(condition))
        return _ALL

    def _joined(self, operands: Sequence[Expression], *, ends: bool) -> frozenset[Truth]:
        found: set[Truth] = {not ends}
        for operand in operands:
            found = {_join(a, b, ends) for a in found for b in self.truths(operand)}
        return frozenset(found)

    def range_of(self, expression: Expression) -> Range:
        """Give what an expression can be."""
        match expression:
            case Constant(value):
                return Range.of(value)
            case Parameter(index):
                return Range.of(self._parameters[index])
            case Column(index):
                return self._columns.get(index, _UNKNOWN)
            case Call("cast", (operand,), target):
                return _converted(self.range_of(operand), operand.type, target)
        return _UNKNOWN


def _negated(truth: Truth) -> Truth:
    return None if truth is None else not truth


def _only(can_be_true: bool, can_be_false: bool) -> Sequence[Truth]:
    return [True] * can_be_true + [False] * can_be_false


def _join(left: Truth, right: Truth, ends: bool) -> Truth:
    if left is ends or right is ends:
        return ends
    return None if left is None or right is None else not ends


def _is_comparable(left: Expression, right: Expression) -> bool:
    """Whether values are written in the same way, and NaN is not among them."""
    return left.type == right.type and left.type.kind not in ("float4", "float8")


def _compared(name: str, left: Range, right: Range) -> frozenset[Truth]:
    found: set[Truth] = {None} if left.can_be_null or right.can_be_null else set()
    if left.can_have_value and right.can_have_value:
        found.update(_HOLDS[name](order) for order in _orders(left, right))
    return frozenset(found)


def _orders(left: Range, right: Range) -> list[int]:
    """Give how a value of one can be to a value of the other: -1 for less, 0, or 1."""
    orders = []
    if left.lowest is None or right.highest is None or left.lowest < right.highest:  # type: ignore[operator]  # of one type
        orders.append(-1)
    if left.highest is None or right.lowest is None or left.highest > right.lowest:  # type: ignore[operator]  # of one type
        orders.append(1)
    if not (_is_below(left, right) or _is_below(right, left)):
        orders.append(0)
    return orders


def _is_below(left: Range, right: Range) -> bool:
    return (
        left.highest is not None and right.lowest is not None and left.highest < right.lowest  # type: ignore[operator]  # of one type
    )


def _truths_of(found: Range) -> frozenset[Truth]:
    truths: set[Truth] = {None} if found.can_be_null else set()
    if found.can_have_value:
        truths.update((bool(found.lowest), found.highest is None or bool(found.highest)))
    return frozenset(truths)


def _converted(found: Range, source: SqlType, target: SqlType) -> Range:
    """Give the range of a conversion, where it keeps the order and cannot fail."""
    convert: Callable[[int], int] | None = None
    if source.kind in INTEGERS and target.kind in INTEGERS[INTEGERS.index(source.kind) :]:
        convert = int
    elif target.kind == "numeric" and source.kind in (*INTEGERS, "numeric"):
        digits = target.scale - source.scale  # integers have none
        if digits >= 0:
            convert = (10**digits).__mul__
    elif source.kind == "date" and target.kind == "timestamp" and target.unit == "us":
        convert = (86_400_000_000).__mul__
    if convert is None:
        return Range(can_be_null=found.can_be_null, can_have_value=found.can_have_value)
    return Range(
        _apply(convert, found.lowest),
        _apply(convert, found.highest),
        found.can_be_null,
        found.can_have_value,
    )


def _apply(convert: Callable[[int], int], value: Value) -> Value:
    return None if value is None else convert(value)  # type: ignore[arg-type]  # an integer
