"""Functions of texts in SQL's runtime; what tables expect is what PostgreSQL 15 gives."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from twinjit._native import _sql
from twinjit.sql.columns import new_values
from twinjit.sql.failures import Failure
from twinjit.sql.runtime import FUNCTIONS

INFINITY = math.inf
SPECIAL, RANGE = Failure.NUMERIC_SPECIAL, Failure.NUMERIC_RANGE


def pairs(values: Sequence[str], kept: list[object]) -> npt.NDArray[np.int64]:
    """Give addresses and lengths; `kept` keeps the memory."""
    encoded = [each.encode() for each in values]
    data = np.frombuffer(b"".join(encoded) + b"\0", np.uint8)
    kept.append(data)
    lengths = np.array([len(each) for each in encoded], np.int64)
    return np.stack([data.ctypes.data + np.cumsum(lengths) - lengths, lengths], axis=1)


def given(kind: Any, values: Sequence[Any] | int, kept: list[object]) -> Any:
    """Give an argument as the runtime takes it; whole numbers are the same for all rows."""
    if isinstance(values, int):
        return values
    if kind == "text":
        return pairs(values, kept)
    if kind == "numeric":
        data = b"".join(each.to_bytes(16, "little", signed=True) for each in values)
        return np.frombuffer(data, np.int64).reshape(-1, 2)
    return np.array(values, new_values(kind, 0).dtype)


def taken(kind: str, result: npt.NDArray[Any], is_fine: npt.NDArray[np.uint8]) -> list[Any]:
    """Give results as Python's values."""
    if kind == "text":
        offsets, data = _sql.texts(result, is_fine)
        return [data[a:b].tobytes().decode() for a, b in pairwise(offsets)]
    if kind == "numeric":
        return [int.from_bytes(each.tobytes(), "little", signed=True) for each in result]
    return [bool(each) if kind == "bool" else each.item() for each in result]


def apply(name: str, *columns: Sequence[Any] | int) -> list[Any]:
    """Call a function for rows, and give results and failures."""
    function, kept = FUNCTIONS[name], list[object]()
    kinds = [each for each in function.arguments if each != "arena"]
    arguments = [given(kind, each, kept) for kind, each in zip(kinds, columns, strict=True)]
    rows = len(arguments[0])
    result, arena = new_values(function.result, rows), _sql.Arena()  # type: ignore[arg-type]
    failures = np.zeros(rows, np.uint8)
    _sql.apply(name, arguments, np.ones(rows, np.uint8), result, failures, arena)
    values = taken(function.result, result, np.equal(failures, 0).astype(np.uint8))
    return [
        Failure(int(failure)) if failure else value
        for failure, value in zip(failures, values, strict=True)
    ]


PLAIN = [
    # text, other, length, lower, upper, comparison
    ("", "", 0, "", "", 0),
    ("", "\x01", 0, "", "", -1),
    ("@AZ[`az{", "@AZ[`az", 8, "@az[`az{", "@AZ[`AZ{", 1),
    ("aÀéßİ", "aÀé", 5, "aÀéßİ", "AÀéßİ", 1),
    ("€uro 😀", "z", 6, "€uro 😀", "€URO 😀", 1),
    ("Z", "a", 1, "z", "Z", -1),
    ("ab", "ab", 2, "ab", "AB", 0),
    ("ab", "abc", 2, "ab", "AB", -1),
    ("\uffff", "😀", 1, "\uffff", "\uffff", -1),
]


def test_texts_are_measured_changed_and_compared() -> None:
    texts, others, lengths, lowered, raised, orders = map(list, zip(*PLAIN, strict=True))
    assert apply("length", texts) == lengths
    assert apply("lower", texts) == lowered
    assert apply("upper", texts) == raised
    assert apply("compare", texts, others) == orders
    assert apply("text_equal", texts, others) == [int(each == 0) for each in orders]
    assert apply("concat", texts, others) == [a + b for a, b in zip(texts, others, strict=True)]


