"""The functions that compiled kernels call where an operation is not inlined, as data.

They are written in ``native/sql``, where the interpreter has more, for what kernels do themselves.
A function that can fail takes, behind its other arguments, a pointer for its result, and returns an
int4: a `Failure`, or 0, in which case alone the result has been written. Another returns its
result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from twinjit.sql.types import Unit

__all__ = ["FIELDS", "FUNCTIONS", "UNITS", "Argument", "RuntimeFunction"]

Argument = Literal["bool", "int2", "int4", "int8", "float4", "float8", "text", "numeric", "arena"]
"""How a value is passed: a text as pointer and length, a numeric as its low and high word, an arena
by its address. Results alone are bool (a byte of 0 or 1) and int2. Dates are int4, timestamps int8;
scales, units (`UNITS`) and fields (`FIELDS`) are int4.
"""


@dataclass(frozen=True, slots=True)
class RuntimeFunction:
    """A function that machine code can call.

    Attributes
    ----------
    name
        Without the prefix ``twinjit_sql_`` that its symbol has.
    arguments
        All but the pointer for the result.
    result
        What it computes.
    can_fail
        Whether it returns a failure's code, and the result through a pointer.
    """

    name: str
    arguments: tuple[Argument, ...]
    result: Argument
    can_fail: bool

    @property
    def symbol(self) -> str:
        """What machine code calls it."""
        return f"twinjit_sql_{self.name}"


def _returning(result: Argument, name: str, *arguments: Argument) -> RuntimeFunction:
    return RuntimeFunction(name, arguments, result, can_fail=False)


def _failing(result: Argument, name: str, *arguments: Argument) -> RuntimeFunction:
    return RuntimeFunction(name, arguments, result, can_fail=True)


_TEXT = (
    _returning("int4", "length", "text"),
    _returning("int4", "compare", "text", "text"),
    _returning("int4", "text_equal", "text", "text"),
    _failing("text", "lower", "text", "arena"),
    _failing("text", "upper", "text", "arena"),
    _failing("text", "concat", "text", "text", "arena"),
    _failing("text", "substring", "text", "int4"),
    _failing("text", "substring_for", "text", "int4", "int4"),
    _failing("bool", "like", "text", "text", "text"),
    _failing("bool", "ilike", "text", "text", "text"),
)

_CONVERSIONS_OF_TEXT = (
    _failing("bool", "text_to_bool", "text"),
    _failing("int2", "text_to_int2", "text"),
    _failing("int4", "text_to_int4", "text"),
    _failing("int8", "text_to_int8", "text"),
    _failing("float4", "text_to_float4", "text"),
    _failing("float8", "text_to_float8", "text"),
    _failing("numeric", "text_to_numeric", "text", "int4"),
    _failing("int4", "text_to_date", "text"),
    _failing("int8", "text_to_timestamp", "text", "int4"),
    _failing("text", "bool_to_text", "int4"),
    _failing("text", "int8_to_text", "int8", "arena"),
    _failing("text", "float4_to_text", "float4", "arena"),
    _failing("text", "float8_to_text", "float8", "arena"),
    _failing("text", "numeric_to_text", "numeric", "int4", "arena"),
    _failing("text", "date_to_text", "int4", "arena"),
    _failing("text", "timestamp_to_text", "int8", "int4", "arena"),
)

_NUMBERS = (
    _failing("numeric", "numeric_add", "numeric", "numeric"),
    _failing("numeric", "numeric_subtract", "numeric", "numeric"),
    _failing("numeric", "numeric_multiply", "numeric", "numeric"),
    _failing("numeric", "numeric_divide", "numeric", "int4", "numeric", "int4", "int4"),
    _failing("numeric", "numeric_modulo", "numeric", "int4", "numeric", "int4", "int4"),
    _returning("int4", "numeric_compare", "numeric", "int4", "numeric", "int4"),
    _failing("numeric", "numeric_rescale", "numeric", "int4", "int4"),
    _failing("numeric", "numeric_floor", "numeric", "int4"),
    _failing("numeric", "numeric_ceil", "numeric", "int4"),
    _failing("numeric", "numeric_round", "numeric", "int4", "int4", "int4"),
    _failing("numeric", "numeric_trunc", "numeric", "int4", "int4", "int4"),
    _failing("int2", "numeric_to_int2", "numeric", "int4"),
    _failing("int4", "numeric_to_int4", "numeric", "int4"),
    _failing("int8", "numeric_to_int8", "numeric", "int4"),
    _returning("float4", "numeric_to_float4", "numeric", "int4"),
    _returning("float8", "numeric_to_float8", "numeric", "int4"),
    _failing("numeric", "int8_to_numeric", "int8", "int4"),
    _failing("numeric", "float4_to_numeric", "float4", "int4"),
    _failing("numeric", "float8_to_numeric", "float8", "int4"),
    _failing("int2", "float8_to_int2", "float8"),
    _failing("int4", "float8_to_int4", "float8"),
    _failing("int8", "float8_to_int8", "float8"),
    _failing("float4", "float8_to_float4", "float8"),
    _failing("float8", "sqrt", "float8"),
    _failing("float8", "exp", "float8"),
    _failing("float8", "ln", "float8"),
    _failing("float8", "power", "float8", "float8"),
)

_DATES = (
    _failing("int4", "add_days", "int4", "int4"),
    _failing("int4", "subtract_days", "int4", "int4"),
    _failing("int8", "add_interval", "int8", "int4", "int4", "int4", "int8"),
    _failing("numeric", "extract_date", "int4", "int4", "int4"),
    _failing("numeric", "extract_timestamp", "int8", "int4", "int4", "int4"),
    _failing("int8", "date_trunc", "int8", "int4", "int4"),
    _failing("int8", "date_to_timestamp", "int4", "int4"),
    _failing("int4", "timestamp_to_date", "int8", "int4"),
    _failing("int8", "timestamp_rescale", "int8", "int4", "int4"),
    _returning("int4", "timestamp_compare", "int8", "int4", "int8", "int4"),
)

FUNCTIONS: Final[Mapping[str, RuntimeFunction]] = MappingProxyType(
    {each.name: each for table in (_TEXT, _CONVERSIONS_OF_TEXT, _NUMBERS, _DATES) for each in table}
)
"""By name."""

UNITS: Final[Mapping[Unit, int]] = MappingProxyType({"s": 0, "ms": 3, "us": 6, "ns": 9})
"""The numbers that stand for units of timestamps: decimal digits of a second."""

FIELDS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "microseconds": 0,
        "milliseconds": 1,
        "second": 2,
        "minute": 3,
        "hour": 4,
        "day": 5,
        "week": 6,
        "month": 7,
        "quarter": 8,
        "year": 9,
        "decade": 10,
        "century": 11,
        "millennium": 12,
        "isoyear": 13,
        "dow": 14,
        "isodow": 15,
        "doy": 16,
        "epoch": 17,
        "julian": 18,
    }
)
"""The numbers that stand for fields of extract and, up to millennium, of date_trunc."""
