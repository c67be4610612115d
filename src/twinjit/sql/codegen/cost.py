"""Which expressions are cheap enough to be evaluated where nobody may need them."""

from __future__ import annotations

from twinjit.sql.rewriting import operands_of
from twinjit.sql.tree import Call, Expression
from twinjit.sql.types import FLOATS, INTEGERS

__all__ = ["is_cheap"]

_CHEAP = frozenset(
    (
        *("add", "subtract", "multiply", "negate", "abs", "not"),
        *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
        *("floor", "ceil", "days_between"),
    )
)
_FLAT = frozenset(("bool", *INTEGERS, *FLOATS, "date", "timestamp"))


def is_cheap(expression: Expression) -> bool:
    """Say whether an expression takes a few instructions, without branches, at most."""
    if expression.type.kind not in _FLAT:
        return not any(True for _ in operands_of(expression))
    if isinstance(expression, Call):
        kinds = {each.type.kind for each in expression.arguments} | {expression.type.kind}
        is_plain_cast = expression.function == "cast" and kinds <= _WIDENING
        if expression.function not in _CHEAP and not is_plain_cast:
            return False
    return all(map(is_cheap, operands_of(expression)))


_WIDENING = frozenset((*INTEGERS, *FLOATS))
