"""Which expressions are cheap enough to be evaluated where nobody may need them."""

from __future__ import annotations

from collections.abc import Sequence

from twinjit.sql.codegen.bounds import WORD_BOUND, exact_bound_of
from twinjit.sql.codegen.layout import ColumnLayout
from twinjit.sql.rewriting import operands_of
from twinjit.sql.tree import Call, Expression
from twinjit.sql.types import FLOATS, INTEGERS

__all__ = ["is_cheap", "is_compilable"]

_CHEAP = frozenset(
    (
        *("add", "subtract", "multiply", "negate", "abs", "not"),
        *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
        *("floor", "ceil", "days_between"),
    )
)
_FLAT = frozenset(("bool", *INTEGERS, *FLOATS, "date", "timestamp"))
_WIDENING = frozenset((*INTEGERS, *FLOATS))


_MOST_OPERANDS = 100
"""Of which LLVM takes a quarter of a second for all, but more than a minute for 400."""


def is_compilable(expression: Expression) -> bool:
    """Say whether an expression takes LLVM a reasonable time: no list in it is too long."""
    operands = tuple(operands_of(expression))
    return len(operands) <= _MOST_OPERANDS and all(map(is_compilable, operands))


def is_cheap(expression: Expression, layouts: Sequence[ColumnLayout]) -> bool:
    """Say whether an expression takes a few instructions, without branches, at most.

    Parameters
    ----------
    layouts
        Of the columns.
    """
    kind = expression.type.kind
    is_word = kind == "numeric" and exact_bound_of(expression, layouts) <= WORD_BOUND
    if kind not in _FLAT and not is_word:
        return not any(True for _ in operands_of(expression))
    if isinstance(expression, Call):
        kinds = {each.type.kind for each in expression.arguments} | {kind}
        is_plain_cast = expression.function == "cast" and (is_word or kinds <= _WIDENING)
        if expression.function not in _CHEAP and not is_plain_cast:
            return False
    return all(is_cheap(each, layouts) for each in operands_of(expression))
