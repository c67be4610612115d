"""The strict functions and operators that `Call` names.

Each takes arguments of the kinds that it lists, already converted by the binder. What they compute,
and how they fail, is PostgreSQL 15's.

==================  ====================================  ==========================================
``int``             one of int2, int4, int8, of both      22003 where the result does not fit
``float``           float4 or float8, of both             22003 for infinity (and zero) from finite
``numeric``         of any two scales                     22003 where 128 bits do not hold it
==================  ====================================  ==========================================
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

__all__ = ["OPERATIONS"]

OPERATIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        # Arithmetic, of two of int, float or numeric. The scale of a numeric result: the larger for
        # add, subtract and modulo, the sum for multiply; for divide at least 24, to which a value
        # is brought that was rounded as PostgreSQL does, to 16 or more significant digits.
        "add": "a + b",
        "subtract": "a - b",
        "multiply": "a * b",
        "divide": "a / b; 22012 for zero; of int, truncated",
        "modulo": "a % b; 22012 for zero; of int and numeric, with the sign of a",
        "negate": "-a",
        "abs": "of int, float, numeric",
        "floor": "of float8 and numeric (to scale 0)",
        "ceil": "of float8 and numeric (to scale 0)",
        "round": "of float8 to even; of numeric away from zero, to the scale of the result",
        "trunc": "of float8; of numeric to the scale of the result",
        "sqrt": "of float8; 2201F below zero",
        "exp": "of float8",
        "ln": "of float8; 2201E at zero and below",
        "power": "of float8; 2201F",
        # Comparisons of two of one kind: NaN equals NaN and is above all else; false < true; text
        # by bytes; numeric by value whatever the scales, timestamp whatever the units.
        "equal": "a = b",
        "not_equal": "a <> b",
        "less": "a < b",
        "less_equal": "a <= b",
        "greater": "a > b",
        "greater_equal": "a >= b",
        "not": "of bool",
        # Conversions, from any kind to any kind that PostgreSQL can convert to; 22003, 22P02,
        # 22007, 22008.
        "cast": "to the type of the result",
        "numeric_limit": "(numeric, int4 precision): 22003 where it has more digits; constant",
        # Text.
        "concat": "a || b",
        "length": "int4, in characters",
        "lower": "of ASCII letters, as in PostgreSQL's locale C",
        "upper": "of ASCII letters",
        "substring": "(text, int4 start[, int4 length]), in characters; 22011 for negative lengths",
        "like": "(text, text pattern, text escape), bool; escape of 0 or 1 character; 22025",
        "ilike": "the same, whatever the case of ASCII letters",
        # Dates and timestamps.
        "add_days": "(date, int4), date; 22008",
        "subtract_days": "(date, int4), date; 22008",
        "days_between": "(date, date), int4: a - b",
        "add_interval": "(timestamp, int4 months, int4 days, int8 us), timestamp; 22008",
        # (text field, date or timestamp). The field is a constant: year, month, day, quarter, week,
        # isoyear, dow, isodow, doy, decade, century, millennium, hour, minute, epoch, second,
        # milliseconds, microseconds, julian.
        "extract": "numeric, of the scale of the type that the call has",
        "date_trunc": "(text field, timestamp), timestamp; fields from microseconds to millennium",
    }
)
"""What each name means, in SQL's words."""
