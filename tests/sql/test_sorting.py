"""Rows in PostgreSQL's order."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from functools import cmp_to_key
from itertools import product
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from tests.nightly import rounds
from tests.sql.generate_data import random_table
from twinjit.sql.execution import sorting
from twinjit.sql.execution.sorting import Sorter, sort
from twinjit.sql.plan import Order

WAYS = list(product([False, True], repeat=2))


def compared(left: Any, right: Any, order: Order) -> int:
    """Say how two values are to each other, as PostgreSQL does: -1 for before, 0, or 1."""
    if left is None or right is None:
        nulls = (left is None) - (right is None)
        return -nulls if order.nulls_first else nulls
    if isinstance(left, str):
        left, right = left.encode(), right.encode()
    if isinstance(left, float):
        left, right = (
            (math.isnan(each), 0.0 if math.isnan(each) else each) for each in (left, right)
        )
    found = (left > right) - (left < right)
    return -found if order.is_descending else found


def expected(table: pa.Table, orders: list[Order]) -> list[dict[str, Any]]:
    """Sort with a comparison; Python's sort keeps the order of what is equal."""
    names = table.column_names

    def compare(left: dict[str, Any], right: dict[str, Any]) -> int:
        for order in orders:
            name = names[order.output]
            if found := compared(left[name], right[name], order):
                return found
        return 0

    return sorted(table.to_pylist(), key=cmp_to_key(compare))


def same(table: pa.Table, rows: list[dict[str, Any]]) -> bool:
    """Whether these are the rows; NaN, and each zero, are what they are."""
    return repr(table.to_pylist()) == repr(rows)


SPECIAL: dict[str, tuple[Any, list[Any]]] = {
    "float8": (pa.float64(), [math.nan, 1.0, None, math.inf, -math.inf, -0.0, 0.0, math.nan, None]),
    "float4": (pa.float32(), [math.nan, 1.0, None, math.inf, -math.inf, -0.0, 0.0, math.nan, None]),
    "text": (pa.string(), ["b", None, "", "ü", "B", "ab", "a", "日本", "b", "\u00ff"]),
    "bool": (pa.bool_(), [True, None, False, True, False]),
    "int8": (pa.int64(), [2**63 - 1, None, -(2**63), 0, 5, 0]),
    "int2": (pa.int16(), [2**15 - 1, None, -(2**15), 0, 5, 0]),
    "numeric": (pa.decimal128(38, 2), [Decimal(10), None, Decimal("-0.01"), Decimal("9.99")]),
    "date": (pa.date32(), [datetime.date(2000, 1, 1), None, datetime.date(1, 1, 1)]),
    "timestamp": (pa.timestamp("us"), [datetime.datetime(2000, 1, 1), None, datetime.datetime.min]),
}


@pytest.mark.parametrize(("is_descending", "nulls_first"), WAYS)
@pytest.mark.parametrize("name", SPECIAL)
def test_each_type(name: str, is_descending: bool, nulls_first: bool) -> None:
    type_, values = SPECIAL[name]
    table = pa.table({"x": pa.array(values, type_), "row": list(range(len(values)))})
    order = [Order(0, is_descending, nulls_first)]
    assert same(sort(table, order), expected(table, order))


def test_nan_is_above_infinity_and_nulls_are_where_they_should() -> None:
    table = pa.table({"x": [math.inf, None, math.nan, -1.0]})
    for way, texts in {
        (False, False): "-1.0 inf nan None",
        (False, True): "None -1.0 inf nan",
        (True, False): "nan inf -1.0 None",
        (True, True): "None nan inf -1.0",
    }.items():
        found = sort(table, [Order(0, *way)])["x"].to_pylist()
        assert " ".join(map(str, found)) == texts


@pytest.mark.parametrize("seed", range(rounds(20, 200)))
def test_random_rows(seed: int) -> None:
    random = Random(seed)
    table = random_table(random, random.choice([0, 1, 40]))
    table = table.append_column("row", pa.array(range(len(table)), pa.int64()))
    columns = random.sample(range(10), random.choice([1, 2, 3, 8]))
    # A column that may be equal for many rows comes first.
    orders = [Order(each, random.random() < 0.5, random.random() < 0.5) for each in [0, *columns]]
    wanted = expected(table, orders)
    split = pa.concat_tables([table[:13], table[13:14], table[14:]])
    assert same(sort(table, orders), wanted)
    assert same(sort(split, orders), wanted)


def test_equal_rows_stay_in_their_order() -> None:
    zeros = [0.0, -0.0, -0.0, 0.0] * 500
    table = pa.table({"x": zeros, "row": list(range(2000))})
    chunks = pa.concat_tables([table[:700], table[700:]])
    for each, way in product((table, chunks), WAYS):
        assert sort(each, [Order(0, *way)])["row"].to_pylist() == list(range(2000))
        many = [Order(0, *way)] * 9
        assert sort(each, many)["row"].to_pylist() == list(range(2000))


@pytest.mark.parametrize("most", [None, 0, 1, 5, 1000])
@pytest.mark.parametrize("many", [1, 64, 1 << 20])
def test_batches_one_by_one(monkeypatch: pytest.MonkeyPatch, most: int | None, many: int) -> None:
    monkeypatch.setattr(sorting, "_MANY_ROWS", many)
    random = Random(many)
    table = random_table(random, 600)
    table = table.append_column("row", pa.array(range(600), pa.int64()))
    order = [Order(0, True, False), Order(2, False, True)]
    sorter = Sorter(table.schema, order, most)
    start = 0
    held = []
    while start < 600:
        rows = random.choice([0, 1, 7, 50])
        for batch in table[start : start + rows].to_batches():
            sorter.add(batch)
        start += rows
        held.append(sorter._rows)
    wanted = expected(table, order)
    assert same(sorter.finish(), wanted if most is None else wanted[:most])
    if most is not None:
        assert max(held) <= max(many, 4 * most) + 50


def test_without_batches() -> None:
    schema = pa.schema([("x", pa.float64()), ("s", pa.string())])
    for most in (None, 3):
        found = Sorter(schema, [Order(0, False, False), Order(1, True, True)], most).finish()
        assert found.schema == schema
        assert found.num_rows == 0
