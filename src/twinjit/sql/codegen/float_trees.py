"""Sums, differences and products of floats, checked once for all that are one expression.

What overflows on the way makes the result infinite or NaN, too. So does an operand that is, which
is no failure: the interpreter finds out, and kernels that take such operands check each operation.
"""

from __future__ import annotations

from typing import TypeGuard

from llvmlite import ir

from twinjit.sql.codegen.arithmetic import float_operation, intrinsic, underflow
from twinjit.sql.codegen.emitter import Emitter
from twinjit.sql.codegen.values import Emitted
from twinjit.sql.tree import Call, Expression
from twinjit.sql.types import FLOATS

__all__ = ["emit_tree", "is_tree"]

_NAMES = frozenset(("add", "subtract", "multiply"))


def is_tree(expression: Expression) -> TypeGuard[Call]:
    """Whether an expression is a sum, a difference or a product of floats."""
    is_call = isinstance(expression, Call) and expression.function in _NAMES
    return is_call and expression.type.kind in FLOATS


def emit_tree(emitter: Emitter, call: Call) -> Emitted:
    """Emit such an expression; it fails, or may, where it is infinite or NaN, even if null."""
    found = _inner(emitter, call)
    magnitude = intrinsic(emitter, "fabs", found.value)
    infinity = ir.Constant(magnitude.type, float("inf"))
    is_special = emitter.builder.fcmp_unordered(">=", magnitude, infinity)
    return Emitted(found.value, found.is_null, emitter.any(found.failure, is_special))


def _inner(emitter: Emitter, expression: Expression) -> Emitted:
    """Emit what is part of one, without a check for overflow."""
    if not is_tree(expression):
        return emitter.emit(expression)
    return emitter.once(("unchecked", expression), lambda: _operation(emitter, expression))


def _operation(emitter: Emitter, call: Call) -> Emitted:
    operands = [_inner(emitter, each) for each in call.arguments]
    values = [each.value for each in operands]
    value = float_operation(emitter, call.function, values)
    is_null = emitter.any(*(each.is_null for each in operands))
    failure = underflow(emitter, values, value) if call.function == "multiply" else None
    before = (each.failure for each in operands)
    return Emitted(value, is_null, emitter.any(*before, emitter.unless(is_null, failure)))
