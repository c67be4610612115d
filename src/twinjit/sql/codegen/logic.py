"""AND, OR, CASE and their like: what guards what."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from twinjit.sql.codegen.cost import is_cheap
from twinjit.sql.codegen.emitter import Emitter
from twinjit.sql.codegen.values import BIT, Emitted
from twinjit.sql.tree import And, BooleanTest, Case, Coalesce, Expression, NullIf, Or
from twinjit.sql.types import SqlType

__all__ = [
    "emit_and",
    "emit_boolean_test",
    "emit_case",
    "emit_coalesce",
    "emit_null_if",
    "emit_or",
]


def _guarded(
    emitter: Emitter,
    condition: ir.Value,
    parts: Sequence[Expression],
    work: Callable[[], Emitted],
    type_: SqlType,
) -> Emitted:
    """Do what only counts where a bit is set, with a branch unless all its parts are cheap."""
    if not all(is_cheap(each, emitter.loader.layouts) for each in parts):
        return emitter.guarded(condition, work, Emitted(emitter.null(type_).value))
    found = work()
    unless = emitter.unless(emitter.builder.not_(condition), found.failure)
    return Emitted(found.value, found.is_null, unless)


def _reached(emitter: Emitter, condition: ir.Value, expression: Expression) -> Emitted:
    return _guarded(
        emitter, condition, [expression], lambda: emitter.emit(expression), expression.type
    )


def emit_and(emitter: Emitter, expression: And) -> Emitted:
    """Emit AND."""
    return _chain(emitter, expression.operands, ends=False)


def emit_or(emitter: Emitter, expression: Or) -> Emitted:
    """Emit OR."""
    return _chain(emitter, expression.operands, ends=True)


def _chain(emitter: Emitter, operands: Sequence[Expression], *, ends: bool) -> Emitted:
    """Emit operands of which the first that is `ends`, and not null, is the result."""
    builder = emitter.builder
    first, *others = operands
    found = emitter.emit(first)
    value, is_null, failure = found.value, found.is_null, found.failure
    for operand in others:
        # It goes on where nothing has ended it, nor failed.
        goes_on = builder.not_(value) if ends else value
        if is_null is not None:
            goes_on = builder.or_(goes_on, is_null)
        if failure is not None:
            goes_on = builder.and_(goes_on, builder.not_(failure))
        each = _reached(emitter, goes_on, operand)
        failure = emitter.any(failure, each.failure)
        value, is_null = _joined(emitter, (value, is_null), (each.value, each.is_null), ends)
    return Emitted(value, is_null, failure)


_Truth = tuple[ir.Value, "ir.Value | None"]


def _joined(emitter: Emitter, left: _Truth, right: _Truth, ends: bool) -> _Truth:
    builder = emitter.builder
    # A null is written as what does not end it, so that values alone tell.
    values = [_neutral(emitter, each, ends) for each in (left, right)]
    value = builder.or_(*values) if ends else builder.and_(*values)
    is_null = emitter.any(left[1], right[1])
    if is_null is None:
        return value, None
    is_ended = value if ends else builder.not_(value)
    return value, builder.and_(is_null, builder.not_(is_ended))


def _neutral(emitter: Emitter, truth: _Truth, ends: bool) -> ir.Value:
    value, is_null = truth
    if is_null is None:
        return value
    return emitter.builder.select(is_null, ir.Constant(BIT, int(not ends)), value)


def emit_case(emitter: Emitter, expression: Case) -> Emitted:
    """Emit CASE: conditions from the first on, then what the first true one says."""
    return _branches(emitter, list(expression.branches), expression.otherwise)


def _branches(
    emitter: Emitter, branches: list[tuple[Expression, Expression]], otherwise: Expression
) -> Emitted:
    if not branches:
        return emitter.emit(otherwise)
    builder = emitter.builder
    (condition, result), *others = branches
    tested = emitter.emit(condition)
    is_true = emitter.is_true(tested)
    is_false = builder.not_(is_true)
    if tested.failure is not None:
        has_not_failed = builder.not_(tested.failure)
        is_true, is_false = (builder.and_(each, has_not_failed) for each in (is_true, is_false))
    yes = _reached(emitter, is_true, result)
    rest = [part for pair in others for part in pair] + [otherwise]
    no = _guarded(
        emitter, is_false, rest, lambda: _branches(emitter, others, otherwise), otherwise.type
    )
    return _chosen(emitter, is_true, yes, no, tested.failure)


def _chosen(
    emitter: Emitter, condition: ir.Value, yes: Emitted, no: Emitted, before: ir.Value | None
) -> Emitted:
    builder = emitter.builder
    is_null = None
    if yes.is_null is not None or no.is_null is not None:
        is_null = builder.select(condition, yes.null_bit, no.null_bit)
    failure = emitter.any(before, yes.failure, no.failure)
    return Emitted(emitter.select(condition, yes.value, no.value), is_null, failure)


def emit_coalesce(emitter: Emitter, expression: Coalesce) -> Emitted:
    """Emit COALESCE."""
    return _first_value(emitter, list(expression.operands))


def _first_value(emitter: Emitter, operands: list[Expression]) -> Emitted:
    first, *others = operands
    found = emitter.emit(first)
    if not others or found.is_null is None:
        return found
    builder = emitter.builder
    goes_on = found.is_null
    if found.failure is not None:
        goes_on = builder.and_(goes_on, builder.not_(found.failure))
    rest = _guarded(emitter, goes_on, others, lambda: _first_value(emitter, others), first.type)
    value = emitter.select(found.is_null, rest.value, found.value)
    is_null = None if rest.is_null is None else builder.and_(found.is_null, rest.is_null)
    return Emitted(value, is_null, emitter.any(found.failure, rest.failure))


def emit_null_if(emitter: Emitter, expression: NullIf) -> Emitted:
    """Emit NULLIF."""
    equal = emitter.emit(expression.equal)
    operand = emitter.emit(expression.operand)
    is_null = emitter.any(operand.is_null, emitter.is_true(equal))
    return Emitted(operand.value, is_null, emitter.any(equal.failure, operand.failure))


def emit_boolean_test(emitter: Emitter, expression: BooleanTest) -> Emitted:
    """Emit IS TRUE, IS FALSE and IS UNKNOWN."""
    operand = emitter.emit(expression.operand)
    if expression.value is None:
        return Emitted(operand.null_bit, None, operand.failure)
    value = operand.value if expression.value else emitter.builder.not_(operand.value)
    return Emitted(emitter.is_true(Emitted(value, operand.is_null)), None, operand.failure)
