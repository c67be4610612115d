"""Comparisons, and what is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from llvmlite import ir

from twinjit.sql.codegen.calls import call_runtime
from twinjit.sql.codegen.emitter import Emitter
from twinjit.sql.codegen.values import BIT, Emitted
from twinjit.sql.runtime import UNITS
from twinjit.sql.tree import Call, Expression, Extreme, IsDistinct
from twinjit.sql.types import SqlType

__all__ = ["COMPARISONS", "emit_comparison", "emit_distinct", "emit_extreme"]

COMPARISONS: Final = {
    "equal": "==",
    "not_equal": "!=",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
}


def emit_comparison(
    emitter: Emitter, call: Call, values: Sequence[ir.Value]
) -> tuple[ir.Value, ir.Value | None]:
    """Emit a comparison of values that are not null; it never fails."""
    types = [each.type for each in call.arguments]
    return compared(emitter, COMPARISONS[call.function], values, types), None


def compared(
    emitter: Emitter, symbol: str, values: Sequence[ir.Value], types: Sequence[SqlType]
) -> ir.Value:
    """Give the bit of a comparison."""
    builder = emitter.builder
    kind = types[0].kind
    if kind == "bool":
        return builder.icmp_unsigned(symbol, *values)
    if kind in ("float4", "float8"):
        return _floats(emitter, symbol, *values)
    if kind == "text":
        return _texts(emitter, symbol, values)
    if kind == "numeric" and types[0].scale != types[1].scale:
        return _numerics(emitter, symbol, values, [each.scale for each in types])
    if kind == "timestamp" and types[0].unit != types[1].unit:
        units = [UNITS[each.unit] for each in types]
        arguments = [values[0], units[0], values[1], units[1]]
        order, _ = call_runtime(emitter, "timestamp_compare", arguments)
        return builder.icmp_signed(symbol, order, order.type(0))
    return builder.icmp_signed(symbol, *values)


def _floats(emitter: Emitter, symbol: str, left: ir.Value, right: ir.Value) -> ir.Value:
    """Compare with NaN above all else, and equal to itself."""
    builder = emitter.builder
    if symbol in (">", "<="):
        # In terms of the others, with the operands the other way round.
        return _floats(emitter, "<" if symbol == ">" else ">=", right, left)
    if symbol == "!=":
        return builder.not_(_floats(emitter, "==", left, right))
    is_right_nan = builder.fcmp_unordered("uno", right, right)
    is_left_nan = builder.fcmp_unordered("uno", left, left)
    if symbol == "==":
        both = builder.and_(is_left_nan, is_right_nan)
        return builder.or_(builder.fcmp_ordered("==", left, right), both)
    less = builder.or_(
        builder.fcmp_ordered("<", left, right),
        builder.and_(is_right_nan, builder.not_(is_left_nan)),
    )
    return less if symbol == "<" else builder.not_(less)


def _texts(emitter: Emitter, symbol: str, values: Sequence[ir.Value]) -> ir.Value:
    builder = emitter.builder
    if symbol not in ("==", "!="):
        order, _ = call_runtime(emitter, "compare", values)
        return builder.icmp_signed(symbol, order, order.type(0))
    lengths = [builder.extract_value(each, 1) for each in values]
    is_as_long = builder.icmp_signed("==", *lengths)

    def work() -> Emitted:
        equal, _ = call_runtime(emitter, "text_equal", values)
        return Emitted(builder.trunc(equal, BIT))

    found = emitter.guarded(is_as_long, work, Emitted(ir.Constant(BIT, 0))).value
    return found if symbol == "==" else builder.not_(found)


def _numerics(
    emitter: Emitter, symbol: str, values: Sequence[ir.Value], scales: Sequence[int]
) -> ir.Value:
    order, _ = call_runtime(
        emitter, "numeric_compare", [values[0], scales[0], values[1], scales[1]]
    )
    return emitter.builder.icmp_signed(symbol, order, order.type(0))


def emit_distinct(emitter: Emitter, expression: IsDistinct) -> Emitted:
    """Emit IS DISTINCT FROM."""
    builder = emitter.builder
    operands = (expression.left, expression.right)
    left, right = (emitter.emit(each) for each in operands)
    types = [each.type for each in operands]
    differs = compared(emitter, "!=", [left.value, right.value], types)
    nulls = [each.null_bit for each in (left, right)]
    is_any_null = builder.or_(*nulls)
    value = builder.select(is_any_null, builder.xor(*nulls), differs)
    return Emitted(value, None, emitter.any(left.failure, right.failure))


def emit_extreme(emitter: Emitter, expression: Extreme) -> Emitted:
    """Emit GREATEST or LEAST."""
    first, *others = expression.operands
    found = emitter.emit(first)
    for operand in others:
        found = _more_extreme(emitter, expression.which, operand, found)
    return found


def _more_extreme(emitter: Emitter, which: str, operand: Expression, found: Emitted) -> Emitted:
    builder = emitter.builder
    each = emitter.emit(operand)
    symbol = ">" if which == "greatest" else "<"
    is_better = compared(emitter, symbol, [each.value, found.value], [operand.type] * 2)
    if found.is_null is not None:
        is_better = builder.or_(is_better, found.is_null)
    if each.is_null is not None:
        is_better = builder.and_(is_better, builder.not_(each.is_null))
    is_null = None
    if found.is_null is not None and each.is_null is not None:
        is_null = builder.and_(found.is_null, each.is_null)
    value = emitter.select(is_better, each.value, found.value)
    return Emitted(value, is_null, emitter.any(found.failure, each.failure))
