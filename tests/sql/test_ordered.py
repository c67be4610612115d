"""Work in threads with results in order, and sorting."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator

import pyarrow as pa
import pytest

from twinjit.sql.execution.ordered import ordered_map
from twinjit.sql.execution.sorting import Sorter, sort
from twinjit.sql.plan import Order


@pytest.mark.parametrize("threads", [1, 3])
def test_results_are_in_order(threads: int) -> None:
    def work(number: int) -> int:
        time.sleep(0.001 * (number % 3))
        return number * number

    assert list(ordered_map(work, range(40), threads)) == [n * n for n in range(40)]


def test_few_items_are_taken_ahead() -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    results = ordered_map(lambda number: number, items(), 2)
    assert next(results) == 0
    assert len(taken) <= 5
    results.close()  # type: ignore[attr-defined]  # it is a generator


def test_the_first_failure_is_raised_behind_what_came_before() -> None:
    release = threading.Event()

    def work(number: int) -> int:
        if number == 1:
            release.wait(5)
            raise ValueError("one")
        if number == 2:
            release.set()
            raise ValueError("two")
        return number

    results = ordered_map(work, range(5), 3)
    assert next(results) == 0
    with pytest.raises(ValueError, match="one"):
        next(results)


def test_nan_is_above_all_and_nulls_where_the_query_says() -> None:
    table = pa.table({"f": [1.0, None, math.nan, -math.inf, math.inf, 0.0]})
    ascending = sort(table, [Order(0, False, False)])["f"].to_pylist()
    assert str(ascending) == "[-inf, 0.0, 1.0, inf, nan, None]"
    descending = sort(table, [Order(0, True, True)])["f"].to_pylist()
    assert str(descending) == "[None, nan, inf, 1.0, 0.0, -inf]"


def test_equal_rows_stay_in_their_order() -> None:
    table = pa.table({"a": [2, 1, 2, 1, 2], "n": range(5)})
    assert sort(table, [Order(0, False, False)])["n"].to_pylist() == [1, 3, 0, 2, 4]


def test_a_sorter_keeps_no_more_than_is_wanted() -> None:
    schema = pa.schema([("n", pa.int64())])
    sorter = Sorter(schema, [Order(0, True, True)], 3)
    for start in range(0, 4_000_000, 500_000):
        sorter.add(pa.record_batch({"n": pa.array(range(start, start + 500_000), pa.int64())}))
    assert sorter.finish()["n"].to_pylist() == [3_999_999, 3_999_998, 3_999_997]
