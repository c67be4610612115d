"""Sizes, times and URLs as texts."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinjit.errors import ConfigError
from twinjit.settings_values import parse_duration, parse_size, place_of_url

SECONDS = {
    "": 1,
    "ms": Fraction(1, 1000),
    "s": 1,
    "m": 60,
    "min": 60,
    "h": 3600,
    "d": 86400,
    "w": 604800,
}


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("512", 512),
        ("1K", 1024),
        ("1k", 1024),
        ("20M", 20 * 1024**2),
        (" 3 G ", 3 * 1024**3),
        ("2T", 2 * 1024**4),
        ("1KiB", 1024),
        ("1MB", 1024**2),
        ("1gib", 1024**3),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "K",
        "iB",
        "-1",
        "+1",
        "1.5G",
        "1_000",
        "1e6",
        "1KK",
        "5B",
        "5iB",
        "٣",
        "1P",
        "9" * 99,
    ],
)
def test_bad_sizes(text: str) -> None:
    with pytest.raises(ConfigError, match="whole number"):
        parse_size(text)


@given(st.text(max_size=6))
def test_any_text_is_a_size_or_a_config_error(text: str) -> None:
    with suppress(ConfigError):
        assert parse_size(text) >= 0


@given(st.integers(0, 10**9), st.sampled_from("KMGT"))
def test_suffixes_are_powers_of_1024(number: int, suffix: str) -> None:
    assert parse_size(f"{number}{suffix}") == number * 1024 ** ("KMGT".index(suffix) + 1)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0),
        ("90", 90.0),
        ("90s", 90.0),
        ("0.5", 0.5),
        ("500ms", 0.5),
        ("5m", 300.0),
        ("5 min", 300.0),
        ("12h", 43200.0),
        (" 1.5 h ", 5400.0),
        ("30d", 2592000.0),
        ("2w", 1209600.0),
    ],
)
def test_times(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "s", "-1", "+1", "1e3", "inf", "nan", "1_0", ".5", "5.", "1.2.3", "30D", "5M"),
        *("1y", "1d12h", "٣", "9" * 99, "0." + "1" * 99, "none", "1 2s"),
    ],
)
def test_bad_times(text: str) -> None:
    with pytest.raises(ConfigError, match="is not a time; give a number of seconds"):
        parse_duration(text)


@given(st.text(max_size=6) | st.text("0123456789. smihdwn", max_size=6))
def test_any_text_is_a_time_or_a_config_error(text: str) -> None:
    with suppress(ConfigError):
        assert 0 <= parse_duration(text) < 1e15


@given(st.decimals(0, 10**9, places=3), st.sampled_from(list(SECONDS)))
def test_suffixes_are_units_of_time(number: object, suffix: str) -> None:
    exact = Fraction(str(number)) * SECONDS[suffix]
    assert parse_duration(f"{number}{suffix}") == pytest.approx(float(exact), rel=1e-15)


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("redis://host:6379/0", "redis://host:6379/0"),
        ("redis://ada:pw@host", "redis://host"),
        ("redis://:pw@host:1/2?ssl=1&password=pw#pw", "redis://host:1/2"),
        ("rediss://ada:p@w@host/x", "rediss://host/x"),
        ("redis://host?password=a@b", "…"),
        ("redis://:pa/ss@host", "…"),
        ("redis://:pa?ss@host", "…"),
        ("file:///shared/cache", "file:///shared/cache"),
        ("file:///shared/job@2?x", "file:///shared/job@2"),
        ("file://pw/pw@host", "…"),
        ("s3://key:12/pw@bucket/x", "…"),
        ("unix:///run/redis.sock?db=1", "unix:///run/redis.sock"),
        ("host:6379", "host:6379"),
        ("ada:pw@host", "…"),
        ("pw@x://host", "…"),
        ("", ""),
    ],
)
def test_places_of_urls(url: str, place: str) -> None:
    assert place_of_url(url) == place


# A password with @ in it and / after that could be a host and a path: no URL has that unescaped.
_PASSWORD = st.text("abyz/?#:", max_size=9)


@given(_PASSWORD, st.sampled_from(["host", "host:1/2", "host?x=1"]))
def test_no_password_is_shown(text: str, rest: str) -> None:
    assert "secret" not in place_of_url(f"redis://ada:{text}secret{text}@{rest}")
    assert "secret" not in place_of_url(f"redis://host/?password={text}secret{text}")


@pytest.mark.parametrize("value", [None, 5, 2.5, True, b"5", [], {}])
def test_what_is_no_text(value: object) -> None:
    for parse in (parse_size, parse_duration):
        with pytest.raises(ConfigError, match="is not a text"):
            parse(value)  # type: ignore[operator]
