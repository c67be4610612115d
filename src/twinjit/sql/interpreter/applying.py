"""Strict functions and operators over vectors, by the runtime's functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from twinjit._native import _sql
from twinjit.sql.columns import new_values
from twinjit.sql.interpreter.vectors import Bytes
from twinjit.sql.runtime import FIELDS, UNITS
from twinjit.sql.tree import Call, Constant, Expression
from twinjit.sql.types import FLOATS, INTEGERS, Kind, SqlType

__all__ = ["COMPARISONS", "Applier"]

_Array = npt.NDArray[Any]

COMPARISONS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
}


class Applier:
    """Applies functions to rows.

    Parameters
    ----------
    active
        Shape (rows,): which of them.
    failures
        Shape (rows,): takes the codes of those that fail; those that have failed are left out.
    arena
        For texts.
    """

    def __init__(self, active: Bytes, failures: Bytes, arena: _sql.Arena) -> None:
        self._active = active
        self._failures = failures
        self._arena = arena

    def apply(self, name: str, arguments: Sequence[_Array | int], kind: Kind) -> _Array:
        """Apply one of the runtime's functions, whose result is of a kind."""
        result = new_values(kind, len(self._active))
        _sql.apply(name, list(arguments), self._active, result, self._failures, self._arena)
        return result

    def call(self, call: Call, values: Sequence[_Array]) -> _Array:
        """Apply what a call names."""
        name = call.function
        if name in COMPARISONS:
            return self.compare(name, values, [each.type for each in call.arguments])
        if name == "cast":
            return self.convert(values[0], call.arguments[0].type, call.type)
        if name == "not":
            return np.subtract(1, values[0])
        if name in _FUNCTIONS:
            return _FUNCTIONS[name](self, call, values)
        return self._arithmetic(call, values)

    # Comparisons

    def compare(self, name: str, values: Sequence[_Array], types: Sequence[SqlType]) -> _Array:
        """Compare values of one kind."""
        left, right = values
        order = self._order(left, right, *types)
        found = COMPARISONS[name](left, right) if order is None else COMPARISONS[name](order, 0)
        return np.asarray(found, np.uint8)

    def _order(self, left: _Array, right: _Array, *types: SqlType) -> _Array | None:
        """Give -1, 0 or 1; None where the values tell by themselves."""
        kind = types[0].kind
        if kind in FLOATS:
            wide = [np.asarray(each, np.float64) for each in (left, right)]
            return self.apply("float8_compare", wide, "int4")
        if kind == "text":
            return self.apply("compare", [left, right], "int4")
        if kind == "numeric":
            scales = [each.scale for each in types]
            return self.apply("numeric_compare", [left, scales[0], right, scales[1]], "int4")
        if kind == "timestamp" and types[0].unit != types[1].unit:
            units = [UNITS[each.unit] for each in types]
            return self.apply("timestamp_compare", [left, units[0], right, units[1]], "int4")
        return None

    # Arithmetic

    def _arithmetic(self, call: Call, values: Sequence[_Array]) -> _Array:
        name, kind = call.function, call.type.kind
        if name == "days_between":
            return self.apply("int4_subtract", values, "int4")
        if kind in INTEGERS:
            return self.apply(f"{kind}_{name}", values, kind)
        if kind == "numeric":
            return self._numeric(call, values)
        if name == "negate":
            return np.negative(values[0])
        if name == "abs":
            return np.absolute(values[0])
        if name in ("sqrt", "exp", "ln", "power"):
            return self.apply(name, values, kind)
        return self.apply(f"{kind}_{name}", values, kind)

    def _numeric(self, call: Call, values: Sequence[_Array]) -> _Array:
        name, scale = call.function, call.type.scale
        scales = [each.type.scale for each in call.arguments]
        if name in ("add", "subtract"):
            values = [
                self._rescaled(value, own, scale) for value, own in zip(values, scales, strict=True)
            ]
            return self.apply(f"numeric_{name}", values, "numeric")
        if name in ("add", "subtract", "negate", "abs", "multiply"):
            return self.apply(f"numeric_{name}", values, "numeric")
        if name in ("floor", "ceil"):
            return self.apply(f"numeric_{name}", [values[0], scales[0]], "numeric")
        if name in ("round", "trunc"):
            return self.apply(f"numeric_{name}", [values[0], scales[0], scale, scale], "numeric")
        operands: list[_Array | int]
        operands = [values[0], scales[0], values[1], scales[1], scale]
        return self.apply(f"numeric_{name}", operands, "numeric")

    def _rescaled(self, value: _Array, scale: int, to: int) -> _Array:
        if scale == to:
            return value
        return self.apply("numeric_rescale", [value, scale, to], "numeric")

    # Conversions

    def convert(self, value: _Array, source: SqlType, target: SqlType) -> _Array:
        """Convert values to another type."""
        if source == target:
            return value
        if target.kind == "text":
            return self._to_text(value, source)
        if source.kind == "text":
            return self.apply(f"text_to_{target.kind}", [value, *_precision(target)], target.kind)
        if source.kind == target.kind == "timestamp":
            units = UNITS[source.unit], UNITS[target.unit]
            return self.apply("timestamp_rescale", [value, *units], "timestamp")
        if "bool" in (source.kind, target.kind):
            dtype = new_values(target.kind, 0).dtype
            return np.asarray(value != 0, dtype)
        if "numeric" in (source.kind, target.kind):
            return self._to_or_from_numeric(value, source, target)
        if source.kind in INTEGERS or source.kind in FLOATS:
            return self._number(value, source.kind, target.kind)
        unit = UNITS[target.unit if target.kind == "timestamp" else source.unit]
        return self.apply(f"{source.kind}_to_{target.kind}", [value, unit], target.kind)

    def _to_text(self, value: _Array, source: SqlType) -> _Array:
        if source.kind in INTEGERS:
            return self.apply("int8_to_text", [np.asarray(value, np.int64)], "text")
        return self.apply(f"{source.kind}_to_text", [value, *_precision(source)], "text")

    def _to_or_from_numeric(self, value: _Array, source: SqlType, target: SqlType) -> _Array:
        if source.kind == "numeric":
            if target.kind == "numeric":
                return self._rescaled(value, source.scale, target.scale)
            return self.apply(f"numeric_to_{target.kind}", [value, source.scale], target.kind)
        if source.kind in INTEGERS:
            wide = np.asarray(value, np.int64)
            return self.apply("int8_to_numeric", [wide, target.scale], "numeric")
        return self.apply(f"{source.kind}_to_numeric", [value, target.scale], "numeric")

    def _number(self, value: _Array, source: Kind, target: Kind) -> _Array:
        dtype = new_values(target, 0).dtype
        if source in INTEGERS and target in INTEGERS:
            if INTEGERS.index(target) > INTEGERS.index(source):
                return value.astype(dtype)
            return self.apply(f"int8_to_{target}", [np.asarray(value, np.int64)], target)
        if source in INTEGERS or target == "float8":
            return value.astype(dtype)
        return self.apply(f"{source}_to_{target}", [value], target)


