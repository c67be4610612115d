"""Rows with everything that is special about the types, and random ones."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa

from tests.sql.schemas import ALL

__all__ = ["random_table", "relaid"]

_TEXTS = [
    "",
    "a",
    "A%b",
    "été",
    "x_y\\",
    "  12 ",
    "-7",
    "1e3",
    "NaN",
    "true",
    "2024-02-29",
    "日本語",
]


def _float(random: Random, bits: int) -> float:
    special = [0.0, -0.0, 1.0, -1.5, math.inf, -math.inf, math.nan, 0.1, 1e15, 2.5, 3.5]
    special += [3.4e38, 1e-45, -1e-30] if bits == 32 else [1.7e308, 5e-324, 1e-200, -1e200, 9e18]
    if random.random() < 0.5:
        return random.choice(special)
    return random.uniform(-1, 1) * 10 ** random.randint(-3, 6)


def _integer(random: Random, bits: int) -> int:
    end = 1 << (bits - 1)
    if random.random() < 0.4:
        return random.choice([0, 1, -1, end - 1, -end, end // 2])
    return random.randint(-1000, 1000)


def _day(random: Random) -> datetime.date:
    special = [datetime.date(2000, 2, 29), datetime.date(1970, 1, 1), datetime.date(1, 1, 1)]
    special += [datetime.date(9999, 12, 31), datetime.date(1999, 12, 31)]
    if random.random() < 0.3:
        return random.choice(special)
    return datetime.date(1960, 1, 1) + datetime.timedelta(days=random.randint(0, 30_000))


def _value(random: Random, name: str) -> Any:
    if name == "b":
        return random.random() < 0.5
    if name in ("i2", "i4", "i8"):
        return _integer(random, {"i2": 16, "i4": 32, "i8": 64}[name])
    if name in ("f4", "f8"):
        return _float(random, 32 if name == "f4" else 64)
    if name == "n":
        special = [Decimal(0), Decimal("9999999999.99"), Decimal("-9999999999.99"), Decimal("0.01")]
        drawn = Decimal(random.randint(-(10**6), 10**6)).scaleb(-2)
        return random.choice([*special, drawn, drawn, drawn])
    if name == "d":
        return _day(random)
    if name == "t":
        time = datetime.time(random.randint(0, 23), random.randint(0, 59), random.randint(0, 59))
        microseconds = random.choice([0, 1, 500_000, 999_999])
        return datetime.datetime.combine(_day(random), time.replace(microsecond=microseconds))
    return random.choice([*_TEXTS, "".join(random.choices("abAé%_ 1", k=random.randint(0, 9)))])


def random_table(random: Random, rows: int, nulls: float = 0.2) -> pa.Table:
    """Make a table with a column of each type, named as in `schemas.ALL`."""
    return pa.table(
        {
            field.name: pa.array(
                [
                    None if random.random() < nulls else _value(random, field.name)
                    for _ in range(rows)
                ],
                field.type,
            )
            for field in ALL
        }
    )


_LAYOUTS: dict[str, list[Any]] = {
    "i2": [pa.dictionary(pa.int8(), pa.int16())],
    "i4": [pa.dictionary(pa.int32(), pa.int32())],
    "f8": [pa.dictionary(pa.int16(), pa.float64())],
    "n": [
        pa.decimal64(12, 2),
        pa.decimal128(38, 2),
        pa.dictionary(pa.int32(), pa.decimal128(12, 2)),
    ],
    "d": [pa.date64(), pa.dictionary(pa.uint8(), pa.date32())],
    "t": [pa.dictionary(pa.int64(), pa.timestamp("us"))],
    "s": [
        *(pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())),
        pa.dictionary(pa.uint16(), pa.large_string()),
    ],
}


def relaid(random: Random, table: pa.Table) -> pa.Table:
    """Give the same rows, in other types of Arrow for the same types of SQL.

    They are behind others, whose values dictionaries have too.
    """
    padded = pa.concat_tables([random_table(random, 5), table]).combine_chunks()
    columns = {
        name: _relaid(padded[name], random.choice([None, *_LAYOUTS.get(name, [])]))
        for name in table.column_names
    }
    return pa.table(columns)[5:]


def _relaid(column: pa.ChunkedArray, type_: Any) -> pa.ChunkedArray:
    if type_ is None:
        return column
    if pa.types.is_dictionary(type_):
        return column.cast(type_.value_type).dictionary_encode().cast(type_)
    return column.cast(type_)