MOST, LEAST = 2**31 - 1, -(2**31)
SUBSTRINGS: list[tuple[str, int, int | None, object]] = [
    ("aé€😀z", 2, None, "é€😀z"),
    ("aé€😀z", 6, None, ""),
    ("aé€😀z", MOST, None, ""),
    ("aé€😀z", 0, None, "aé€😀z"),
    ("aé€😀z", LEAST, None, "aé€😀z"),
    ("aé€😀z", 2, 2, "é€"),
    ("aé€😀z", 4, MOST, "😀z"),
    ("aé€😀z", 1, 0, ""),
    ("aé€😀z", 0, 1, ""),
    ("aé€😀z", 0, 2, "a"),
    ("aé€😀z", -2, 3, ""),
    ("aé€😀z", -2, 5, "aé"),
    ("aé€😀z", LEAST, MOST, ""),
    ("aé€😀z", MOST, MOST, ""),
    ("", 1, 1, ""),
    ("aé€😀z", 1, -1, Failure.NEGATIVE_SUBSTRING),
    ("", MOST, LEAST, Failure.NEGATIVE_SUBSTRING),
]


@pytest.mark.parametrize(("text", "start", "count", "expected"), SUBSTRINGS)
def test_substrings(text: str, start: int, count: int | None, expected: object) -> None:
    if count is None:
        assert apply("substring", [text], [start]) == [expected]
    else:
        assert apply("substring_for", [text], [start], [count]) == [expected]


BROKEN, LONG = Failure.PATTERN_ENDS_WITH_ESCAPE, Failure.LONG_ESCAPE
PATTERNS: list[tuple[str, str, str, object, object]] = [
    # text, pattern, escape, LIKE, ILIKE
    ("", "", "\\", True, True),
    ("", "%", "\\", True, True),
    ("", "_", "\\", False, False),
    ("abc", "", "\\", False, False),
    ("abc", "abc", "\\", True, True),
    ("aBc", "AbC", "\\", False, True),
    ("Àb", "àB", "\\", False, False),
    ("abc", "a%", "\\", True, True),
    ("abc", "%c", "\\", True, True),
    ("abcc", "%bc", "\\", False, False),
    ("ABABC", "%abc", "\\", False, True),
    ("xaBcx", "%AbC%", "\\", False, True),
    ("aab", "%_ab", "\\", True, True),
    ("ab", "%_ab", "\\", False, False),
    ("axbxc", "%x_x%c", "\\", True, True),
    ("aaxb", "%a_b", "\\", True, True),
    ("é€😀", "___", "\\", True, True),
    ("é€😀", "_%_€_", "\\", False, False),
    ("é€😀", "%_€_", "\\", True, True),
    ("a%c", "a\\%c", "\\", True, True),
    ("abc", "a\\%c", "\\", False, False),
    ("abc", "\\a\\b\\c", "\\", True, True),
    ("x%y_z", "%\\%_\\_%", "\\", True, True),
    ("a\\c", "a\\c", "", True, True),
    ("a%", "a#%", "#", True, True),
    ("a\\b", "a\\b", "#", True, True),
    ("%", "%%", "%", True, True),
    ("a_", "%%%_", "%", False, False),
    ("%_", "%%%_", "%", True, True),
    ("é%", "éé%%", "é", True, True),
    ("é%", "ééé%", "é", True, True),
    ("éa", "ééé%", "é", False, False),
    ("aXb", "axab", "a", False, False),
    ("Xb", "axAb", "A", False, False),
    ("abc", "ab\\", "\\", BROKEN, BROKEN),
    ("ab", "ab\\", "\\", False, False),
    ("", "\\", "\\", False, False),
    ("ab", "ab%\\", "\\", False, False),
    ("ab", "a%\\", "\\", BROKEN, BROKEN),
    ("ab", "a%_\\", "\\", BROKEN, BROKEN),
    ("ab", "%b\\", "\\", False, False),
    ("abb", "%b\\", "\\", BROKEN, BROKEN),
    ("abc", "x\\", "\\", False, False),
    ("abc", "abc", "##", LONG, LONG),
    ("", "", "éé", LONG, LONG),
]


@pytest.mark.parametrize("index", range(len(PATTERNS)))
def test_patterns(index: int) -> None:
    text, pattern, escape, like, ilike = PATTERNS[index]
    assert apply("like", [text], [pattern], [escape]) == [like]
    assert apply("ilike", [text], [pattern], [escape]) == [ilike]


