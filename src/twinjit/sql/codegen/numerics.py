"""Numerics: integers of 128 bits below 10^38, at scales that their types have."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from twinjit.sql.codegen.bounds import LARGEST, WORD_BOUND, bound_of, exact_bound_of
from twinjit.sql.codegen.calls import call_runtime
from twinjit.sql.codegen.emitter import Emitter
from twinjit.sql.codegen.values import WORD, Emitted
from twinjit.sql.tree import Call

__all__ = ["emit_numeric", "limited", "rescaled"]

_Result = tuple[ir.Value, "ir.Value | None"]

_WIDE = ir.IntType(128)
_END = LARGEST + 1
_FITS_WORD = 18
"""The digits of a power of ten with which the product of a word stays below `_END`."""


def emit_numeric(emitter: Emitter, call: Call, values: Sequence[ir.Value]) -> _Result:
    """Emit an operation whose result is a numeric."""
    builder = emitter.builder
    name = call.function
    scales = [each.type.scale for each in call.arguments]
    if name == "negate":
        return builder.neg(values[0]), None
    if name == "abs":
        is_negative = builder.icmp_signed("<", values[0], _WIDE(0))
        return builder.select(is_negative, builder.neg(values[0]), values[0]), None
    if name in ("add", "subtract"):
        return _sum(emitter, call, values)
    if name == "multiply":
        return _product(emitter, call, values)
    if name in ("floor", "ceil"):
        return call_runtime(emitter, f"numeric_{name}", [values[0], scales[0]])
    if name in ("round", "trunc"):
        digits = call.type.scale
        return call_runtime(emitter, f"numeric_{name}", [values[0], scales[0], digits, digits])
    arguments = [values[0], scales[0], values[1], scales[1], call.type.scale]
    return call_runtime(emitter, f"numeric_{name}", arguments)


def _sum(emitter: Emitter, call: Call, values: Sequence[ir.Value]) -> _Result:
    builder, layouts = emitter.builder, emitter.loader.layouts
    operands, failures = [], []
    for value, argument in zip(values, call.arguments, strict=True):
        bound = bound_of(argument, layouts)
        operand, failure = rescaled(emitter, value, argument.type.scale, call.type.scale, bound)
        operands.append(operand)
        failures.append(failure)
    result = builder.add(*operands) if call.function == "add" else builder.sub(*operands)
    bound = exact_bound_of(call, layouts)
    if bound <= LARGEST:
        return _narrowed(emitter, result, bound), emitter.any(*failures)
    return result, emitter.any(*failures, _is_out(emitter, result, _END))


def _narrowed(emitter: Emitter, value: ir.Value, bound: int) -> ir.Value:
    """Tell LLVM that a value fits into a word, if it does."""
    return _as_word(emitter, value) if bound <= WORD_BOUND else value


def _is_out(emitter: Emitter, value: ir.Value, end: int) -> ir.Value:
    builder = emitter.builder
    return builder.or_(
        builder.icmp_signed(">=", value, _WIDE(end)), builder.icmp_signed("<=", value, _WIDE(-end))
    )


def limited(emitter: Emitter, value: ir.Value, digits: int) -> ir.Value:
    """Give the failure of a value with more digits."""
    return _is_out(emitter, value, 10**digits)


def _product(emitter: Emitter, call: Call, values: Sequence[ir.Value]) -> _Result:
    bound = exact_bound_of(call, emitter.loader.layouts)
    if bound <= LARGEST:
        return _narrowed(emitter, emitter.builder.mul(*values), bound), None
    # A product of two words of 63 bits is below 10^38.
    are_words = emitter.builder.and_(*(_is_word(emitter, each) for each in values))
    return _word_or(
        emitter,
        are_words,
        lambda: emitter.builder.mul(*(_as_word(emitter, each) for each in values)),
        lambda: call_runtime(emitter, "numeric_multiply", values),
    )


def _is_word(emitter: Emitter, value: ir.Value) -> ir.Value:
    return emitter.builder.icmp_signed("==", _as_word(emitter, value), value)


def _as_word(emitter: Emitter, value: ir.Value) -> ir.Value:
    """Give the number that the low word is, in 128 bits again."""
    return emitter.builder.sext(emitter.builder.trunc(value, WORD), _WIDE)


def _word_or(
    emitter: Emitter,
    is_word: ir.Value,
    fast: Callable[[], ir.Value],
    slow: Callable[[], _Result],
) -> _Result:
    """Compute what nearly always is of words, and has no failure then, with a branch beside it."""
    quick = Emitted(fast())

    def work() -> Emitted:
        value, failure = slow()
        return Emitted(value, None, failure)

    found = emitter.guarded(emitter.builder.not_(is_word), work, quick)
    return found.value, found.failure


def rescaled(emitter: Emitter, value: ir.Value, scale: int, to: int, bound: int) -> _Result:
    """Bring a value, not above a bound in magnitude, to another scale.

    It is rounded half away from zero.
    """
    digits = to - scale
    if digits == 0:
        return value, None
    if digits > 0 and bound * 10**digits <= LARGEST:
        product = emitter.builder.mul(value, _WIDE(10**digits))
        return _narrowed(emitter, product, bound * 10**digits), None
    if isinstance(value, ir.Constant) or not 0 < digits <= _FITS_WORD:
        return call_runtime(emitter, "numeric_rescale", [value, scale, to])
    return _word_or(
        emitter,
        _is_word(emitter, value),
        lambda: emitter.builder.mul(_as_word(emitter, value), _WIDE(10**digits)),
        lambda: call_runtime(emitter, "numeric_rescale", [value, scale, to]),
    )
