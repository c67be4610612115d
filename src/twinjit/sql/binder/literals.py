"""Literals: numbers, and texts whose type their surroundings decide."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from fractions import Fraction
from typing import Final

import numpy as np

from twinjit.errors import QueryError
from twinjit.sql.data.values import EXACT, value_of
from twinjit.sql.tree import Constant, Value
from twinjit.sql.types import FLOAT8, INT4, INT8, Kind, SqlType, numeric

__all__ = ["nearest_float4", "number", "numeric_from_text", "value_from_text"]

_RANGES: Final[dict[Kind, int]] = {"int2": 15, "int4": 31, "int8": 63}
_MOST_DIGITS = 38
_WHITE = " \t\n\r\v\f"


def number(text: str) -> Constant:
    """Read a literal that stands without quotes, maybe with a minus: int4, int8 or numeric.

    What 38 digits do not hold is a float8, as it becomes in PostgreSQL where a float is beside it.

    Raises
    ------
    QueryError
        If that does not hold it, either.
    """
    value = Decimal(text)
    if text.removeprefix("-").isdigit():
        for bits, type_ in ((32, INT4), (64, INT8)):
            if -(1 << bits - 1) <= value < 1 << bits - 1:
                return Constant(int(value), type_)
    try:
        return _numeric(value, text)
    except QueryError:
        return Constant(_float(text, FLOAT8), FLOAT8)


def _numeric(value: Decimal, text: str) -> Constant:
    exponent = value.as_tuple().exponent
    scale = max(0, -exponent) if isinstance(exponent, int) else 0
    if scale > _MOST_DIGITS or value.adjusted() + 1 + scale > _MOST_DIGITS:
        raise QueryError(f"{text} has more than {_MOST_DIGITS} digits", "22003")
    return Constant(int(value.scaleb(scale, EXACT)), numeric(scale))


def value_from_text(text: str, type_: SqlType) -> Value:
    """Convert a text in quotes to a type, as PostgreSQL does where it plans.

    Raises
    ------
    QueryError
        If it is no value of that type; of any but numeric.
    """
    if type_.kind == "text":
        return text.encode()
    stripped = text.strip(_WHITE)
    try:
        if type_.kind == "bool":
            return _bool(stripped.lower())
        if type_.kind in _RANGES:
            return _integer(stripped, type_)
        if type_.kind in ("float4", "float8"):
            return _float(stripped, type_)
        return _moment(stripped, type_)
    except QueryError:  # which is a ValueError
        raise
    except ValueError:
        raise QueryError(
            f'invalid input syntax for type {_name(type_)}: "{text}"',
            "22007" if type_.kind in ("date", "timestamp") else "22P02",
        ) from None


def _name(type_: SqlType) -> str:
    return "timestamp" if type_.kind == "timestamp" else str(type_)


def _bool(text: str) -> bool:
    for word, value in (("true", True), ("false", False), ("yes", True), ("no", False)):
        if text and word.startswith(text):
            return value
    known = {"on": True, "off": False, "of": False, "1": True, "0": False}
    if text not in known:
        raise ValueError(text)
    return known[text]


def _integer(text: str, type_: SqlType) -> int:
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise ValueError(text)
    value = int(text)
    bound = 1 << _RANGES[type_.kind]
    if not -bound <= value < bound:
        raise QueryError(f'value "{text}" is out of range for type {type_}', "22003")
    return value


_FLOAT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_SPECIAL = re.compile(r"nan|[+-]?inf(inity)?", re.IGNORECASE)


def _float(text: str, type_: SqlType) -> float:
    if _SPECIAL.fullmatch(text):
        return float(text)
    if not _FLOAT.fullmatch(text):
        raise ValueError(text)
    with np.errstate(over="ignore", under="ignore"):
        value = nearest_float4(text) if type_.kind == "float4" else float(text)
    is_zero = not re.search(r"[1-9]", re.split(r"[eE]", text)[0])
    if value in (float("inf"), float("-inf")) or (value == 0 and not is_zero):
        raise QueryError(f'"{text}" is out of range for type {type_}', "22003")
    return value


def nearest_float4(text: str) -> float:
    """Give the float4 nearest to a number; by way of a double, it would be rounded twice."""
    double = float(text)
    near = np.float32(double)
    if not np.isfinite(near) or double == 0:
        return float(near)
    exact = Fraction(text)
    below, above = (np.nextafter(near, np.float32(end)) for end in (-np.inf, np.inf))
    candidates = [float(each) for each in (near, below, above) if np.isfinite(each)]
    return min(candidates, key=lambda each: abs(Fraction(each) - exact))


def numeric_from_text(text: str) -> Constant:
    """Convert a text in quotes to a numeric of as many digits as it has.

    Raises
    ------
    QueryError
        If it is no number, or 38 digits do not hold it.
    """
    stripped = text.strip(_WHITE)
    if _SPECIAL.fullmatch(stripped):
        raise QueryError(f'"{text}": numeric holds neither NaN nor infinity here', "22003")
    if not _FLOAT.fullmatch(stripped):
        raise QueryError(f'invalid input syntax for type numeric: "{text}"', "22P02")
    return _numeric(Decimal(stripped), text)


_DATE = re.compile(r"(\d{4,6})-(\d{1,2})-(\d{1,2})")
_MOMENT = re.compile(
    _DATE.pattern + r"(?:[ T]\s*(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?", re.ASCII
)


def _moment(text: str, type_: SqlType) -> Value:
    found = _MOMENT.fullmatch(text)
    if not found:
        raise ValueError(text)
    year, month, day, hour, minute, second = (int(each or 0) for each in found.groups()[:6])
    fraction = round(Decimal(f"0.{found[7] or 0}") * 1_000_000)
    try:
        moment = datetime.datetime(year, month, day, hour, minute, second)
    except ValueError:  # 24:00:00 and leap seconds, too, which PostgreSQL takes
        raise QueryError(f'date/time field value out of range: "{text}"', "22008") from None
    if type_.kind == "date":
        return value_of(moment.date(), type_)
    moment += datetime.timedelta(microseconds=int(fraction))
    return value_of(moment, type_)
