"""SQL's runtime functions of dates."""

from __future__ import annotations

import datetime
from random import Random

import numpy as np
import pytest

from tests.sql.date_cases import (
    AROUND_2000,
    EXTRACTED,
    FIRST_DAY,
    INTERVALS,
    LAST_DAY,
    NO_DATES,
    OUT_OF_RANGE,
    READ,
    REFUSED_HERE,
    TRUNCATED,
)
from tests.sql.test_runtime_text import apply
from twinjit.sql.failures import Failure
from twinjit.sql.runtime import FIELDS, UNITS

LEAST, MOST = -(2**63), 2**63 - 1
LIMIT = 2**31 - 1
LEAST_MICROSECONDS = FIRST_DAY * 86400_000_000
DATE, MOMENT = Failure.DATE_RANGE, Failure.TIMESTAMP_RANGE


def moments(*texts: str, digits: int = 6) -> list[int]:
    """Read timestamps."""
    values = apply("text_to_timestamp", texts, digits)
    assert not [each for each in values if isinstance(each, Failure)]
    return values


def written(values: list[object], digits: int = 6) -> list[object]:
    """Write timestamps, and keep failures."""
    fine = [each for each in values if not isinstance(each, Failure)]
    texts = iter(apply("timestamp_to_text", fine, digits) if fine else [])
    return [each if isinstance(each, Failure) else next(texts) for each in values]


def test_texts_are_read() -> None:
    texts, dates, timestamps = map(list, zip(*READ, strict=True))
    assert apply("date_to_text", apply("text_to_date", texts)) == dates
    assert written(apply("text_to_timestamp", texts, 6)) == timestamps


def test_other_texts_are_refused() -> None:
    for text in [*NO_DATES, *REFUSED_HERE]:
        found = (text, *apply("text_to_date", [text]), *apply("text_to_timestamp", [text], 6))
        assert found == (text, Failure.DATE_SYNTAX, Failure.TIMESTAMP_SYNTAX)


def test_ranges_of_texts() -> None:
    for text, *expected in OUT_OF_RANGE:
        found = [*apply("text_to_date", [text]), *apply("text_to_timestamp", [text], 6)]
        assert (text, found) == (text, expected)


def test_ranges_of_texts_in_units() -> None:
    """Of microseconds and nanoseconds, 64 bits hold less than PostgreSQL has."""
    last, end = "294247-01-10 04:00:54.775807", "294247-01-10 04:00:54.775808"
    assert apply("text_to_timestamp", [last, end], 6) == [MOST, MOMENT]
    assert apply("text_to_timestamp", [last, "294276-12-31 23:59:59"], 0) == [
        9223372036855, 9224318015999,
    ]  # fmt: skip
    assert apply("text_to_timestamp", ["294276-12-31 23:59:59.5"], 0) == [MOMENT]
    texts = ["2262-04-11 23:47:16.854775", "2262-04-11 23:47:16.854776", "1677-09-21 00:12:43"]
    assert apply("text_to_timestamp", texts, 9) == [MOST - 807, MOMENT, MOMENT]


@pytest.mark.parametrize(("name", "room"), [("text_to_date", 129), ("text_to_timestamp", 153)])
def test_long_texts_are_refused(name: str, room: int) -> None:
    """A byte is behind each field, and PostgreSQL keeps one."""
    digits: list[int] = [] if name == "text_to_date" else [6]
    for text, length in (("{}2024-01-01", 10), ("2024-01-01 12:00:00.{}", 20)):
        zeros = room - 1 - length
        texts = [text.format("0" * each) for each in (zeros, zeros + 1)]
        found = [isinstance(each, Failure) for each in apply(name, texts, *digits)]
        assert (text, found) == (text, [False, True])
    texts = ["on " * each + "2024-01-01" for each in (24, 25)]
    assert [isinstance(each, Failure) for each in apply(name, texts, *digits)] == [False, True]


def test_half_a_unit_is_rounded_away_from_the_year_2000() -> None:
    """As PostgreSQL does for timestamp(0) and timestamp(3), of its microseconds."""
    texts, seconds, milliseconds = map(list, zip(*AROUND_2000, strict=True))
    exact = moments(*texts)
    for digits, expected in ((0, seconds), (3, milliseconds)):
        values = [946684800 * 10**digits + each for each in expected]
        assert apply("text_to_timestamp", texts, digits) == values
        assert apply("timestamp_rescale", exact, 6, digits) == values


def of_numpy(text: str) -> str:
    """Write what NumPy wrote as PostgreSQL does; NumPy has the same calendar, and a year 0."""
    day, _, time = text.partition("T")
    year, rest = int(day[:-6]), day[-6:]
    time = f" {time.rstrip('0').rstrip('.') if '.' in time else time}" if time else ""
    return f"{year:04d}{rest}{time}" if year > 0 else f"{1 - year:04d}{rest}{time} BC"


