"""Schemas and names of types that tests of queries share."""

from __future__ import annotations

import pyarrow as pa

from twinjit.sql.binder import bind_expression
from twinjit.sql.tree import Expression

TYPES = {
    "bool": pa.bool_(),
    "int2": pa.int16(),
    "int4": pa.int32(),
    "int8": pa.int64(),
    "float4": pa.float32(),
    "float8": pa.float64(),
    "numeric(10,2)": pa.decimal128(10, 2),
    "numeric(12,2)": pa.decimal128(12, 2),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "text": pa.string(),
}

ALL = pa.schema(
    [
        ("b", pa.bool_()),
        ("i2", pa.int16()),
        ("i4", pa.int32()),
        ("i8", pa.int64()),
        ("f4", pa.float32()),
        ("f8", pa.float64()),
        ("n", pa.decimal128(12, 2)),
        ("d", pa.date32()),
        ("t", pa.timestamp("us")),
        ("s", pa.string()),
    ]
)
"""A column of each type."""


def bound(text: str, schema: pa.Schema = ALL) -> Expression:
    expression, _ = bind_expression(text, schema)
    return expression
