"""Arithmetic, with PostgreSQL's checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from llvmlite import ir

from twinjit.sql.codegen.calls import call_runtime
from twinjit.sql.codegen.emitter import Emitter
from twinjit.sql.codegen.numerics import emit_numeric
from twinjit.sql.codegen.values import VALUE_TYPES, WORD
from twinjit.sql.tree import Call
from twinjit.sql.types import INTEGERS, Kind

__all__ = [
    "emit_arithmetic",
    "float_operation",
    "intrinsic",
    "is_infinite",
    "narrowed",
    "underflow",
]

_Result = tuple[ir.Value, "ir.Value | None"]


def emit_arithmetic(emitter: Emitter, call: Call, values: Sequence[ir.Value]) -> _Result:
    """Emit an operation on numbers or dates of one kind."""
    kind = call.type.kind
    if call.function == "days_between":
        return _checked(emitter, "subtract", values, "int4")
    if kind in INTEGERS:
        return _integer(emitter, call.function, values, kind)
    if kind == "numeric":
        return emit_numeric(emitter, call, values)
    return _float(emitter, call.function, values)


# Integers


def _integer(emitter: Emitter, name: str, values: Sequence[ir.Value], kind: Kind) -> _Result:
    builder = emitter.builder
    if name in ("divide", "modulo"):
        return _division(emitter, name, values, kind)
    if name == "negate":
        return _checked(emitter, "subtract", (values[0].type(0), values[0]), kind)
    if name == "abs":
        (value,) = values
        negated, failure = _integer(emitter, "negate", values, kind)
        is_negative = builder.icmp_signed("<", value, value.type(0))
        unless = emitter.unless(builder.not_(is_negative), failure)
        return builder.select(is_negative, negated, value), unless
    return _checked(emitter, name, values, kind)


def _checked(emitter: Emitter, name: str, values: Sequence[ir.Value], kind: Kind) -> _Result:
    """Add, subtract or multiply: in twice the width, or, for 64 bits, by the signs."""
    builder = emitter.builder
    operate = {"add": builder.add, "subtract": builder.sub, "multiply": builder.mul}[name]
    type_ = values[0].type
    if type_ == WORD and name != "multiply":
        result = operate(*values)
        left, right = values
        other = right if name == "add" else builder.not_(right)
        # The operands have one sign, and the result has the other.
        signs = builder.and_(builder.xor(left, result), builder.xor(other, result))
        return result, builder.icmp_signed("<", signs, WORD(0))
    wide_type = ir.IntType(128) if type_ == WORD else WORD
    return narrowed(emitter, operate(*(builder.sext(each, wide_type) for each in values)), kind)


def narrowed(emitter: Emitter, wide: ir.Value, kind: Kind) -> _Result:
    """Bring an integer to a narrower kind, which may not hold it."""
    builder = emitter.builder
    result = builder.trunc(wide, VALUE_TYPES[kind])
    return result, builder.icmp_signed("!=", builder.sext(result, wide.type), wide)


def _division(emitter: Emitter, name: str, values: Sequence[ir.Value], kind: Kind) -> _Result:
    builder = emitter.builder
    left, right = values
    type_ = left.type
    is_zero = builder.icmp_signed("==", right, type_(0))
    is_minus_one = builder.icmp_signed("==", right, type_(-1))
    # Neither may reach the processor, which traps; what divides by minus one is negated.
    divisor = builder.select(builder.or_(is_zero, is_minus_one), type_(1), right)
    if name == "modulo":
        rest = builder.srem(left, divisor)
        return builder.select(is_minus_one, type_(0), rest), is_zero
    negated, failure = _checked(emitter, "subtract", (type_(0), left), kind)
    overflow = emitter.unless(builder.not_(is_minus_one), failure)
    quotient = builder.sdiv(left, divisor)
    return builder.select(is_minus_one, negated, quotient), emitter.any(is_zero, overflow)


# Floats


def intrinsic(emitter: Emitter, name: str, value: ir.Value) -> ir.Value:
    """Call one of LLVM's functions of a float, such as ``fabs``."""
    function = emitter.module().declare_intrinsic(f"llvm.{name}", [value.type])
    return emitter.builder.call(function, [value])


_IN_PLACE: Final = {"floor": "floor", "ceil": "ceil", "round": "rint", "trunc": "trunc"}


def _float(emitter: Emitter, name: str, values: Sequence[ir.Value]) -> _Result:
    builder = emitter.builder
    if name == "negate":
        return builder.fneg(values[0]), None
    if name == "abs":
        return intrinsic(emitter, "fabs", values[0]), None
    if name in _IN_PLACE:
        return intrinsic(emitter, _IN_PLACE[name], values[0]), None
    if name in ("sqrt", "exp", "ln", "power"):
        return call_runtime(emitter, name, values)
    result = float_operation(emitter, name, values)
    overflow = _overflow(emitter, name, values, result)
    return result, emitter.any(overflow, *_other_failures(emitter, name, values, result))


def float_operation(emitter: Emitter, name: str, values: Sequence[ir.Value]) -> ir.Value:
    """Add, subtract, multiply or divide, and check nothing."""
    builder = emitter.builder
    operate = {
        "add": builder.fadd,
        "subtract": builder.fsub,
        "multiply": builder.fmul,
        "divide": builder.fdiv,
    }[name]
    return operate(*values)


def _overflow(
    emitter: Emitter, name: str, values: Sequence[ir.Value], result: ir.Value
) -> ir.Value:
    """Say where a result is infinite, though the operands are not."""
    builder = emitter.builder
    # What is divided by does not matter.
    operands = values[:1] if name == "divide" else values
    from_infinite = emitter.any(*(is_infinite(emitter, each) for each in operands))
    return builder.and_(is_infinite(emitter, result), builder.not_(from_infinite))


def _other_failures(
    emitter: Emitter, name: str, values: Sequence[ir.Value], result: ir.Value
) -> Iterator[ir.Value]:
    builder = emitter.builder
    left, right = values
    zero = ir.Constant(left.type, 0.0)
    if name == "multiply":
        yield underflow(emitter, values, result)
    if name == "divide":
        is_lost = builder.and_(
            builder.fcmp_ordered("==", result, zero), builder.fcmp_unordered("!=", left, zero)
        )
        yield builder.and_(is_lost, builder.not_(is_infinite(emitter, right)))
        yield builder.and_(
            builder.fcmp_ordered("==", right, zero), builder.fcmp_ordered("ord", left, left)
        )


def underflow(emitter: Emitter, values: Sequence[ir.Value], product: ir.Value) -> ir.Value:
    """Say where a product is zero, though the factors are not."""
    builder = emitter.builder
    zero = ir.Constant(product.type, 0.0)
    are_not_zero = (builder.fcmp_unordered("!=", each, zero) for each in values)
    return builder.and_(builder.fcmp_ordered("==", product, zero), builder.and_(*are_not_zero))


def is_infinite(emitter: Emitter, value: ir.Value) -> ir.Value:
    """Give the bit that is set where a float is infinite."""
    magnitude = intrinsic(emitter, "fabs", value)
    infinity = ir.Constant(value.type, float("inf"))
    return emitter.builder.fcmp_ordered("==", magnitude, infinity)
