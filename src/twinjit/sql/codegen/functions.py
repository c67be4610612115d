"""Functions of text and dates, which the runtime has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from llvmlite import ir

from twinjit.sql.codegen.calls import call_runtime
from twinjit.sql.codegen.emitter import Emitter
from twinjit.sql.codegen.numerics import limited
from twinjit.sql.codegen.strict import emit_branching
from twinjit.sql.codegen.values import Emitted
from twinjit.sql.runtime import FIELDS, UNITS
from twinjit.sql.tree import Call, Constant, Expression

__all__ = ["FUNCTIONS_BY_NAME", "emit_function"]

_Result = tuple[ir.Value, "ir.Value | None"]


def emit_function(emitter: Emitter, call: Call) -> Emitted:
    """Emit a call of a function in `FUNCTIONS_BY_NAME`."""
    kept = tuple(each for each in call.arguments if not _is_structure(call, each))
    compute = FUNCTIONS_BY_NAME[call.function]
    reduced = Call(call.function, kept, call.type)
    return emit_branching(emitter, reduced, lambda _, __, values: compute(emitter, call, values))


def _is_structure(call: Call, argument: Expression) -> bool:
    """Whether an argument says which code is made, and is no value in it."""
    if call.function in ("extract", "date_trunc"):
        return argument is call.arguments[0]
    return call.function == "numeric_limit" and argument is call.arguments[1]


def _text(expression: Expression) -> str:
    if isinstance(expression, Constant) and isinstance(expression.value, bytes):
        return expression.value.decode()
    raise AssertionError(f"{expression} is no field")


def _number(expression: Expression) -> int:
    if isinstance(expression, Constant) and isinstance(expression.value, int):
        return expression.value
    raise AssertionError(f"{expression} is no number of digits")


def _of_constant_field(emitter: Emitter, call: Call, values: Sequence[ir.Value]) -> _Result:
    source, field = call.arguments[1].type, FIELDS[_text(call.arguments[0])]
    if call.function == "date_trunc":
        return call_runtime(emitter, "date_trunc", [values[0], UNITS[source.unit], field])
    if source.kind == "date":
        return call_runtime(emitter, "extract_date", [values[0], field, call.type.scale])
    arguments = [values[0], UNITS[source.unit], field, call.type.scale]
    return call_runtime(emitter, "extract_timestamp", arguments)


def _limit(emitter: Emitter, call: Call, values: Sequence[ir.Value]) -> _Result:
    return values[0], limited(emitter, values[0], _number(call.arguments[1]))


def _same(name: str) -> Callable[[Emitter, Call, Sequence[ir.Value]], _Result]:
    return lambda emitter, _, values: call_runtime(emitter, name, values)


def _substring(emitter: Emitter, _: Call, values: Sequence[ir.Value]) -> _Result:
    name = "substring" if len(values) == 2 else "substring_for"
    return call_runtime(emitter, name, values)


def _add_interval(emitter: Emitter, call: Call, values: Sequence[ir.Value]) -> _Result:
    unit = UNITS[call.type.unit]
    return call_runtime(emitter, "add_interval", [values[0], unit, *values[1:]])


FUNCTIONS_BY_NAME: Final[dict[str, Callable[[Emitter, Call, Sequence[ir.Value]], _Result]]] = {
    **dict.fromkeys(("extract", "date_trunc"), _of_constant_field),
    "numeric_limit": _limit,
    **{name: _same(name) for name in ("concat", "length", "lower", "upper", "like", "ilike")},
    **{name: _same(name) for name in ("add_days", "subtract_days")},
    "substring": _substring,
    "add_interval": _add_interval,
}
