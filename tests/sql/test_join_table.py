"""Hash joins of dense columns: the pairs of rows whose keys are equal."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.sql.aggregation_model import FEW, Block, pieces_of
from twinjit._native import _sql
from twinjit.sql.columns import DenseColumn, address_words
from twinjit.sql.types import Kind


@st.composite
def joins(draw: st.DrawFn) -> tuple[list[Kind], list[list[Any]], list[list[Any]]]:
    kinds: list[Kind] = draw(st.lists(st.sampled_from(list(FEW)), min_size=1, max_size=3))
    row = st.tuples(*(st.none() | st.sampled_from(FEW[kind]) for kind in kinds)).map(list)
    return kinds, draw(st.lists(row, max_size=30)), draw(st.lists(row, max_size=30))


def match(left: list[Any], right: list[Any]) -> bool:
    return all(
        a is not None and b is not None and (a == b or (a != a and b != b))
        for a, b in zip(left, right, strict=True)
    )


@given(joins(), st.lists(st.integers(0, 30), max_size=3))
def test_pairs_of_a_join_are_those_with_equal_keys(
    case: tuple[list[Kind], list[list[Any]], list[list[Any]]], cuts: list[int]
) -> None:
    kinds, built, probed = case
    table = _sql.JoinTable(kinds)
    for piece in pieces_of(built, cuts):
        block = Block(kinds, piece)
        table.build(block.words, block.rows)
        block.spoil()
    block = Block(kinds, probed)
    pairs = zip(*(each.tolist() for each in table.probe(block.words, block.rows)), strict=True)
    assert list(pairs) == [
        (i, j) for i, a in enumerate(probed) for j, b in enumerate(built) if match(a, b)
    ]


def test_threads_look_rows_up_in_one_table_at_a_time() -> None:
    rows = 100_000
    valid = np.ones(rows, np.uint8)
    keys = np.arange(rows) * 3
    table = _sql.JoinTable(["int8"])
    table.build(address_words([DenseColumn(keys, valid)]), rows)
    are_right: list[bool] = []

    def look(seed: int) -> None:
        chance = np.random.default_rng(seed)
        for _ in range(10):
            numbers = chance.integers(0, 3 * rows, rows)
            probed, built = table.probe(address_words([DenseColumn(numbers, valid)]), rows)
            expected = np.flatnonzero(numbers % 3 == 0)
            are_right.append(
                np.array_equal(probed, expected) and np.array_equal(built, numbers[expected] // 3)
            )

    threads = [threading.Thread(target=look, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert are_right == [True] * 40
    assert table.memory > 8 * rows
