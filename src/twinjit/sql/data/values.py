"""Values of Arrow as expressions write them."""

from __future__ import annotations

import datetime
from decimal import Context, Decimal, Inexact, InvalidOperation
from typing import Final

import pyarrow as pa

from twinjit.sql.tree import Value
from twinjit.sql.types import SqlType

__all__ = ["EXACT", "value_of"]

_EPOCH: Final = datetime.date(1970, 1, 1).toordinal()
EXACT: Final = Context(prec=400, traps=[Inexact, InvalidOperation])
"""Raises where Python's usual context rounds to 28 digits."""

_PER_SECOND: Final = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def value_of(scalar: object, type_: SqlType) -> Value:
    """Give a value as constants of a type have it.

    Parameters
    ----------
    scalar
        A scalar of Arrow, or what Python has for it.
    type_
        The type of the column that it is in.

    Raises
    ------
    TypeError, ValueError, ArithmeticError
        If it is no value of that type.
    """
    if isinstance(scalar, pa.Scalar):
        scalar = _plain(scalar, type_)
    if scalar is None:
        return None
    if type_.kind == "text":
        return scalar if isinstance(scalar, bytes) else str(scalar).encode()
    if type_.kind == "numeric":
        return _scaled(scalar, type_.scale)
    if isinstance(scalar, datetime.datetime):
        return _since_epoch(scalar, type_)
    if isinstance(scalar, datetime.date):
        days = scalar.toordinal() - _EPOCH
        return days if type_.kind == "date" else days * 86_400 * _PER_SECOND[type_.unit]
    if isinstance(scalar, (bool, int, float)):
        return float(scalar) if type_.kind in ("float4", "float8") else scalar
    raise TypeError(f"{scalar!r} is no value of type {type_}")


def _plain(scalar: pa.Scalar, type_: SqlType) -> object:
    if not scalar.is_valid:
        return None
    if pa.types.is_dictionary(scalar.type):
        return _plain(scalar.value, type_)
    if type_.kind == "timestamp" and pa.types.is_timestamp(scalar.type):
        # Python's datetime has no nanoseconds
        return scalar.cast(pa.timestamp(type_.unit)).value
    plain: object = scalar.as_py()
    return plain


def _scaled(value: object, scale: int) -> int:
    scaled = Decimal(str(value)).scaleb(scale, EXACT)
    if scaled != int(scaled):
        raise ValueError(f"{value} has more than {scale} digits behind the point")
    return int(scaled)


def _since_epoch(moment: datetime.datetime, type_: SqlType) -> int:
    if moment.tzinfo is not None:
        raise TypeError(f"{moment} has a time zone, and type {type_} has none")
    since = moment - datetime.datetime(1970, 1, 1)
    microseconds = since // datetime.timedelta(microseconds=1)
    if type_.kind == "date":
        return microseconds // 86_400_000_000
    # pandas' datetimes have nanoseconds beside what Python's have.
    nanoseconds = microseconds * 1000 + getattr(moment, "nanosecond", 0)
    value, rest = divmod(nanoseconds * _PER_SECOND[type_.unit], 1_000_000_000)
    if rest:
        raise ValueError(f"{moment} is no whole number of {type_.unit}")
    return value
