"""Aggregation and hash joins of dense columns, compared with plain models of them."""

from __future__ import annotations

import ctypes
import math
import random
import struct
import subprocess
import sys
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sql.aggregation_model import (
    FEW,
    FEW_FLOATS,
    Block,
    Overflow,
    Spec,
    aggregated,
    groups_of,
    pieces_of,
    shown,
    values_of,
)
from twinjit._native import _sql
from twinjit.sql.columns import DenseColumn, address_words
from twinjit.sql.failures import Failure
from twinjit.sql.types import Kind

SUMMED: Final[tuple[Kind, ...]] = ("int2", "int4", "int8", "float4", "float8", "numeric")
KINDS: Final[dict[str, tuple[Kind, ...]]] = {
    "sum": SUMMED,
    "avg": SUMMED,
    "min": tuple(kind for kind in FEW if kind != "bool"),
    "max": tuple(kind for kind in FEW if kind != "bool"),
    "count": tuple(FEW),
    "bool_and": ("bool",),
    "bool_or": ("bool",),
}
SPECS: Final[list[Spec]] = [("count", "", False)] + [
    (function, kind, is_distinct)
    for function, kinds in KINDS.items()
    for kind in kinds
    for is_distinct in (False, True)
]

EXACT_FLOATS = st.sampled_from(FEW_FLOATS)
ANY_FLOATS = st.floats() | st.floats(-1e308, 1e308) | st.sampled_from([1e200, -1e200, 1e150])
CUTS = st.lists(st.integers(0, 40), max_size=4)
"""Where rows are cut into pieces."""

Case = tuple[list[Kind], list[Spec], list[list[Any]]]


@st.composite
def cases(draw: st.DrawFn, floats: st.SearchStrategy[float] = EXACT_FLOATS) -> Case:
    keys: list[Kind] = draw(st.lists(st.sampled_from(list(FEW)), max_size=3))
    specs = draw(st.lists(st.sampled_from(SPECS), max_size=3))
    values = [
        st.none() | (floats if kind == "float8" else st.sampled_from(FEW[kind]))
        for kind in kinds_of(keys, specs)
    ]
    return keys, specs, draw(st.lists(st.tuples(*values).map(list), max_size=40))


def kinds_of(keys: list[Kind], specs: list[Spec]) -> list[Kind]:
    return [*keys, *(kind for _, kind, _ in specs if kind)]  # type: ignore[list-item]


def fed(keys: list[Kind], specs: list[Spec], *pieces: list[Any]) -> _sql.Aggregator:
    """Make an aggregator of rows, whose memory nobody has any more."""
    aggregator = _sql.Aggregator(keys, specs)
    for piece in pieces:
        block = Block(kinds_of(keys, specs), piece)
        aggregator.update(block.words, block.rows)
        block.spoil()
    return aggregator


def of_values(function: str, kind: Kind, *values: Any) -> _sql.Aggregator:
    return fed([], [(function, kind, False)], [[each] for each in values])


@given(cases(ANY_FLOATS), CUTS)
def test_groups_have_the_states_that_the_model_gives(case: Case, cuts: list[int]) -> None:
    keys, specs, rows = case
    aggregator = fed(keys, specs, *pieces_of(rows, cuts))
    try:
        expected = aggregated(keys, specs, rows)
    except Overflow:
        assert aggregator.failure == Failure.FLOAT_OVERFLOW
        return
    assert aggregator.failure == 0
    assert groups_of(aggregator, keys, specs) == expected


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: "-".join(map(str, spec)))
@pytest.mark.parametrize("keys", [[], ["int4"]], ids=["", "keys"])
def test_blocks_of_each_aggregate_are_what_the_model_gives(spec: Spec, keys: list[Kind]) -> None:
    chance = random.Random(8)
    _, kind, _ = spec
    for nulls in (0, 0.3):
        rows = [
            [chance.randrange(3) for _ in keys]
            + [
                None if chance.random() < nulls else chance.choice(FEW[each])
                for each in [kind]
                if each
            ]
            for _ in range(1500)
        ]
        assert groups_of(fed(keys, [spec], rows), keys, [spec]) == aggregated(keys, [spec], rows)


@pytest.mark.parametrize("kind", ["float4", "float8"])
@pytest.mark.parametrize("function", ["min", "max"])
def test_of_zeros_the_last_one_is_given_also_by_a_merge(function: str, kind: Kind) -> None:
    for first, last in [(0.0, -0.0), (-0.0, 0.0)]:
        merged = of_values(function, kind, first)
        merged.merge(of_values(function, kind, last))
        merged.merge(of_values(function, kind))
        for aggregator in (merged, of_values(function, kind, first, last)):
            assert groups_of(aggregator, [], [(function, kind, False)]) == [[shown(last)]]


