from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.samples import SAMPLE_KEY
from tests.strategies import keys, part_tables
from twinjit.errors import KeyPartError, TwinjitError
from twinjit.key import Key, PartDifference, PartValue, frame


def unframe(data: bytes) -> tuple[tuple[str, PartValue], ...]:
    """Read a framing by its grammar, independently of the code under test."""
    position = 0

    def take(size: int) -> bytes:
        nonlocal position
        position += size
        assert position <= len(data)
        return data[position - size : position]

    def number(size: int) -> int:
        return int.from_bytes(take(size), "little")

    assert take(12) == b"twinjit.key\0"
    assert number(4) == 1
    parts: list[tuple[str, PartValue]] = []
    for _ in range(number(4)):
        name = take(number(8)).decode()
        kind = number(1)
        value = take(number(8))
        parts.append((name, value.decode() if kind else value))
    assert position == len(data)
    return tuple(parts)


@given(part_tables)
def test_framing_can_be_read_back(parts: tuple[tuple[str, PartValue], ...]) -> None:
    assert unframe(frame(parts)) == parts


@given(part_tables, part_tables)
def test_different_tables_have_different_framings(
    left: tuple[tuple[str, PartValue], ...], right: tuple[tuple[str, PartValue], ...]
) -> None:
    assert (frame(left) == frame(right)) == (left == right)
    assert (Key(left).digest == Key(right).digest) == (left == right)


@pytest.mark.parametrize(
    ("left", "right"),
    list(
        itertools.combinations(
            [
                (),
                (("ab", "c"),),
                (("a", "bc"),),
                (("ab", b"c"),),
                (("a", "b"), ("c", "d")),
                (("c", "d"), ("a", "b")),
                (("a", "bcd"),),
                (("a", "b"), ("c", "")),
            ],
            2,
        )
    ),
)
def test_near_tables_have_different_digests(
    left: tuple[tuple[str, PartValue], ...], right: tuple[tuple[str, PartValue], ...]
) -> None:
    assert Key(left).digest != Key(right).digest


@pytest.mark.parametrize(
    ("key", "digest"),
    [
        (Key(()), "7802107c14280d551303d5b511d77e550e62e3546be4a681c8ffd2c7b05e896d"),
        (Key((("a", "b"),)), "b639a0dd4a2a8b4b1a3409444e2c42884481c224341c25cf1550378b34f797cc"),
        (Key((("a", b"b"),)), "5d9336ccc576bc06e67feeaa8d6a92f2dd1fd1868a91faded84e0b8a3f80a1f3"),
        (SAMPLE_KEY, "d61f89961e39f02377d4cc9190f009ed6f8270175802e1988c2917214947c800"),
    ],
)
def test_golden_digests(key: Key, digest: str) -> None:
    assert key.hex == digest


@given(keys)
def test_data_round_trip_through_json(key: Key) -> None:
    again = Key.from_data(json.loads(json.dumps(key.to_data())))
    assert again == key
    assert again.digest == key.digest
    assert hash(again) == hash(key)


@given(keys, keys)
def test_no_differences_exactly_when_equal(left: Key, right: Key) -> None:
    assert (left.differences(right) == ()) == (left == right)
    assert left.differences(left) == ()


@given(keys)
def test_order_alone_is_a_difference(key: Key) -> None:
    other = Key(tuple(reversed(key.parts)))
    assert (key.differences(other) == ()) == (len(key.parts) < 2)


def test_differences_name_what_changed_is_missing_and_is_new() -> None:
    mine = Key((("same", "1"), ("changed", "1"), ("gone", b"\x01"), ("kind", "a")))
    theirs = Key((("new", "9"), ("same", "1"), ("kind", b"a"), ("changed", "2")))
    assert mine.differences(theirs) == (
        PartDifference("changed", "1", "2"),
        PartDifference("gone", b"\x01", None),
        PartDifference("kind", "a", b"a"),
        PartDifference("new", None, "9"),
    )


def test_moved_parts_are_listed_with_equal_values() -> None:
    mine = Key((("a", "1"), ("b", "2"), ("c", "3")))
    theirs = Key((("b", "2"), ("a", "1"), ("c", "3")))
    assert mine.differences(theirs) == (
        PartDifference("a", "1", "1"),
        PartDifference("b", "2", "2"),
    )


@pytest.mark.parametrize(
    "parts",
    [
        (("a", "1"), ("a", "2")),
        (("", "1"),),
        ((b"a", "1"),),
        (("a", 1),),
        (("a", None),),
        (("a", "\ud800"),),
        (("\ud800", "1"),),
    ],
)
def test_bad_parts_are_refused(parts: tuple[tuple[str, str], ...]) -> None:
    with pytest.raises(KeyPartError) as caught:
        Key(parts)
    assert isinstance(caught.value, TwinjitError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        "text",
        [["a"]],
        [["a", "b", "c"]],
        [[1, "b"]],
        [["a", 1]],
        [["a", {"hex": "0"}]],
        [["a", {"hex": 1}]],
        [["a", {"hex": "00", "more": 1}]],
        [["a", {}]],
        [["a", "1"], ["a", "2"]],
    ],
)
def test_bad_data_is_refused(data: object) -> None:
    with pytest.raises(KeyPartError):
        Key.from_data(data)


def test_keys_are_frozen() -> None:
    with pytest.raises(AttributeError):
        SAMPLE_KEY.parts = ()  # type: ignore[misc]  # what the test is about


@given(keys)
def test_framing_round_trip(key: Key) -> None:
    again = Key.from_framing(frame(key.parts))
    assert again == key
    assert again.digest == key.digest


@given(keys, st.data())
def test_what_is_no_framing_is_refused(key: Key, data: st.DataObject) -> None:
    framing = frame(key.parts)
    cut = data.draw(st.integers(0, len(framing) - 1))
    changed = bytearray(framing)
    changed[cut] ^= data.draw(st.integers(1, 255))
    for wrong in (framing[:cut], framing + b"\0"):
        with pytest.raises(KeyPartError):
            Key.from_framing(wrong)
    try:
        again = Key.from_framing(bytes(changed))
    except KeyPartError:
        return
    assert frame(again.parts) == bytes(changed)
