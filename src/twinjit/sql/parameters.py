"""Values of ``$1``, ``$2`` …, as expressions write them."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

import numpy as np
import pyarrow as pa

from twinjit.errors import QueryError
from twinjit.sql.data.values import value_of
from twinjit.sql.tree import Value
from twinjit.sql.types import FLOATS, Kind, SqlType

__all__ = ["parameter_values"]

_BITS: Final[dict[Kind, int]] = {"int2": 16, "int4": 32, "int8": 64}
_TAKEN: Final[dict[Kind, tuple[type, ...]]] = {
    "bool": (bool,),
    "int2": (int,),
    "int4": (int,),
    "int8": (int,),
    "float4": (int, float, Decimal),
    "float8": (int, float, Decimal),
    "numeric": (int, Decimal),
    "date": (datetime.date,),
    "timestamp": (datetime.date, datetime.datetime),
    "text": (str,),
}


def parameter_values(given: Sequence[object], types: Sequence[SqlType]) -> tuple[Value, ...]:
    """Convert what is given for a query's parameters.

    Parameters
    ----------
    given
        Python's values, NumPy's or Arrow's scalars; None for null.
    types
        Of the parameters.

    Raises
    ------
    QueryError
        If there are more or fewer than the query has, or one is no value of its type.
    """
    if len(given) != len(types):
        raise QueryError(
            f"the query has {len(types)} parameters, and {len(given)} values are given", "08P01"
        )
    return tuple(
        _value(each, type_, number)
        for number, (each, type_) in enumerate(zip(given, types, strict=True), start=1)
    )


def _value(given: object, type_: SqlType, number: int) -> Value:
    plain = given.item() if isinstance(given, np.generic) else given
    if isinstance(plain, pa.Scalar):
        plain = plain.as_py()
    if plain is None:
        return None
    wrong = QueryError(f"${number} is {given!r}, which is no value of type {type_}", "22P02")
    is_taken = isinstance(plain, _TAKEN[type_.kind])
    if not is_taken or (isinstance(plain, bool) and type_.kind != "bool"):
        raise wrong
    if type_.kind == "date" and isinstance(plain, datetime.datetime):
        raise wrong
    bits = _BITS.get(type_.kind)
    if bits and isinstance(plain, int) and not -(1 << bits - 1) <= plain < 1 << bits - 1:
        raise QueryError(f"${number} is {given!r}, out of range for type {type_}", "22003")
    if isinstance(plain, (int, Decimal)) and type_.kind in FLOATS:
        plain = float(plain)
    try:
        return value_of(plain, type_)
    except (TypeError, ValueError, ArithmeticError) as error:
        raise QueryError(f"${number} is {given!r}: {error}", "22P02") from None