def test_patterns_agree_with_regular_expressions() -> None:
    random = Random(1)
    texts, patterns = [
        ["".join(random.choices(letters, k=random.randrange(12))) for _ in range(20_000)]
        for letters in ("aAbé", "aAbé%%%__")
    ]
    for name, flags in (("like", 0), ("ilike", re.IGNORECASE)):
        expected = [
            bool(re.fullmatch(pattern.replace("%", ".*").replace("_", "."), text, flags))
            for text, pattern in zip(texts, patterns, strict=True)
        ]
        found = apply(name, texts, patterns, ["\\"] * len(texts))
        assert found == expected
        assert 1000 < sum(found) < 19_000


@pytest.mark.parametrize("name", ["like", "ilike"])
@pytest.mark.parametrize("behind", ["%", ""])
def test_long_patterns_take_linear_time(name: str, behind: str) -> None:
    half = "a" * 1_000_000
    start = time.monotonic()
    assert apply(name, [half * 2], [f"%{half}b{half}{behind}"], ["\\"]) == [False]
    assert apply(name, [half + "b"], ["%a" * 20_000 + behind], ["\\"]) == [behind == "%"]
    assert time.monotonic() - start < 10  # else days


BOOLEANS = {
    **dict.fromkeys(("t", "tr", "TRUE", "y", "Yes", "on", "1", " \t\n\v\f\ron "), True),
    **dict.fromkeys(("f", "fal", "False", "n", "NO", "of", "oFF", "0"), False),
    **dict.fromkeys(
        ("", " ", "o", "truee", "yess", "00", "10", "+1", "2", "t f", "ｔ", "true\xa0"),
        Failure.BOOL_SYNTAX,
    ),
}


def test_booleans() -> None:
    assert apply("text_to_bool", list(BOOLEANS)) == list(BOOLEANS.values())
    assert apply("bool_to_text", [0, 1]) == ["false", "true"]


@pytest.mark.parametrize(("kind", "bits"), [("int2", 16), ("int4", 32), ("int8", 64)])
def test_integers(kind: str, bits: int) -> None:
    syntax, out = Failure[f"{kind.upper()}_SYNTAX"], Failure[f"{kind.upper()}_TEXT_RANGE"]
    most = 2 ** (bits - 1) - 1
    cases: dict[str, object] = {
        "0": 0, "-0": 0, "+7": 7, " \t\n\v\f\r-12\r ": -12, "0" * 50 + "9": 9,
        f"{most}": most, f"{-most - 1}": -most - 1, f"+{most}": most,
        f"{most + 1}": out, f"{-most - 2}": out, f"{10**30}": out, f"{10 * most}x": out,
        **dict.fromkeys(
            ("", " ", "-", "+", "--1", "+-1", "- 1", "1 2", "1.0", "1e1", "0x1", "1_0", "١",
             "1\xa0", "1\0",
             # It overflows only once the sign is looked at, at the end.
             f"{most + 1}x"), syntax),
    }  # fmt: skip
    assert apply(f"text_to_{kind}", list(cases)) == list(cases.values())
    assert apply("int8_to_text", [most, -most - 1, 0]) == [str(most), str(-most - 1), "0"]


FLOATS: dict[str, object] = {
    "1.5": 1.5, "-.5": -0.5, "+5.": 5.0, "-0": -0.0, " \t\n\v\f\r1e2 ": 100.0,
    "0e999999999999": 0.0,
    "1E+05": 1e5, "0." + "0" * 400 + "1e401": 1.0, "1" + "0" * 400 + "e-400": 1.0,
    "0x1F": 31.0, "-0X1.8p1": -3.0, "0x.8": 0.5, "0x1.": 1.0, "0x1P-3": 0.125,
    "NaN": math.nan, "-nan": math.nan, "nan()": math.nan, "nan(a_1)": math.nan,
    "inf": INFINITY, "+INF": INFINITY, "-Infinity": -INFINITY,
}  # fmt: skip
NO_FLOATS = [
    "", " ", ".", "+", "-", "e5", "1e", "1e+", "1e 5", "--1", "+-1", "1..2", "1.2.3", "1,5", "1 2",
    "1_0", "0x", "0x.", "0x1p", "0x1p+-3", "0xg", "0x-1", "0x+1", "infinit", "in", "nan(",
    "nan(a b)", "nan(é)", "na", "١", "1\xa0", "1\0", "1e5x", "0b1",
]  # fmt: skip