@pytest.mark.parametrize(("unit", "digits"), UNITS.items())
def test_days_and_times_are_written(unit: str, digits: int) -> None:
    a_day, random = 86400 * 10**digits, Random(digits)
    # Of the least, NumPy makes no time.
    least, most = max(FIRST_DAY * a_day, LEAST + 1), min(36_000_000 * a_day, MOST)
    values = [least, most, *(random.randint(least, most) for _ in range(5000))]
    values += [day * a_day + random.randint(0, a_day - 1) for day in range(-1000, 1000)]
    expected = [of_numpy(each) for each in np.array(values).astype(f"M8[{unit}]").astype(str)]
    assert apply("timestamp_to_text", values, digits) == expected
    days = [each // a_day for each in values]
    assert apply("timestamp_to_date", values, digits) == days
    assert apply("date_to_text", days) == [
        of_numpy(each) for each in np.array(days).astype("M8[D]").astype(str)
    ]
    starts = [day * a_day if day * a_day >= LEAST else DATE for day in days]
    assert apply("date_to_timestamp", days, digits) == starts
    if digits <= 6:
        assert apply("text_to_timestamp", expected, digits) == values


def test_days_are_added() -> None:
    days = [0, FIRST_DAY, FIRST_DAY, LAST_DAY, LAST_DAY, LAST_DAY, FIRST_DAY, 0, 0]
    added = [7, 0, -1, 1, 0, LIMIT, -LIMIT - 1, LIMIT, -LIMIT - 1]
    expected = [7, FIRST_DAY, DATE, DATE, LAST_DAY, DATE, DATE, DATE, DATE]
    assert apply("add_days", days, added) == expected
    taken = [min(-each, LIMIT) for each in added]
    assert apply("subtract_days", days, taken) == expected
    assert apply("subtract_days", [FIRST_DAY], [FIRST_DAY - LAST_DAY]) == [LAST_DAY]


def test_intervals_are_added() -> None:
    texts, months, days, microseconds, expected = map(list, zip(*INTERVALS, strict=True))
    values = moments(*texts)
    assert written(apply("add_interval", values, 6, months, days, microseconds)) == expected


def test_intervals_are_added_in_units() -> None:
    values = [[1709210096], [1709210096789]]
    sums = [apply("add_interval", each, digits, [1], [1], [5_000_000])
            for each, digits in zip(values, (0, 3), strict=True)]  # fmt: skip
    assert sums == [[1711802101], [1711802101789]]
    assert apply("add_interval", [7], 9, [0], [0], [-1]) == [-993]
    end = moments("294276-12-31 23:59:59", digits=0)
    assert apply("add_interval", end * 2, 0, [0, 0], [0, 0], [0, 1_000_000]) == [*end, MOMENT]
    assert apply("add_interval", end, 0, [0], [2**31 - 1], [0]) == [MOMENT]
    # Ticks are a unit's own on the way, and their sums are not.
    assert apply("add_interval", [MOST, LEAST], 9, [0, 0], [0, 0], [1, -1]) == [MOMENT, MOMENT]


SCALES = {"milliseconds": 3, "second": 6, "epoch": 6, "julian": 9}


@pytest.mark.parametrize("text", EXTRACTED)
def test_fields_are_extracted(text: str) -> None:
    for field, expected in zip(FIELDS, EXTRACTED[text].split(), strict=True):
        scale = SCALES.get(field, 0)
        found = apply("extract_timestamp", moments(text), 6, FIELDS[field], scale)
        assert (field, found) == (field, [int(expected.replace(".", ""))])
        if FIELDS[field] > FIELDS["hour"]:
            day = apply("text_to_date", [text])
            whole = day[0] * 86400 if field == "epoch" else int(expected.split(".")[0])
            whole = day[0] - FIRST_DAY if field == "julian" else whole
            assert apply("extract_date", day, FIELDS[field], 0) == [whole]
            assert apply("extract_date", day, FIELDS[field], 2) == [whole * 100]


def test_fields_of_random_days() -> None:
    """Python's calendar has the years 1 to 9999."""
    random = Random(3)
    days = [datetime.date.fromordinal(random.randint(1, 3652059)) for _ in range(20_000)]
    values = [each.toordinal() - 719163 for each in days]
    expected = {
        "year": [each.year for each in days],
        "month": [each.month for each in days],
        "day": [each.day for each in days],
        "isoyear": [each.isocalendar().year for each in days],
        "week": [each.isocalendar().week for each in days],
        "isodow": [each.isoweekday() for each in days],
        "dow": [each.isoweekday() % 7 for each in days],
        "doy": [each.timetuple().tm_yday for each in days],
    }
    for field, fields in expected.items():
        assert apply("extract_date", values, FIELDS[field], 0) == fields


def test_fields_in_units() -> None:
    """What a scale does not hold is left out: no second is the 60th."""
    value, fields = [-1], {each: FIELDS[each] for each in ("second", "milliseconds", "epoch")}
    for field, (second, nanosecond) in {
        "second": (59_000_000, 59_999_999),
        "milliseconds": (59_000_000_000, 59_999_999_999),
        "epoch": (-1_000_000, -1),
    }.items():
        assert apply("extract_timestamp", value, 0, fields[field], 6) == [second]
        assert apply("extract_timestamp", value, 9, fields[field], 6) == [nanosecond]
    assert apply("extract_timestamp", value, 9, FIELDS["microseconds"], 0) == [59_999_999]
    assert apply("extract_timestamp", value, 9, FIELDS["microseconds"], 3) == [59_999_999_999]
    assert apply("extract_timestamp", [43_200], 0, FIELDS["julian"], 1) == [24405885]
    assert apply("extract_timestamp", [43_200], 0, FIELDS["julian"], 0) == [2440589]
    range_ = [Failure.NUMERIC_RANGE]
    assert apply("extract_timestamp", [0], 0, FIELDS["epoch"], 38) == [0]
    assert apply("extract_timestamp", [1], 0, FIELDS["epoch"], 38) == range_
    assert apply("extract_timestamp", [0], 0, FIELDS["julian"], 32) == range_
    assert apply("extract_date", [0], FIELDS["year"], 35) == range_


@pytest.mark.parametrize("text", TRUNCATED)
def test_days_are_truncated(text: str) -> None:
    for number, expected in enumerate(TRUNCATED[text].split(), FIELDS["week"]):
        found = apply("date_trunc", moments(text), 6, number)
        assert (number, found) == (number, moments(expected.replace("BC", " BC")))


def test_times_are_truncated() -> None:
    value = moments("0001-12-31 23:59:59.999999 BC")
    texts = ("59:59.999999", "59:59.999", "59:59", "59:00", "00:00")
    for number, expected in enumerate(texts):
        start = moments(f"0001-12-31 23:{expected} BC")
        assert apply("date_trunc", value, 6, number) == start
    assert apply("date_trunc", value, 6, FIELDS["day"]) == moments("0001-12-31 BC")
    first = moments("4714-11-24 00:00:01 BC")
    found = [*(apply("date_trunc", first, 6, number)[0] for number in range(13))]
    assert found == [*first * 3, *[LEAST_MICROSECONDS] * 4, *[MOMENT] * 6]


def test_timestamps_are_truncated_in_units() -> None:
    for field, by in (("microseconds", 10**3), ("milliseconds", 10**6), ("second", 10**9)):
        value = [-1_234_567_891]
        assert apply("date_trunc", value, 9, FIELDS[field]) == [value[0] // by * by]
        assert apply("date_trunc", [-7], 0, FIELDS[field]) == [-7]
    assert apply("date_trunc", [-7], 3, FIELDS["microseconds"]) == [-7]
    assert apply("date_trunc", [LEAST], 9, FIELDS["hour"]) == [MOMENT]


@pytest.mark.parametrize("digits", UNITS.values())
@pytest.mark.parametrize("others", UNITS.values())
def test_units_are_compared_and_converted(digits: int, others: int) -> None:
    random = Random(digits * 10 + others)
    values = [random.choice([LEAST, MOST, 0, random.randint(LEAST, MOST)]) for _ in range(5000)]
    by = 10 ** abs(others - digits)
    exact = [each * by if others > digits else each // by for each in values]
    other = [min(max(each + random.randint(-1, 1), LEAST), MOST) for each in exact]
    finest = max(digits, others)
    pairs = [
        (a * 10 ** (finest - digits), b * 10 ** (finest - others))
        for a, b in zip(values, other, strict=True)
    ]
    found = [
        apply("timestamp_compare", values, [digits] * 5000, other, [others] * 5000),
        apply("timestamp_rescale", values, digits, others),
    ]
    assert found[0] == [(a > b) - (a < b) for a, b in pairs]
    if others >= digits:
        assert found[1] == [each if LEAST <= each <= MOST else MOMENT for each in exact]
        return
    origin = 946684800 * 10**digits
    halves = [(abs(each - origin) + by // 2) // by for each in values]
    assert found[1] == [
        origin // by + (half if each > origin else -half)
        for each, half in zip(values, halves, strict=True)
    ]


def test_ends_of_conversions() -> None:
    """Days that PostgreSQL has no timestamps of, or 64 bits have none of."""
    days = [FIRST_DAY, FIRST_DAY - 1, 106762939, 106762940, 106751991, 106751992]
    seconds = [days[0] * 86400, DATE, days[2] * 86400, DATE, days[4] * 86400, days[5] * 86400]
    assert apply("date_to_timestamp", days, 0) == seconds
    micros = [days[0] * 86400_000_000, DATE, DATE, DATE, days[4] * 86400_000_000, DATE]
    assert apply("date_to_timestamp", days, 6) == micros
    values = [MOST, LEAST, FIRST_DAY * 86400 - 1, (LAST_DAY + 1) * 86400, LAST_DAY * 86400]
    assert apply("timestamp_to_date", values, 0) == [DATE, DATE, DATE, DATE, LAST_DAY]
    assert apply("timestamp_to_date", [MOST, LEAST], 9) == [106751, -106752]
