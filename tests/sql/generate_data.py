"""Rows with everything that is special about the types, and random ones."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa

from tests.sql.schemas import ALL

__all__ = ["random_table"]

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