def _precision(type_: SqlType) -> list[int]:
    """Give the argument that conversions from and to text have for a type."""
    if type_.kind == "numeric":
        return [type_.scale]
    return [UNITS[type_.unit]] if type_.kind == "timestamp" else []


def _of_constant_field(applier: Applier, call: Call, values: Sequence[_Array]) -> _Array:
    field, source = FIELDS[_text(call.arguments[0])], call.arguments[1].type
    if call.function == "date_trunc":
        return applier.apply("date_trunc", [values[1], UNITS[source.unit], field], "timestamp")
    if source.kind == "date":
        return applier.apply("extract_date", [values[1], field, call.type.scale], "numeric")
    operands: list[_Array | int]
    operands = [values[1], UNITS[source.unit], field, call.type.scale]
    return applier.apply("extract_timestamp", operands, "numeric")


def _text(expression: Expression) -> str:
    if isinstance(expression, Constant) and isinstance(expression.value, bytes):
        return expression.value.decode()
    raise AssertionError(f"{expression} is no field")


def _limit(applier: Applier, call: Call, values: Sequence[_Array]) -> _Array:
    digits = call.arguments[1]
    if isinstance(digits, Constant) and isinstance(digits.value, int):
        return applier.apply("numeric_limit", [values[0], digits.value], "numeric")
    raise AssertionError(f"{digits} is no number of digits")


def _substring(applier: Applier, _: Call, values: Sequence[_Array]) -> _Array:
    return applier.apply("substring" if len(values) == 2 else "substring_for", values, "text")


def _add_interval(applier: Applier, call: Call, values: Sequence[_Array]) -> _Array:
    unit = UNITS[call.type.unit]
    return applier.apply("add_interval", [values[0], unit, *values[1:]], "timestamp")


def _same(applier: Applier, call: Call, values: Sequence[_Array]) -> _Array:
    return applier.apply(call.function, values, call.type.kind)


_FUNCTIONS: Final[dict[str, Callable[[Applier, Call, Sequence[_Array]], _Array]]] = {
    **dict.fromkeys(("extract", "date_trunc"), _of_constant_field),
    **dict.fromkeys(("concat", "length", "lower", "upper", "like", "ilike"), _same),
    **dict.fromkeys(("add_days", "subtract_days"), _same),
    "numeric_limit": _limit,
    "substring": _substring,
    "add_interval": _add_interval,
}
