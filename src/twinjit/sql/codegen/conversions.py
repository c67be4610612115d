"""CAST."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from llvmlite import ir

from twinjit.sql.codegen.arithmetic import intrinsic, is_infinite, narrowed
from twinjit.sql.codegen.bounds import bound_of
from twinjit.sql.codegen.calls import call_runtime
from twinjit.sql.codegen.emitter import Emitter
from twinjit.sql.codegen.numerics import rescaled
from twinjit.sql.codegen.strict import emit_branching, emit_strict
from twinjit.sql.codegen.values import VALUE_TYPES, Emitted
from twinjit.sql.runtime import UNITS
from twinjit.sql.tree import Call
from twinjit.sql.types import FLOATS, INTEGERS, Kind, SqlType

__all__ = ["convert", "emit_cast"]

_Result = tuple[ir.Value, "ir.Value | None"]

_WIDE = VALUE_TYPES["numeric"]
_INLINE: Final = frozenset((*INTEGERS, *FLOATS, "bool"))


def emit_cast(emitter: Emitter, call: Call) -> Emitted:
    """Emit a conversion, without branches between plain numbers."""
    kinds = {call.arguments[0].type.kind, call.type.kind}
    emit = emit_strict if kinds <= _INLINE else emit_branching
    return emit(emitter, call, _convert)


def _convert(emitter: Emitter, call: Call, values: Sequence[ir.Value]) -> _Result:
    (operand,) = call.arguments
    bound = bound_of(operand, emitter.loader.layouts)
    return convert(emitter, values[0], operand.type, call.type, bound)


def convert(
    emitter: Emitter, value: ir.Value, source: SqlType, target: SqlType, bound: int
) -> _Result:
    """Convert a value that is not null, and, if it is exact, not above a bound in magnitude."""
    if source == target:
        return value, None
    if target.kind == "text":
        return _to_text(emitter, value, source)
    if source.kind == "text":
        return _from_text(emitter, value, target)
    pair = (_family(source.kind), _family(target.kind))
    if target.kind == "numeric" and pair[0] in ("integer", "numeric"):
        wide = value if source.kind == "numeric" else emitter.builder.sext(value, _WIDE)
        return rescaled(emitter, wide, source.scale, target.scale, bound)
    return _CONVERSIONS[pair](emitter, value, source, target)


def _family(kind: Kind) -> str:
    return "integer" if kind in INTEGERS else "float" if kind in FLOATS else kind


def _to_text(emitter: Emitter, value: ir.Value, source: SqlType) -> _Result:
    builder = emitter.builder
    if source.kind == "bool":
        return call_runtime(emitter, "bool_to_text", [builder.zext(value, ir.IntType(32))])
    if source.kind in INTEGERS:
        wide = value if source.kind == "int8" else builder.sext(value, VALUE_TYPES["int8"])
        return call_runtime(emitter, "int8_to_text", [wide])
    arguments: list[ir.Value | int] = [value]
    if source.kind == "numeric":
        arguments.append(source.scale)
    elif source.kind == "timestamp":
        arguments.append(UNITS[source.unit])
    return call_runtime(emitter, f"{source.kind}_to_text", arguments)


def _from_text(emitter: Emitter, value: ir.Value, target: SqlType) -> _Result:
    arguments: list[ir.Value | int] = [value]
    if target.kind == "numeric":
        arguments.append(target.scale)
    elif target.kind == "timestamp":
        arguments.append(UNITS[target.unit])
    return call_runtime(emitter, f"text_to_{target.kind}", arguments)


def _integers(emitter: Emitter, value: ir.Value, source: SqlType, target: SqlType) -> _Result:
    if INTEGERS.index(target.kind) > INTEGERS.index(source.kind):
        return emitter.builder.sext(value, VALUE_TYPES[target.kind]), None
    return narrowed(emitter, value, target.kind)


def _integer_to_float(emitter: Emitter, value: ir.Value, _: SqlType, target: SqlType) -> _Result:
    return emitter.builder.sitofp(value, VALUE_TYPES[target.kind]), None


def _float_to_integer(emitter: Emitter, value: ir.Value, _: SqlType, target: SqlType) -> _Result:
    """Round half to even, and check in the float's own type, as PostgreSQL does."""
    builder = emitter.builder
    rounded = intrinsic(emitter, "rint", value)
    type_ = VALUE_TYPES[target.kind]
    end = 2.0 ** (type_.width - 1)
    is_in = builder.and_(
        builder.fcmp_ordered(">=", rounded, ir.Constant(rounded.type, -end)),
        builder.fcmp_ordered("<", rounded, ir.Constant(rounded.type, end)),
    )
    safe = builder.select(is_in, rounded, ir.Constant(rounded.type, 0.0))
    return builder.fptosi(safe, type_), builder.not_(is_in)


