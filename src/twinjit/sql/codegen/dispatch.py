"""Which module emits which kind of expression."""

from __future__ import annotations

from llvmlite import ir

from twinjit.sql.codegen.arithmetic import emit_arithmetic
from twinjit.sql.codegen.comparisons import (
    COMPARISONS,
    emit_comparison,
    emit_distinct,
    emit_extreme,
)
from twinjit.sql.codegen.conversions import emit_cast
from twinjit.sql.codegen.emitter import Emitter
from twinjit.sql.codegen.float_trees import emit_tree, is_tree
from twinjit.sql.codegen.functions import FUNCTIONS_BY_NAME, emit_function
from twinjit.sql.codegen.logic import (
    emit_and,
    emit_boolean_test,
    emit_case,
    emit_coalesce,
    emit_null_if,
    emit_or,
)
from twinjit.sql.codegen.strict import emit_strict
from twinjit.sql.codegen.values import VALUE_TYPES, Emitted
from twinjit.sql.tree import (
    And,
    BooleanTest,
    Call,
    Case,
    Coalesce,
    Column,
    Constant,
    Expression,
    Extreme,
    IsDistinct,
    IsNull,
    NullIf,
    Or,
    Parameter,
)

__all__ = ["emit_expression"]


def emit_expression(emitter: Emitter, expression: Expression) -> Emitted:
    """Emit an expression of any kind."""
    match expression:
        case Column():
            return emitter.loader.column(emitter, expression)
        case Parameter():
            return emitter.loader.slot(emitter, expression)
        case Constant():
            return _constant(emitter, expression)
        case Call():
            return _call(emitter, expression)
        case And():
            return emit_and(emitter, expression)
        case Or():
            return emit_or(emitter, expression)
        case Case():
            return emit_case(emitter, expression)
        case Coalesce():
            return emit_coalesce(emitter, expression)
        case Extreme():
            return emit_extreme(emitter, expression)
        case NullIf():
            return emit_null_if(emitter, expression)
        case IsNull():
            operand = emitter.emit(expression.operand)
            return Emitted(operand.null_bit, None, operand.failure)
        case IsDistinct():
            return emit_distinct(emitter, expression)
        case BooleanTest():
            return emit_boolean_test(emitter, expression)


def _constant(emitter: Emitter, constant: Constant) -> Emitted:
    if constant.value is None:
        return emitter.null(constant.type)
    if constant.type.kind == "text":
        raise AssertionError("texts are lifted")
    return Emitted(ir.Constant(VALUE_TYPES[constant.type.kind], constant.value))


def _call(emitter: Emitter, call: Call) -> Emitted:
    if call.function in COMPARISONS:
        return emit_strict(emitter, call, emit_comparison)
    if call.function == "cast":
        return emit_cast(emitter, call)
    if call.function == "not":
        operand = emitter.emit(call.arguments[0])
        return Emitted(emitter.builder.not_(operand.value), operand.is_null, operand.failure)
    if call.function in FUNCTIONS_BY_NAME:
        return emit_function(emitter, call)
    if is_tree(call) and not emitter.is_exact:
        return emit_tree(emitter, call)
    return emit_strict(emitter, call, emit_arithmetic)
