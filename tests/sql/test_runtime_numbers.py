"""SQL's runtime functions of numbers, and how Python calls the runtime."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from itertools import product
from math import ceil, floor, trunc
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.sql.number_cases import NUMBER_CASES
from twinjit._native import _sql
from twinjit.sql.columns import DTYPES, new_values
from twinjit.sql.failures import Failure
from twinjit.sql.runtime import FUNCTIONS

MOST = 10**38 - 1
RANGES = {"int2": 16, "int4": 32, "int8": 64}
ROWS = 3000


def kinds_of(name: str) -> tuple[list[Any], Any]:
    """Give the kinds of arguments and of the result, of the interpreter's own functions as well."""
    if name in FUNCTIONS:
        function = FUNCTIONS[name]
        return [each for each in function.arguments if each != "arena"], function.result
    kind, _, operation = name.partition("_")
    if operation == "compare":
        return [kind, kind], "int4"
    if operation == "limit":
        return ["numeric", "int4"], "numeric"
    if operation.startswith("to_"):
        return [kind], operation[3:]
    is_of_two = operation in ("add", "subtract", "multiply", "divide", "modulo")
    return [kind] * (1 + is_of_two), kind


def given(kind: Any, values: Sequence[Any]) -> npt.NDArray[Any]:
    """Give an argument as the runtime takes it."""
    if kind == "numeric":
        data = b"".join(each.to_bytes(16, "little", signed=True) for each in values)
        return np.frombuffer(data, np.int64).reshape(-1, 2)
    return np.array(values, DTYPES[kind][0])


def apply(name: str, rows: Sequence[Sequence[Any]]) -> list[Any]:
    """Call a function for rows, and give results and failures."""
    kinds, kind = kinds_of(name)
    columns = list(zip(*rows, strict=True))
    arguments = [given(each, column) for each, column in zip(kinds, columns, strict=True)]
    result, failures = new_values(kind, len(rows)), np.zeros(len(rows), np.uint8)
    active = np.ones(len(rows), np.uint8)
    _sql.apply(name, arguments, active, result, failures, _sql.Arena())
    values = result.tolist()
    if kind == "numeric":
        values = [int.from_bytes(each.tobytes(), "little", signed=True) for each in result]
    return [
        Failure(int(failure)) if failure else value
        for failure, value in zip(failures, values, strict=True)
    ]


def differences(name: str, rows: Sequence[Sequence[Any]], expected: Sequence[Any]) -> list[object]:
    """Give rows, results and what was expected, where these differ, in sign or as NaN, too."""
    is_float4 = kinds_of(name)[1] == "float4"
    wanted = [
        float(np.float32(each)) if is_float4 and not isinstance(each, Failure) else each
        for each in expected
    ]
    compared = zip(rows, apply(name, rows), wanted, strict=True)
    return [each for each in compared if repr(each[1]) != repr(each[2])]


@pytest.mark.parametrize("name", NUMBER_CASES)
def test_numbers_are_those_of_postgresql(name: str) -> None:
    cases = NUMBER_CASES[name]
    assert differences(name, [each[:-1] for each in cases], [each[-1] for each in cases]) == []


# Integers


def quotient(left: int, right: int) -> int | Failure:
    """Divide towards zero."""
    if right == 0:
        return Failure.DIVISION_BY_ZERO
    return trunc(Fraction(left, right))


def rest(left: int, right: int) -> int | Failure:
    found = quotient(left, right)
    return found if isinstance(found, Failure) else left - right * found


OPERATIONS: dict[str, Callable[..., int | Failure]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": quotient,
    "modulo": rest,
    "negate": operator.neg,
    "abs": abs,
}


def within(kind: str, value: int | Failure) -> int | Failure:
    if isinstance(value, Failure):
        return value
    end = 10**38 if kind == "numeric" else 1 << (RANGES[kind] - 1)
    least = -end + (kind == "numeric")
    return value if least <= value < end else Failure[f"{kind.upper()}_RANGE"]