@pytest.mark.parametrize("kind", ["float4", "float8"])
def test_floats_are_read(kind: str) -> None:
    found = apply(f"text_to_{kind}", list(FLOATS))
    assert [*map(repr, found)] == [*map(repr, FLOATS.values())]
    syntax = Failure[f"{kind.upper()}_SYNTAX"]
    assert apply(f"text_to_{kind}", NO_FLOATS) == [syntax] * len(NO_FLOATS)


LIMITS: dict[str, dict[str, object]] = {
    "float8": {
        "1.7976931348623157e308": 1.7976931348623157e308,
        "1.7976931348623158e308": 1.7976931348623157e308,
        "1.7976931348623159e308": None, "-1e400": None, "1e400x": None, "0x1p1024": None,
        "1e99999999999999999999": None, "1e-99999999999999999999": None,
        "2.5e-324": 5e-324, "2.4e-324": None, "-1e-400": None, "0x1p-1074": 5e-324,
        "0x1p-1075": None, "1e-310": 1e-310,
        "9007199254740993": 9007199254740992.0, "9007199254740995": 9007199254740996.0,
        "9007199254740993." + "0" * 300 + "1": 9007199254740994.0,
    },
    "float4": {
        "3.4028235e38": 3.4028234663852886e38, "3.4028236e38": None, "1e39": None,
        "1e-45": 1.401298464324817e-45, "0.7e-45": None, "1e-40": 9.99994610111476e-41,
        "0x1p128": None, "0x1p-149": 1.401298464324817e-45, "0x1p-150": None,
        "16777217": 16777216.0, "16777219": 16777220.0, "16777217.0000000001": 16777218.0,
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", list(LIMITS))
def test_floats_are_rounded_and_have_limits(kind: str) -> None:
    out = Failure[f"{kind.upper()}_TEXT_RANGE"]
    expected = [out if each is None else each for each in LIMITS[kind].values()]
    assert apply(f"text_to_{kind}", list(LIMITS[kind])) == expected


WRITTEN: dict[str, dict[float, str]] = {
    "float8": {
        0.0: "0", 1.0: "1", -1.5: "-1.5", 0.1: "0.1", 1e14: "100000000000000", 1e15: "1e+15",
        123456789012345.6: "123456789012345.6", 1e-4: "0.0001", 1.5e-5: "1.5e-05", 1e100: "1e+100",
        5e-324: "5e-324", 1.7976931348623157e308: "1.7976931348623157e+308",
        # What others write in fewer digits, which lie halfway between this float and another.
        1e23: "9.999999999999999e+22", 2.0**54 + 4: "1.8014398509481988e+16",
        9007199254740992.0: "9.007199254740992e+15", -5e22: "-4.9999999999999996e+22",
        INFINITY: "Infinity", -INFINITY: "-Infinity", math.nan: "NaN",
    },
    "float4": {
        0.0: "0", 0.1: "0.1", 1e5: "100000", 1e6: "1e+06", 123456.7: "123456.7",
        1234567.0: "1.234567e+06", 1e-4: "0.0001", -1e-5: "-1e-05", 1e-45: "1e-45",
        3.4028235e38: "3.4028235e+38", 16777216.0: "1.6777216e+07", 33554432.0: "3.3554432e+07",
        8589934592.0: "8.589935e+09", INFINITY: "Infinity", -INFINITY: "-Infinity", math.nan: "NaN",
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", list(WRITTEN))
def test_floats_are_written(kind: str) -> None:
    assert apply(f"{kind}_to_text", list(WRITTEN[kind])) == list(WRITTEN[kind].values())
    assert apply(f"{kind}_to_text", [-0.0]) == ["-0"]


def is_halfway(text: str, value: np.floating[Any]) -> bool:
    """Whether a decimal lies halfway between a float and one of its neighbours."""
    neighbours = [np.nextafter(value, type(value)(each)) for each in (-INFINITY, INFINITY)]
    sums = [Fraction(float(value)) + Fraction(float(each)) for each in neighbours]
    return 2 * Fraction(text) in sums


@pytest.mark.parametrize("type_", [np.float32, np.float64])
def test_floats_are_read_back_from_the_fewest_digits(type_: Any) -> None:
    kind = f"float{type_().itemsize}"
    drawn = np.frombuffer(Random(2).randbytes(160_000), type_)
    values = drawn[np.isfinite(drawn) & (np.abs(drawn) < np.finfo(type_).max / 2)]
    texts = apply(f"{kind}_to_text", values)
    assert apply(f"text_to_{kind}", texts) == values.tolist()
    pairs_ = [
        (value, text, np.format_float_scientific(value, unique=True))
        for value, text in zip(values, texts, strict=True)
    ]
    unequal = [each for each in pairs_ if Decimal(each[1]) != Decimal(each[2])]
    assert 0 < len(unequal) < len(pairs_) / 100
    for value, text, fewest in unequal:
        assert is_halfway(fewest, value)
        assert not is_halfway(text, value)


NUMERICS: list[tuple[str, int, object]] = [
    ("0", 0, 0), ("-0", 3, 0), (" \t\n\v\f\r+1.5 ", 1, 15), (".5", 1, 5), ("5.", 1, 50),
    ("0.5", 0, 1), ("-0.5", 0, -1), ("0.49999", 0, 0), ("5e-1", 0, 1), ("0.05e1", 0, 1),
    ("2.5", 0, 3), ("-1.005", 2, -101), ("1e5", 0, 100000), ("12E-1", 1, 12), ("1e+2", 0, 100),
    ("1e 5", 0, 100000), ("1e\t-2", 2, 1), ("1e-40", 38, 0), ("9e-39", 38, 1),
    ("0e1000", 0, 0), ("1e-16383", 0, 0), ("0." + "0" * 16382 + "1", 0, 0),
    ("9" * 38, 0, 10**38 - 1), ("-" + "9" * 38, 0, 1 - 10**38), ("0" * 100 + "1", 0, 1),
    ("0." + "9" * 38, 38, 10**38 - 1), ("9" * 37 + ".94", 1, 10**38 - 1),
    ("1e38", 0, RANGE), ("9" * 38 + ".5", 0, RANGE), ("1", 38, RANGE), ("1e37", 2, RANGE),
    ("1e200000", 0, RANGE), ("1e1073741823x", 0, RANGE), ("0e9999999999999999999", 0, RANGE),
    ("1e-16384", 0, RANGE), ("0e-16384", 0, RANGE), ("0." + "0" * 16383 + "1", 0, RANGE),
    ("NaN", 0, SPECIAL), ("inf", 0, SPECIAL), (" -Infinity ", 0, SPECIAL), ("+INF", 0, SPECIAL),
    *((text, 2, Failure.NUMERIC_SYNTAX) for text in (
        "", " ", ".", "-", "+", "-nan", "+nan", "nan1", "infinit", "e5", "1e", "1e+", "1e+ 5",
        "1e--5", "--1", "- 1", "1..2", "1.2.3", "1 2", "1_0", "0x1", "1e5x", "1e100x", "1,5", "١",
        "1\xa0", "1\0",
    )),
]  # fmt: skip


def test_numerics_are_read() -> None:
    for text, scale, expected in NUMERICS:
        assert (text, apply("text_to_numeric", [text], scale)) == (text, [expected])


@pytest.mark.parametrize("scale", [0, 2, 38])
def test_numerics_are_rounded_half_away_from_zero(scale: int) -> None:
    random = Random(scale)
    context = Context(MAX_PREC, ROUND_HALF_UP, MIN_EMIN, MAX_EMAX)
    texts = [
        f"{random.choice('+-')}{random.randrange(10 ** random.randint(0, 20))}"
        f".{random.randrange(10 ** random.randint(0, 30))}{random.choice(['', '5', '49', '50'])}"
        f"e{random.randint(-30, 20)}"
        for _ in range(5000)
    ]
    exacts = [
        int(Decimal(each).scaleb(scale, context).to_integral(context=context)) for each in texts
    ]
    expected = [each if abs(each) < 10**38 else RANGE for each in exacts]
    assert apply("text_to_numeric", texts, scale) == expected


@pytest.mark.parametrize("scale", [0, 1, 19, 20, 38])
def test_numerics_are_written(scale: int) -> None:
    values = [
        sign * (10**digits - off) for digits in range(38) for off in (0, 1) for sign in (1, -1)
    ]
    values += [10**38 - 1, 1 - 10**38, 2**64 - 1, 2**64, -(2**63)]
    context = Context(MAX_PREC, ROUND_HALF_UP, MIN_EMIN, MAX_EMAX)
    expected = [f"{Decimal(each).scaleb(-scale, context):f}" for each in values]
    assert apply("numeric_to_text", values, scale) == expected