def _floats(emitter: Emitter, value: ir.Value, source: SqlType, _: SqlType) -> _Result:
    builder = emitter.builder
    if source.kind == "float4":
        return builder.fpext(value, ir.DoubleType()), None
    result = builder.fptrunc(value, ir.FloatType())
    is_over = builder.and_(is_infinite(emitter, result), builder.not_(is_infinite(emitter, value)))
    is_under = builder.and_(
        builder.fcmp_ordered("==", result, ir.Constant(result.type, 0.0)),
        builder.fcmp_unordered("!=", value, ir.Constant(value.type, 0.0)),
    )
    return result, builder.or_(is_over, is_under)


def _numeric_to_number(
    emitter: Emitter, value: ir.Value, source: SqlType, target: SqlType
) -> _Result:
    return call_runtime(emitter, f"numeric_to_{target.kind}", [value, source.scale])


def _float_to_numeric(
    emitter: Emitter, value: ir.Value, source: SqlType, target: SqlType
) -> _Result:
    return call_runtime(emitter, f"{source.kind}_to_numeric", [value, target.scale])


def _bool_to_integer(emitter: Emitter, value: ir.Value, _: SqlType, target: SqlType) -> _Result:
    return emitter.builder.zext(value, VALUE_TYPES[target.kind]), None


def _integer_to_bool(emitter: Emitter, value: ir.Value, _: SqlType, __: SqlType) -> _Result:
    return emitter.builder.icmp_signed("!=", value, value.type(0)), None


def _date_to_timestamp(emitter: Emitter, value: ir.Value, _: SqlType, target: SqlType) -> _Result:
    return call_runtime(emitter, "date_to_timestamp", [value, UNITS[target.unit]])


def _timestamp_to_date(emitter: Emitter, value: ir.Value, source: SqlType, _: SqlType) -> _Result:
    return call_runtime(emitter, "timestamp_to_date", [value, UNITS[source.unit]])


def _timestamps(emitter: Emitter, value: ir.Value, source: SqlType, target: SqlType) -> _Result:
    arguments = [value, UNITS[source.unit], UNITS[target.unit]]
    return call_runtime(emitter, "timestamp_rescale", arguments)


_CONVERSIONS: Final[
    dict[tuple[str, str], Callable[[Emitter, ir.Value, SqlType, SqlType], _Result]]
] = {
    ("integer", "integer"): _integers,
    ("integer", "float"): _integer_to_float,
    ("integer", "bool"): _integer_to_bool,
    ("bool", "integer"): _bool_to_integer,
    ("float", "integer"): _float_to_integer,
    ("float", "float"): _floats,
    ("float", "numeric"): _float_to_numeric,
    ("numeric", "integer"): _numeric_to_number,
    ("numeric", "float"): _numeric_to_number,
    ("date", "timestamp"): _date_to_timestamp,
    ("timestamp", "date"): _timestamp_to_date,
    ("timestamp", "timestamp"): _timestamps,
}
