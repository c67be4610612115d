"""Numbers to and from compiled code."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.native_helpers import function, value
from twinjit.errors import ArgumentTypeError, ArgumentValueError


def echo(dtype):
    """Return its one argument."""
    return function(f"func.func @f(%x: {dtype}) -> {dtype} {{ return %x : {dtype} }}")


def signed_echo(dtype, width):
    """The same for a type with a sign, which arithmetic does not know, over `width` bits."""
    return function(
        f"func.func @f(%x: i{width}) -> i{width} {{ return %x : i{width} }}",
        arguments=[value("scalar", dtype)],
        results=[value("scalar", dtype)],
    )


widths = st.integers(1, 64)


@settings(deadline=None)  # the first call compiles
@given(st.data(), widths)
def test_signless_integers_take_both_ranges(data, width):
    low, high = (0, 1) if width == 1 else (-(2 ** (width - 1)), 2**width - 1)
    number = data.draw(st.integers(low, high) | st.sampled_from([low, high]))
    expected = number if number < 2 ** (width - 1) else number - 2**width
    if width == 1:
        expected = bool(number)
    got = echo(f"i{width}")(number)
    assert got == expected
    assert type(got) is (bool if width == 1 else int)
    for outside in (low - 1, high + 1, 10**30, -(10**30)):
        with pytest.raises(ArgumentValueError, match=rf"argument 0 must be i{width}.*{high}"):
            echo(f"i{width}")(outside)


@settings(deadline=None)  # the first call compiles
@given(st.data(), widths, st.booleans())
def test_signed_and_unsigned_integers_keep_their_range(data, width, signed):
    low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else (0, 2**width - 1)
    f = signed_echo(f"{'si' if signed else 'ui'}{width}", width)
    number = data.draw(st.integers(low, high) | st.sampled_from([low, high]))
    got = f(number)
    assert got == number
    assert type(got) is int
    for outside in (low - 1, high + 1, 10**30, -(10**30)):
        with pytest.raises(ArgumentValueError, match=f"f: argument 0 must be .i{width}, but"):
            f(outside)


@pytest.mark.parametrize(
    "five",
    [5, np.int8(5), np.uint64(5), np.array(5), np.array(5, np.uint8)],
    ids=lambda five: f"{type(five).__name__}-{getattr(five, 'dtype', '')}",
)
@pytest.mark.parametrize("dtype", ["i32", "index", "f64", "f16"])
def test_whatever_is_an_integer(five, dtype):
    assert echo(dtype)(five) == 5


class Index:
    def __index__(self):
        return 7


class Raises:
    def __index__(self):
        raise ZeroDivisionError("inside")

    __float__ = __complex__ = __index__


class Interrupts:
    def __index__(self):
        raise KeyboardInterrupt


def test_index_protocol():
    assert echo("i32")(Index()) == 7
    assert echo("i32")(True) == 1
    assert echo("index")(-(2**63)) == -(2**63)
    with pytest.raises(KeyboardInterrupt):
        echo("i32")(Interrupts())


@pytest.mark.parametrize("dtype", ["i32", "f64", "complex<f64>"])
def test_what_a_conversion_raises_is_the_cause(dtype):
    with pytest.raises(ArgumentTypeError, match="argument 0") as raised:
        echo(dtype)(Raises())
    assert isinstance(raised.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize(
    "flag", [True, False, 0, 1, np.True_, np.False_, np.array(True), np.int8(1)]
)
def test_booleans(flag):
    got = echo("i1")(flag)
    assert got is bool(flag)


@pytest.mark.parametrize(
    ("dtype", "given"),
    [
        ("i32", 1.0),
        ("i32", np.float32(1)),
        ("i32", "1"),
        ("i32", None),
        ("i32", np.array([1])),
        ("i32", np.array([1, 2])),
        ("i32", np.True_),
        ("i1", 1.0),
        ("i1", np.array([True])),
        ("f32", "1.0"),
        ("f32", b"1.0"),
        ("f32", None),
        ("f32", 1j),
        ("f32", np.complex64(1)),
        ("f32", np.array(1j)),
        ("f32", np.array([1.0])),
        ("complex<f32>", "1j"),
        ("complex<f32>", np.array([1j])),
    ],
    ids=repr,
)
def test_wrong_types(dtype, given):
    with pytest.raises(ArgumentTypeError) as raised:
        echo(dtype)(given)
    assert str(raised.value).startswith(f"f: argument 0 must be {dtype}, but ")
    assert "; pass a" in str(raised.value)


FLOATS = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}


@pytest.mark.parametrize("dtype", FLOATS)
@settings(deadline=None)  # the first call compiles
@given(number=st.floats())
def test_floats_round_to_nearest_even(dtype, number):
    with np.errstate(all="ignore"):
        expected = float(np.asarray(number).astype(FLOATS[dtype]))
        if dtype == "bf16":  # ml_dtypes rounds by way of float32
            expected = float(np.float32(number).astype(FLOATS[dtype]))
    got = echo(dtype)(number)
    assert type(got) is float
    if dtype == "bf16" and got != expected and not math.isnan(number):
        neighbours = np.array([got, expected]).astype(np.float32)
        assert abs(got - number) <= abs(expected - number), neighbours
        return
    assert got == expected or (math.isnan(got) and math.isnan(expected))
    assert math.copysign(1, got) == math.copysign(1, expected) or math.isnan(number)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_every_16_bit_float_comes_back(dtype):
    f = echo(dtype)
    for number in map(float, np.arange(2**16, dtype=np.uint16).view(FLOATS[dtype])):
        got = f(number)
        assert got == number or (math.isnan(got) and math.isnan(number))


def test_floats_from_other_numbers():
    assert echo("f64")(Fraction(1, 4)) == 0.25
    assert echo("f32")(True) == 1.0
    assert echo("f32")(1e300) == math.inf
    with pytest.raises(ArgumentValueError, match="a float can hold"):
        echo("f64")(10**400)


@pytest.mark.parametrize("dtype", ["complex<f32>", "complex<f64>"])
@pytest.mark.parametrize("number", [1 + 2j, -0.5j, 3, 2.5, True, np.complex64(1j), np.array(2j)])
def test_complex(dtype, number):
    got = echo(dtype)(number)
    assert type(got) is complex
    assert got == complex(number)


def test_several():
    f = function("""func.func @f(%a: i1, %b: complex<f32>, %c: i64, %d: f16)
        -> (f16, complex<f32>, i1, i64) {
      return %d, %b, %a, %c : f16, complex<f32>, i1, i64
    }""")
    assert f(True, 1 + 2j, -5, 0.5) == (0.5, 1 + 2j, True, -5)


def test_count_and_keywords():
    f = echo("i32")
    for arguments in ((), (1, 2)):
        with pytest.raises(ArgumentTypeError) as raised:
            f(*arguments)
        assert f"{len(arguments)} w" in str(raised.value)
        assert "f(arg0: i32) -> i32" in str(raised.value)
    with pytest.raises(ArgumentTypeError, match="unknown keyword 'x'"):
        f(1, x=2)
    with pytest.raises(ArgumentTypeError, match="no tensor result of static shape"):
        f(1, out=np.empty(3))
    assert f(1, out=None) == 1
    assert f(*[1], out=None) == 1