def integers(kind: str, random: Random) -> list[int]:
    end = 1 << (RANGES[kind] - 1)
    root = int(end**0.5)
    ends = [0, 1, -1, 2, -2, 7, -7, 10, end - 1, end - 2, -end, 1 - end, root, -root, end // 2]
    return ends + [random.randrange(-end, end) >> random.randrange(RANGES[kind]) for _ in range(30)]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("kind", RANGES)
def test_integers(kind: str, operation: str) -> None:
    name = f"{kind}_{operation}"
    rows = list(product(integers(kind, Random(name)), repeat=len(kinds_of(name)[0])))
    expected = [within(kind, OPERATIONS[operation](*each)) for each in rows]
    assert differences(name, rows, expected) == []
    assert any(isinstance(each, Failure) for each in expected)


@pytest.mark.parametrize("kind", ["int2", "int4"])
def test_integers_are_narrowed(kind: str) -> None:
    values = [each * sign for each in integers("int8", Random(1)) for sign in (1, -1)]
    values += [each + off for each in integers(kind, Random(2)) for off in (-1, 0, 1)]
    rows = [(each,) for each in values if -(2**63) <= each < 2**63]
    assert differences(f"int8_to_{kind}", rows, [within(kind, each) for (each,) in rows]) == []


def test_integers_are_compared() -> None:
    rows = list(product(integers("int8", Random(1)), repeat=2))
    assert differences("int8_compare", rows, [(a > b) - (a < b) for a, b in rows]) == []


# Numerics


def half_up(value: Fraction) -> int:
    """Round half away from zero."""
    magnitude = floor(abs(value) + Fraction(1, 2))
    return -magnitude if value < 0 else magnitude


def draw_numeric(random: Random) -> int:
    digits = random.randint(0, 38)
    value = random.randrange(10**digits)
    unit: int = 10 ** (digits // 2)
    tie: int = min(MOST, value // unit * unit + 5 * 10 ** (digits // 3))
    return random.choice((1, -1)) * random.choice((value, tie, max(0, tie - 1)))


def draw(name: str) -> list[tuple[Any, ...]]:
    """Draw numerics with scales, two of them in a row."""
    random = Random(name)
    return [
        (draw_numeric(random), random.randint(0, 38), draw_numeric(random), random.randint(0, 38))
        for _ in range(ROWS)
    ]


@pytest.mark.parametrize("operation", ["add", "subtract", "multiply", "negate", "abs"])
def test_numerics_of_known_scale(operation: str) -> None:
    name = f"numeric_{operation}"
    rows = [(a, b)[: len(kinds_of(name)[0])] for a, _, b, _ in draw(name)]
    expected = [within("numeric", OPERATIONS[operation](*each)) for each in rows]
    assert differences(name, rows, expected) == []


def base_digits(value: int, scale: int) -> tuple[int, int]:
    """Give the first of the digits, base 10,000, that PostgreSQL stores, and its weight."""
    if value == 0:
        return 0, 0
    whole, fraction = divmod(abs(value), 10**scale)
    text = f"{whole:040d}" + f"{fraction:0{scale}d}"[: scale or -1].ljust(40, "0")
    digits = [int(text[at : at + 4]) for at in range(0, 80, 4)]
    first = next(at for at, digit in enumerate(digits) if digit)
    return digits[first], 9 - first


def quotient_of(left: int, scale: int, right: int, other: int, to: int) -> int | Failure:
    """Divide as PostgreSQL does, and cast the result."""
    if right == 0:
        return Failure.DIVISION_BY_ZERO
    (above, weight), (below, other_weight) = base_digits(left, scale), base_digits(right, other)
    digits = max(16 - 4 * (weight - other_weight - (above <= below)), scale, other)
    exact = Fraction(left, right) * Fraction(10) ** (other - scale)
    rounded = Fraction(half_up(exact * 10**digits), 10**digits)
    return within("numeric", half_up(rounded * 10**to))


# Of which long division guesses a digit as too large: by one, after all corrections; as the base
# itself, with words behind it that say so, and that do not; by one, with a rest equal to the base.
HARD = [
    (0x3FFFFFFF800000000000000080000000, 0x800000000000000080000000),
    (0x3FFFFFFFE000000006C67BF79, 0xFFFFFFFF80000000FFFFFFFE),
    (0x300000000000000017FFFFFFF, 0x300000003),
    (0x40000000000000000000000000000002, 0x400000000000000000000002),
    (0x3FFFFFFFFFFFFFFE0000000000000001, 0x3FFFFFFFFFFFFFFE00000002),
    (0x2FFFFFFFE8000000100000000, 0x380000001),
]


def test_numerics_are_divided() -> None:
    rows = [(*each, max(24, each[1], each[3])) for each in draw("divide")]
    rows += [(a, 0, b, 0, 24) for a, b in HARD]
    # Ties of the scale that PostgreSQL rounds to.
    rows += [(sign * (10**37 + off), 30, 2, 0, 30) for off in (1, 2, 3) for sign in (1, -1)]
    random = Random(3)
    for _ in range(ROWS):
        # PostgreSQL rounds it to a tie between results.
        tie = (random.randrange(10 ** random.randint(1, 12)) * 10 + 5) * 10**12
        rows.append((tie - random.randint(0, 1), 0, 10**37, 0, 24))
        short = [random.randrange(10**6) for _ in range(2)]
        rows.append((short[0], random.randint(0, 4), short[1], 2, 24))
    assert differences("numeric_divide", rows, [quotient_of(*each) for each in rows]) == []


def test_numerics_have_rests() -> None:
    rows = [(*each, max(each[1], each[3])) for each in draw("modulo")]
    rows += [(a, 0, b, 0, 0) for a, b in HARD]
    rests = [rest(a * 10 ** (to - s), b * 10 ** (to - t)) for a, s, b, t, to in rows]
    expected = [within("numeric", each) for each in rests]
    assert differences("numeric_modulo", rows, expected) == []


def test_numerics_of_two_scales_are_compared() -> None:
    rows = draw("compare")
    rows += [(a, s, a * 10, s + 1) for a, s, _, _ in rows if abs(a) < 10**37 and s < 38]
    pairs = [(a * 10**t, b * 10**s) for a, s, b, t in rows]
    assert differences("numeric_compare", rows, [(a > b) - (a < b) for a, b in pairs]) == []


@pytest.mark.parametrize(("name", "round_"), [("round", half_up), ("trunc", trunc)])
def test_numerics_are_rounded(name: str, round_: Callable[[Fraction], int]) -> None:
    rows, expected = [], []
    for value, scale, _, places in draw(name):
        digits = places - scale  # behind the point, or before it
        unit = Fraction(10) ** -digits
        to = max(0, digits)
        rows.append((value, scale, digits, to))
        rounded = round_(Fraction(value, 10**scale) / unit) * unit
        expected.append(within("numeric", int(rounded * 10**to)))
    assert differences(f"numeric_{name}", rows, expected) == []


def test_numerics_change_scale() -> None:
    rows = [(a, s, t) for a, s, _, t in draw("rescale")]
    expected = [within("numeric", half_up(Fraction(a, 10**s) * 10**t)) for a, s, t in rows]
    assert differences("numeric_rescale", rows, expected) == []
    for name, round_ in (("floor", floor), ("ceil", ceil)):
        expected = [round_(Fraction(a, 10**s)) for a, s, _ in rows]
        assert differences(f"numeric_{name}", [each[:2] for each in rows], expected) == []


@pytest.mark.parametrize("kind", RANGES)
def test_numerics_become_integers(kind: str) -> None:
    rows = [(a, s) for a, s, _, _ in draw(kind)]
    expected = [within(kind, half_up(Fraction(a, 10**s))) for a, s in rows]
    assert differences(f"numeric_to_{kind}", rows, expected) == []


@pytest.mark.parametrize("type_", [np.float32, np.float64])
def test_numerics_become_the_nearest_floats(type_: Any) -> None:
    kind = f"float{type_().itemsize}"
    rows = [(a, s) for a, s, _, _ in draw(kind)]
    for (value, scale), found in zip(rows, apply(f"numeric_to_{kind}", rows), strict=True):
        exact = Fraction(value, 10**scale)
        around = [np.nextafter(type_(found), type_(end)) for end in (-np.inf, np.inf)]
        off = abs(Fraction(found) - exact)
        assert all(off <= abs(Fraction(float(each)) - exact) for each in around), (value, scale)


@pytest.mark.parametrize(("type_", "digits"), [(np.float32, 6), (np.float64, 15)])
def test_floats_become_numerics_by_the_digits_they_surely_have(type_: Any, digits: int) -> None:
    random = Random(digits)
    drawn = np.array([random.gauss(0, 1) * 10.0 ** random.randint(-37, 36) for _ in range(ROWS)])
    rows = [(float(each), random.randint(0, 38)) for each in drawn.astype(type_)]
    context = Context(MAX_PREC, ROUND_HALF_UP, MIN_EMIN, MAX_EMAX)
    exact = [Decimal(f"{value:.{digits - 1}e}").scaleb(scale, context) for value, scale in rows]
    expected = [within("numeric", int(each.to_integral(context=context))) for each in exact]
    assert differences(f"float{type_().itemsize}_to_numeric", rows, expected) == []


# Calls from Python


def empty(kind: Any) -> npt.NDArray[Any]:
    return new_values(kind, 0)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_take_and_give_what_is_declared(name: str) -> None:
    kinds, kind = kinds_of(name)
    nothing = np.zeros(0, np.uint8)
    arguments = [empty(each) for each in kinds]
    _sql.apply(name, arguments, nothing, empty(kind), nothing.copy(), _sql.Arena())
    wrong = empty("int2" if kind != "int2" else "int4")
    with pytest.raises(ValueError, match=f"{name}: the result"):
        _sql.apply(name, arguments, nothing, wrong, nothing.copy(), _sql.Arena())
    assert _sql.symbols()[FUNCTIONS[name].symbol]


def test_only_active_rows_that_have_not_failed_are_computed() -> None:
    values = np.array([1, 2, 3, -(2**31), 5], np.int32)
    failures = np.array([0, Failure.DATE_RANGE, 0, 0, 0], np.uint8)
    active = np.array([1, 1, 0, 1, 1], np.uint8)
    result = np.full(5, 77, np.int32)
    _sql.apply("int4_add", [values, -1], active, result, failures, _sql.Arena())
    assert result.tolist() == [0, 77, 77, 77, 4]
    assert failures.tolist() == [0, Failure.DATE_RANGE, 0, Failure.INT4_RANGE, 0]


INTS = np.arange(4, dtype=np.int32)
READ_ONLY = np.zeros(4, np.int32)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"name": "int4_ad"}, "int4_ad: there is no such function"),
        ({"arguments": [INTS]}, "takes 2 arguments, not 1"),
        ({"arguments": [INTS, INTS[:3]]}, "argument 1: another dtype or shape"),
        ({"arguments": [INTS, INTS.reshape(2, 2)]}, "argument 1: another dtype or shape"),
        ({"arguments": [INTS.astype(np.int64), INTS]}, "argument 0: another dtype or shape"),
        ({"arguments": [np.arange(8, dtype=np.int32)[::2], INTS]}, "contiguous .* argument 0"),
        ({"arguments": [INTS, 2**31]}, "argument 1 does not fit into 32 bits"),
        ({"arguments": [INTS, [1, 2, 3, 4]]}, "contiguous .* argument 1"),
        ({"name": "int8_negate", "arguments": [1]}, "contiguous .* argument 0"),
        ({"result": np.zeros(4, np.int64)}, "the result: another dtype or shape"),
        ({"result": np.zeros(8, np.int32)[::2]}, "contiguous .* the result, writable"),
        ({"result": READ_ONLY}, "contiguous .* the result, writable"),
        ({"failures": np.zeros(5, np.uint8)}, "the failures: another dtype or shape"),
        ({"failures": np.zeros(4, np.int64)}, "the failures: another dtype or shape"),
        ({"failures": np.zeros(8, np.uint8)[::2]}, "contiguous .* the failures, writable"),
        ({"active": np.ones(4, np.bool_)}, "the active rows: another dtype or shape"),
        ({"active": np.ones((2, 2), np.uint8)}, "the active rows: another dtype or shape"),
    ],
)
def test_other_arguments_are_refused(changed: dict[str, Any], message: str) -> None:
    fine: dict[str, Any] = {
        "name": "int4_add",
        "arguments": [INTS, INTS],
        "active": np.ones(4, np.uint8),
        "result": np.zeros(4, np.int64 if "name" in changed else np.int32),
        "failures": np.zeros(4, np.uint8),
        "arena": _sql.Arena(),
    }
    with pytest.raises(ValueError, match=message):
        _sql.apply(**fine | changed)


def test_texts_are_gathered() -> None:
    data = np.frombuffer(b"abcdef", np.uint8)
    start = data.ctypes.data
    pairs = np.array([[start + 1, 2], [start, 6], [0, 0], [start + 5, 1]], np.int64)
    offsets, gathered = _sql.texts(pairs, np.array([1, 0, 1, 1], np.uint8))
    assert offsets.tolist() == [0, 2, 2, 2, 3]
    assert gathered.tobytes() == b"bcf"
    offsets, gathered = _sql.texts(pairs[:0], np.zeros(0, np.uint8))
    assert (offsets.tolist(), gathered.tobytes()) == ([0], b"")
    with pytest.raises(ValueError, match="more or fewer bytes of validity"):
        _sql.texts(pairs, np.ones(3, np.uint8))
    pairs[:2, 1] = 2**30
    with pytest.raises(OverflowError, match="2 GiB"):
        _sql.texts(pairs, np.ones(4, np.uint8))
