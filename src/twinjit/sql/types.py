"""The types of SQL expressions: PostgreSQL's, where Arrow has a type with the same values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

__all__ = [
    "BOOL",
    "DATE",
    "FLOAT4",
    "FLOAT8",
    "FLOATS",
    "INT2",
    "INT4",
    "INT8",
    "INTEGERS",
    "TEXT",
    "UNITS",
    "Kind",
    "SqlType",
    "Unit",
    "numeric",
    "timestamp",
]

Kind = Literal[
    "bool", "int2", "int4", "int8", "float4", "float8", "numeric", "date", "timestamp", "text"
]

INTEGERS: Final[tuple[Kind, ...]] = ("int2", "int4", "int8")
"""From the narrowest on."""

FLOATS: Final[tuple[Kind, ...]] = ("float4", "float8")

Unit = Literal["s", "ms", "us", "ns"]

UNITS: Final[tuple[Unit, ...]] = ("s", "ms", "us", "ns")
"""From the coarsest on."""

_NAMES: dict[Kind, str] = {
    "bool": "boolean",
    "int2": "smallint",
    "int4": "integer",
    "int8": "bigint",
    "float4": "real",
    "float8": "double precision",
    "date": "date",
    "timestamp": "timestamp without time zone",
    "text": "text",
}


@dataclass(frozen=True, slots=True)
class SqlType:
    """A type of an expression.

    Attributes
    ----------
    kind
        Which of PostgreSQL's types it is, in its internal words.
    scale
        Of a numeric: digits behind the point, at most 38. A value is an integer of 128 bits at that
        scale; PostgreSQL keeps a scale for each value instead, of the same number.
    unit
        Of a timestamp: what it counts since 1970. PostgreSQL's is ``us``.
    """

    kind: Kind
    scale: int = 0
    unit: Unit = "us"

    def __str__(self) -> str:
        """Give PostgreSQL's name for it."""
        if self.kind == "numeric":
            return f"numeric(38,{self.scale})"
        return _NAMES[self.kind]


BOOL = SqlType("bool")
INT2 = SqlType("int2")
INT4 = SqlType("int4")
INT8 = SqlType("int8")
FLOAT4 = SqlType("float4")
FLOAT8 = SqlType("float8")
DATE = SqlType("date")
TEXT = SqlType("text")


def numeric(scale: int) -> SqlType:
    """Make the type of numbers with so many digits behind the point."""
    return SqlType("numeric", scale=scale)


def timestamp(unit: Unit = "us") -> SqlType:
    """Make the type of timestamps without a time zone that count `unit`."""
    return SqlType("timestamp", unit=unit)
