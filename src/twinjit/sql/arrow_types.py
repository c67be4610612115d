"""Arrow's types in SQL, and the reverse."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

from twinjit.errors import QueryError
from twinjit.sql.types import (
    BOOL,
    DATE,
    FLOAT4,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    TEXT,
    Kind,
    SqlType,
    numeric,
    timestamp,
)

__all__ = ["arrow_type_of", "sql_type_of"]

# PostgreSQL has no integers of 8 bits, nor unsigned ones: the next larger type holds them.
_FROM: Final[dict[pa.DataType, SqlType]] = {
    pa.null(): TEXT,
    pa.bool_(): BOOL,
    pa.int8(): INT2,
    pa.uint8(): INT2,
    pa.int16(): INT2,
    pa.uint16(): INT4,
    pa.int32(): INT4,
    pa.uint32(): INT8,
    pa.int64(): INT8,
    pa.uint64(): numeric(0),
    pa.float32(): FLOAT4,
    pa.float64(): FLOAT8,
    pa.date32(): DATE,
    pa.date64(): DATE,
    pa.string(): TEXT,
    pa.large_string(): TEXT,
    pa.string_view(): TEXT,
}

_TO: Final[dict[Kind, pa.DataType]] = {
    "bool": pa.bool_(),
    "int2": pa.int16(),
    "int4": pa.int32(),
    "int8": pa.int64(),
    "float4": pa.float32(),
    "float8": pa.float64(),
    "date": pa.date32(),
    "text": pa.string(),
}


def sql_type_of(type_: Any, column: str = "") -> SqlType:
    """Give the SQL type of a column.

    Parameters
    ----------
    type_
        A `pyarrow.DataType`.
    column
        Its name, for the message.

    Raises
    ------
    QueryError
        If SQL has none whose values are the same.
    """
    if pa.types.is_dictionary(type_):
        return sql_type_of(type_.value_type, column)
    found = _FROM.get(type_)
    if found is not None:
        return found
    is_small = pa.types.is_decimal(type_) and not pa.types.is_decimal256(type_)
    if is_small and 0 <= type_.scale <= 38:
        return numeric(type_.scale)
    if pa.types.is_timestamp(type_) and type_.tz is None:
        return timestamp(type_.unit)
    place = f"column {column} is of" if column else "there is no SQL type for"
    cure = (
        "cast it to a timestamp without a time zone"
        if pa.types.is_timestamp(type_)
        else ("leave it out, or cast it")
    )
    raise QueryError(f"{place} Arrow type {type_}, which is not supported: {cure}", "0A000")


def arrow_type_of(type_: SqlType) -> Any:
    """Give the `pyarrow.DataType` of results of a type."""
    if type_.kind == "numeric":
        return pa.decimal128(38, type_.scale)
    if type_.kind == "timestamp":
        return pa.timestamp(type_.unit)
    return _TO[type_.kind]