@given(cases(), CUTS)
def test_merged_pieces_are_the_whole_also_of_another_process(case: Case, cuts: list[int]) -> None:
    keys, specs, rows = case
    total, saved = fed(keys, specs), fed(keys, specs)
    for piece in pieces_of(rows, cuts):
        part = fed(keys, specs, piece)
        total.merge(part)
        saved = _sql.Aggregator.load(saved.save())
        saved.merge(_sql.Aggregator.load(part.save()))
    expected = aggregated(keys, specs, rows)
    assert groups_of(total, keys, specs) == expected
    assert groups_of(saved, keys, specs) == expected
    more = [*rows, *rows[:3]]
    for each in (total, saved):
        block = Block(kinds_of(keys, specs), rows[:3])
        each.update(block.words, block.rows)
        assert groups_of(each, keys, specs) == aggregated(keys, specs, more)


@given(cases(), st.randoms(use_true_random=False))
def test_damaged_bytes_are_refused_or_read(case: Case, chance: random.Random) -> None:
    keys, specs, rows = case
    data = fed(keys, specs, rows).save()
    for length in {0, 7, len(data) // 2, len(data) - 1, chance.randrange(len(data))}:
        with pytest.raises(ValueError, match="damaged"):
            _sql.Aggregator.load(data[:length])
    with pytest.raises(ValueError, match="damaged"):
        _sql.Aggregator.load(data + b"\0")
    for _ in range(20):
        damaged = bytearray(data)
        damaged[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        try:
            loaded = _sql.Aggregator.load(bytes(damaged))
        except ValueError:
            continue
        loaded.merge(loaded)
        for index in range(len(specs)):
            assert len(loaded.states(index)[0][1]) == loaded.groups


@pytest.mark.parametrize("kind", ["int4", "int8", "numeric", "float8", "text"])
def test_many_groups_are_numbered_as_they_appear(kind: Kind) -> None:
    numbers = np.random.default_rng(5).integers(0, 30_000, 60_000).tolist()
    key: Any = {"float8": float, "text": lambda number: b"%d" % (number * 997)}.get(kind, int)
    rows = [[key(number), number, 1] for number in numbers]
    keys: list[Kind] = [kind, "int4"]
    aggregator = fed(keys, [("count", "int4", False)], rows[:25_000], rows[25_000:])
    counts: dict[int, int] = {}
    for number in numbers:
        counts[number] = counts.get(number, 0) + 1
    assert groups_of(aggregator, keys, [("count", "int4", False)]) == [
        [shown(key(number)), shown(number), shown(count)] for number, count in counts.items()
    ]
    assert aggregator.memory > 8 * len(counts)


def test_sums_of_one_group_go_on_from_block_to_block() -> None:
    values = np.random.default_rng(6).normal(0, 1e5, 5000)
    valid = np.random.default_rng(7).integers(0, 2, 5000).astype(np.uint8)
    for validity in (np.ones(5000, np.uint8), valid):
        specs = [("sum", "float8", False), ("avg", "float8", False)]
        aggregator = _sql.Aggregator([], specs)
        aggregator.update(address_words([DenseColumn(values, validity)] * 2), 5000)
        expected = 0.0
        for value in values[validity == 1].tolist():
            expected += value
        total = shown(expected)
        assert groups_of(aggregator, [], specs) == [[total, total, shown(int(validity.sum()))]]


@pytest.mark.parametrize(
    ("function", "kind", "values", "failure"),
    [
        ("sum", "numeric", [10**38 - 1, 10**38 - 1], Failure.NUMERIC_RANGE),
        ("avg", "numeric", [-(10**38) + 1, -(10**38) + 1], Failure.NUMERIC_RANGE),
        ("sum", "float4", [3e38, 3e38], Failure.FLOAT_OVERFLOW),
        ("sum", "float8", [1e308, 1e308], Failure.FLOAT_OVERFLOW),
        ("avg", "float8", [1e308, 1e308], Failure.FLOAT_OVERFLOW),
        ("avg", "float8", [1.0, 1e200], Failure.FLOAT_OVERFLOW),
        ("avg", "float8", [1e200, 1e200], 0),
        ("avg", "float8", [1e153, 0.0], 0),
        ("avg", "float8", [1e200], 0),
        ("avg", "float8", [math.inf, 1e200, 1e200], 0),
        ("avg", "float4", [3e38, -3e38, 3e38], 0),
        ("sum", "float8", [math.inf, 1e308, 1e308], 0),
        ("sum", "float8", [math.inf, -math.inf], 0),
    ],
)
def test_sums_fail_where_those_of_postgresql_do(
    function: str, kind: Kind, values: list[Any], failure: int
) -> None:
    assert of_values(function, kind, *values).failure == failure


def test_merging_fails_where_sums_and_deviations_overflow() -> None:
    for function, first, second in [("sum", 1e308, 1e308), ("avg", 1e200, -1e200)]:
        total = of_values(function, "float8", first)
        total.merge(of_values(function, "float8", second))
        assert total.failure == Failure.FLOAT_OVERFLOW
    other = of_values("sum", "float8")
    other.merge(of_values("sum", "float8", 1e308, 1e308))
    assert other.failure == Failure.FLOAT_OVERFLOW


def test_sums_of_integers_fail_beyond_64_bits() -> None:
    largest = struct.pack("<q", 2**63 - 1)
    saved = of_values("sum", "int4", 123456789).save()
    total = _sql.Aggregator.load(saved.replace(struct.pack("<q", 123456789), largest))
    total.merge(of_values("sum", "int4", 0))
    assert (total.failure, total.states(0)[0][0].tolist()) == (0, [2**63 - 1])
    total.merge(of_values("sum", "int4", 1))
    assert total.failure == Failure.INT8_RANGE


def test_aggregators_of_other_keys_or_aggregates_are_not_merged() -> None:
    total = _sql.Aggregator(["int8"], [("sum", "int8", False)])
    for keys, specs in [
        (["int4"], [("sum", "int8", False)]),
        ([], [("sum", "int8", False)]),
        (["int8"], [("min", "text", False)]),
        (["int8"], [("sum", "int8", True)]),
        (["int8"], []),
    ]:
        with pytest.raises(ValueError, match="other keys or aggregates"):
            total.merge(_sql.Aggregator(keys, specs))


def test_what_there_is_not_is_refused() -> None:
    for keys, specs in [
        (["int3"], []),
        ([], [("sum", "bool", False)]),
        ([], [("sum", "", False)]),
        ([], [("count", "", True)]),
        ([], [("median", "int8", False)]),
        ([], [("bool_and", "int4", False)]),
    ]:
        with pytest.raises(ValueError, match="there is no"):
            _sql.Aggregator(keys, specs)
    aggregator = _sql.Aggregator(["int8"], [("sum", "int8", False)])
    with pytest.raises(ValueError, match="fewer addresses"):
        aggregator.update(np.zeros(2, np.int64), 0)
    for read in (aggregator.key, aggregator.states):
        with pytest.raises(IndexError):
            read(1)
    with pytest.raises(ValueError, match="one part or more"):
        _sql.JoinTable([])


# Running a kernel

KERNEL = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 2)


class Counting:
    """A kernel that writes the numbers of rows, and at one fails."""

    def __init__(self, failing: int = -1) -> None:
        self.block = Block(["int8"], [[0]] * 64)
        self.stop = np.zeros(1, np.int64)
        self.stop_at = -1

        def kernel(inputs: int, slots: int, outputs: int, begin: int, end: int) -> int:
            if begin <= failing < end:
                return -1
            if begin <= self.stop_at < end:
                self.stop[0] = 1
            self.block.columns[0].values[: end - begin] = range(begin, end)
            return end - begin

        self._function = KERNEL(kernel)

    def run(self, aggregator: _sql.Aggregator, begin: int, end: int, step: int) -> int:
        address = ctypes.cast(self._function, ctypes.c_void_p).value
        assert address is not None
        none = np.zeros(1, np.int64)
        arena = _sql.Arena()
        return aggregator.run(
            address, none, none, self.block.words, begin, end, step, arena, self.stop
        )


def test_a_kernels_rows_are_taken_in_up_to_where_it_fails_or_is_stopped() -> None:
    for kernel, reached in [(Counting(), 1000), (Counting(failing=200), 192)]:
        aggregator = _sql.Aggregator([], [("sum", "int8", False)])
        assert kernel.run(aggregator, 0, 1000, 64) == reached
        assert groups_of(aggregator, [], [("sum", "int8", False)]) == [[shown(sum(range(reached)))]]
    kernel = Counting()
    kernel.stop_at = 300
    assert kernel.run(_sql.Aggregator([], [("sum", "int8", False)]), 10, 1000, 10) == 310
    with pytest.raises(ValueError, match="step"):
        kernel.run(_sql.Aggregator([], [("sum", "int8", False)]), 0, 10, 0)


# Memory

_OUT_OF_MEMORY = """
import resource
import numpy as np
from twinjit._native import _sql
from twinjit.sql.columns import DenseColumn, address_words
rows = 2_000_000
column = DenseColumn(np.arange(rows), np.ones(rows, np.uint8))
words = address_words([column, column])
with open("/proc/self/statm") as sizes:
    used = int(sizes.read().split()[0]) * resource.getpagesize()
aggregator = _sql.Aggregator(["int8"], [("sum", "int8", False)])
other = _sql.Aggregator(["int8"], [("sum", "int8", False)])
resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), resource.RLIM_INFINITY))
aggregator.update(words, rows)
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
other.merge(aggregator)
print(aggregator.failure, other.failure)
for read in (lambda: aggregator.key(0), lambda: aggregator.states(0), aggregator.save):
    try:
        read()
    except MemoryError:
        print("none")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_that_there_is_not_is_a_failure() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _OUT_OF_MEMORY], capture_output=True, text=True, check=True
    )
    code = int(Failure.OUT_OF_MEMORY)
    assert ran.stdout.split() == [str(code), str(code), "none", "none", "none"]


def test_a_key_of_a_text_that_is_shown_outlives_its_rows() -> None:
    aggregator = fed(["text"], [("max", "text", False)], [[b"a long key", b"a long value"]])
    assert values_of(*aggregator.key(0), is_text=True) == [b"a long key"]
    assert values_of(*aggregator.states(0)[0], is_text=True) == [b"a long value"]
