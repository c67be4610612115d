"""What conditions can be, given what columns can hold."""

from __future__ import annotations

from itertools import product

import pytest

from twinjit.sql.data.ranges import Range, can_be_true
from twinjit.sql.tree import (
    And,
    BooleanTest,
    Call,
    Column,
    Constant,
    Expression,
    IsNull,
    Or,
    Parameter,
    Value,
)
from twinjit.sql.types import BOOL, DATE, FLOAT8, INT2, INT4, INT8, TEXT, numeric, timestamp

A = Column(0, INT4)
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")


def compare(name: str, left: Expression, right: Expression) -> Call:
    return Call(name, (left, right), BOOL)


def number(value: int | None) -> Constant:
    return Constant(value, INT4)


def holds(name: str, a: int | None, b: int | None) -> bool | None:
    if a is None or b is None:
        return None
    return {
        "equal": a == b,
        "not_equal": a != b,
        "less": a < b,
        "less_equal": a <= b,
        "greater": a > b,
        "greater_equal": a >= b,
    }[name]


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("can_be_null", [False, True])
def test_comparisons_are_what_the_values_in_a_range_give(name: str, can_be_null: bool) -> None:
    for lowest, highest, bound in product(range(4), range(4), range(-1, 5)):
        if lowest > highest:
            continue
        values: list[int | None] = [*range(lowest, highest + 1), *([None] * can_be_null)]
        known = {0: Range(lowest, highest, can_be_null)}
        found = {holds(name, value, bound) for value in values}
        condition = compare(name, A, number(bound))
        assert can_be_true(condition, known, ()) == (True in found)
        assert can_be_true(Call("not", (condition,), BOOL), known, ()) == (False in found)
        for truth in (True, False, None):
            tested = BooleanTest(condition, truth, BOOL)
            assert can_be_true(tested, known, ()) == (truth in found)


def test_two_columns() -> None:
    b = Column(1, INT4)
    for low, high in product(range(3), repeat=2):
        known = {0: Range(low, low + 1, False), 1: Range(high, high + 1, False)}
        pairs = product((low, low + 1), (high, high + 1))
        assert can_be_true(compare("less", A, b), known, ()) == any(x < y for x, y in pairs)


TRUTHS = (True, False, None)


def truth(value: bool | None) -> Constant:
    return Constant(value, BOOL)


@pytest.mark.parametrize(("left", "right"), list(product(TRUTHS, repeat=2)))
def test_logic_in_three_values(left: bool | None, right: bool | None) -> None:
    operands = (truth(left), truth(right))
    both = False if False in (left, right) else None if None in (left, right) else True
    one = True if True in (left, right) else None if None in (left, right) else False
    for expected in TRUTHS:
        assert can_be_true(BooleanTest(And(operands, BOOL), expected, BOOL), {}, ()) == (
            both is expected
        )
        assert can_be_true(BooleanTest(Or(operands, BOOL), expected, BOOL), {}, ()) == (
            one is expected
        )


def test_nothing_known_can_be_anything() -> None:
    assert can_be_true(compare("equal", A, number(1)), {}, ())
    assert can_be_true(IsNull(A, BOOL), {}, ())
    assert can_be_true(Column(3, BOOL), {}, ())
    opaque = Call("like", (Column(1, TEXT), Constant(b"a%", TEXT), Constant(b"\\", TEXT)), BOOL)
    assert can_be_true(opaque, {1: Range.of(b"zebra")}, ())
    assert can_be_true(Call("not", (opaque,), BOOL), {1: Range.of(b"zebra")}, ())


def test_nulls() -> None:
    null = {0: Range.of(None)}
    assert can_be_true(IsNull(A, BOOL), null, ())
    assert not can_be_true(Call("not", (IsNull(A, BOOL),), BOOL), null, ())
    assert not any(can_be_true(compare(name, A, number(1)), null, ()) for name in COMPARISONS)
    assert not can_be_true(compare("equal", A, number(None)), {0: Range(0, 9)}, ())
    assert not can_be_true(IsNull(A, BOOL), {0: Range(0, 9, can_be_null=False)}, ())


def test_parameters_are_known_when_a_query_is_executed() -> None:
    condition = compare("greater", A, Parameter(1, INT4))
    known = {0: Range(0, 9)}
    assert can_be_true(condition, known, (0, 8))
    assert not can_be_true(condition, known, (0, 9))


def test_columns_of_truths() -> None:
    column = Column(0, BOOL)
    assert not can_be_true(column, {0: Range.of(False)}, ())
    assert can_be_true(column, {0: Range(False, True)}, ())
    assert not can_be_true(Call("not", (column,), BOOL), {0: Range.of(True)}, ())
    assert not can_be_true(Call("not", (column,), BOOL), {0: Range(True, None, False)}, ())


CONVERSIONS: list[tuple[Column, Constant, Value, Value]] = [
    # the column, what it is compared with in whose type, and a value of the column below and above
    (Column(0, INT2), Constant(5, INT8), 5, 6),
    (Column(0, INT4), Constant(550, numeric(2)), 5, 6),
    (Column(0, numeric(1)), Constant(550, numeric(2)), 55, 56),
    (Column(0, DATE), Constant(86_400_000_000, timestamp()), 1, 2),
]


@pytest.mark.parametrize(("column", "bound", "below", "above"), CONVERSIONS)
def test_conversions_that_keep_the_order(
    column: Column, bound: Constant, below: Value, above: Value
) -> None:
    converted = Call("cast", (column,), bound.type)
    condition = compare("greater", converted, bound)
    assert not can_be_true(condition, {0: Range(None, below)}, ())
    assert can_be_true(condition, {0: Range(None, above)}, ())


def test_conversions_that_can_fail_or_round_are_not_seen_through() -> None:
    for source, target in ((INT8, INT2), (numeric(2), numeric(0)), (FLOAT8, INT4), (TEXT, INT4)):
        converted = Call("cast", (Column(0, source),), target)
        condition = compare("equal", converted, Constant(7, target))
        assert can_be_true(condition, {0: Range(1, 1, can_be_null=False)}, ())
        nothing = {0: Range.of(None)}
        assert not can_be_true(condition, nothing, ())


def test_floats_are_never_ordered_by_their_bounds() -> None:
    """NaN is above all else, and no statistics count it."""
    condition = compare("greater", Column(0, FLOAT8), Constant(9.0, FLOAT8))
    assert can_be_true(condition, {0: Range(0.0, 1.0)}, ())


def test_texts_by_bytes() -> None:
    condition = compare("less", Column(0, TEXT), Constant(b"b", TEXT))
    assert can_be_true(condition, {0: Range(b"a", b"z")}, ())
    assert not can_be_true(condition, {0: Range("é".encode(), None)}, ())
