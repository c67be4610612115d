"""Typed expressions: what the binder makes of SQL, and what kernels and the interpreter evaluate.

An expression is evaluated for one row at a time, as far as its meaning goes. It has a value, or is
null, or fails with an `SqlError`. Operands are evaluated from left to right; of several that fail,
the first one's error is that of the expression. The binder has made all conversions explicit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from twinjit.sql.types import SqlType

__all__ = [
    "And",
    "BooleanTest",
    "Call",
    "Case",
    "Coalesce",
    "Column",
    "Constant",
    "Expression",
    "Extreme",
    "IsDistinct",
    "IsNull",
    "NullIf",
    "Or",
    "Parameter",
    "Value",
]

Value = bool | int | float | bytes | None
"""How a value is written: a numeric as an integer at its scale, a date in days since 1970, a
timestamp in its unit since then, a text in UTF-8; None for null."""


@dataclass(frozen=True)
class Column:
    """A column of the input, by its place among those that a plan reads."""

    index: int
    type: SqlType


@dataclass(frozen=True)
class Constant:
    """A value that stands in the query."""

    value: Value
    type: SqlType


@dataclass(frozen=True)
class Parameter:
    """``$1``, ``$2`` …: a value that is given with each execution; `index` starts at 0."""

    index: int
    type: SqlType


@dataclass(frozen=True)
class Call:
    """A strict function or operator: null, and not evaluated, where an argument is null.

    `function` is a name in `operations.OPERATIONS`, where its arguments' types are described.
    """

    function: str
    arguments: tuple[Expression, ...]
    type: SqlType


@dataclass(frozen=True)
class And:
    """False at the first false operand, behind which nothing is evaluated; else null if one is."""

    operands: tuple[Expression, ...]
    type: SqlType


@dataclass(frozen=True)
class Or:
    """True at the first true operand, behind which nothing is evaluated; else null if one is."""

    operands: tuple[Expression, ...]
    type: SqlType


@dataclass(frozen=True)
class Case:
    """The value behind the first condition that is true; nothing else is evaluated but conditions.

    `branches` are pairs of a condition and a value. `otherwise` is a null constant if there is no
    ELSE. All values are of the one type.
    """

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression
    type: SqlType


@dataclass(frozen=True)
class Coalesce:
    """The first operand that is not null; what follows is not evaluated."""

    operands: tuple[Expression, ...]
    type: SqlType


@dataclass(frozen=True)
class Extreme:
    """GREATEST or LEAST: of the operands that are not null; null if there is none."""

    which: Literal["greatest", "least"]
    operands: tuple[Expression, ...]
    type: SqlType


@dataclass(frozen=True)
class NullIf:
    """Null where `equal`, a comparison of `operand` with something, is true; else `operand`."""

    operand: Expression
    equal: Expression
    type: SqlType


@dataclass(frozen=True)
class IsNull:
    """IS NULL; IS NOT NULL is its negation by the call ``not``."""

    operand: Expression
    type: SqlType


@dataclass(frozen=True)
class IsDistinct:
    """IS DISTINCT FROM, of operands of one kind; never null."""

    left: Expression
    right: Expression
    type: SqlType


@dataclass(frozen=True)
class BooleanTest:
    """IS TRUE, IS FALSE or IS UNKNOWN; never null."""

    operand: Expression
    value: bool | None
    type: SqlType


Expression = (
    Column
    | Constant
    | Parameter
    | Call
    | And
    | Or
    | Case
    | Coalesce
    | Extreme
    | NullIf
    | IsNull
    | IsDistinct
    | BooleanTest
)
