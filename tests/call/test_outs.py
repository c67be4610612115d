"""Results that compiled code writes into arrays handed over: fresh ones, or those of out=."""

from __future__ import annotations

import array
import functools

import ml_dtypes
import numpy as np
import pytest

from tests.call.test_arrays import ELEMENTS
from tests.call.test_dlpack import Exporter
from tests.native_helpers import copies, function, value
from twinjit.errors import ArgumentTypeError, ArgumentValueError

F32 = np.float32


@functools.cache
def copier(dtype, *shape):
    """f(a) returns a copy: what bufferisation makes of a function from tensor to tensor."""
    kind = f"memref<{''.join(f'{size}x' for size in shape)}{dtype}>"
    tensor = value("tensor", dtype, *shape)
    return function(copies(kind, kind, dtype, len(shape)), arguments=[tensor], results=[tensor])


@pytest.mark.parametrize("dtype", sorted(ELEMENTS))
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 0, 3), (1, 1)])
def test_fresh_arrays(dtype, shape):
    element = ELEMENTS[dtype][0]
    source = np.arange(np.prod(shape)).astype(element).reshape(shape)
    got = copier(dtype, *shape)(source)
    assert type(got) is np.ndarray
    assert got.dtype == element
    assert got.flags.c_contiguous
    assert got.flags.writeable
    assert got.flags.owndata
    np.testing.assert_array_equal(got, source)
    assert not np.shares_memory(got, source) or not got.size


def test_unsigned_arguments_give_the_signless_dtype():
    assert copier("i32", 3)(np.zeros(3, np.uint32)).dtype == np.int32


@pytest.mark.parametrize(("dtype", "element"), [("ui8", np.uint8), ("si8", np.int8)])
def test_results_with_a_sign(dtype, element):
    tensor = value("tensor", dtype, 2)
    f = function(
        copies("memref<2xi8>", "memref<2xi8>", "i8", 1), arguments=[tensor], results=[tensor]
    )
    assert f(np.array([1, 255 - 254], element)).dtype == element


@pytest.mark.parametrize("dtype", sorted(ELEMENTS))
def test_given_array_is_the_result(dtype):
    element = ELEMENTS[dtype][0]
    source, out = np.arange(3).astype(element), np.zeros(3, element)
    f = copier(dtype, 3)
    for given in (out, (out,)):
        out[:] = 0
        assert f(source, out=given) is out
        np.testing.assert_array_equal(out, source)


def test_given_objects_of_other_kinds():
    source = np.arange(3, dtype=F32)
    target = np.zeros(3, F32)
    for out in (array.array("f", [0] * 3), memoryview(target), Exporter(target),
                target.view(np.memmap)):  # fmt: skip
        target[:] = 0
        assert copier("f32", 3)(source, out=out) is out
        seen = target if not isinstance(out, array.array) else np.array(out)
        np.testing.assert_array_equal(seen, source)


def test_none_means_a_fresh_array():
    source = np.arange(3, dtype=F32)
    for out in (None, (None,)):
        assert copier("f32", 3)(source, out=out).tolist() == [0, 1, 2]


READ_ONLY = np.zeros(3, F32)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    ("out", "error", "words"),
    [
        (np.zeros(3, np.float64), ArgumentTypeError, "np.float32"),
        (np.zeros(4, F32), ArgumentValueError, r"shape \(3,\)"),
        (np.zeros((3, 1), F32), ArgumentValueError, "1 dimensions"),
        (np.zeros(6, F32)[::2], ArgumentValueError, "C order"),
        (np.zeros(3, F32)[::-1], ArgumentValueError, "C order"),
        (READ_ONLY, ArgumentValueError, "read-only; pass a writable array"),
        (np.zeros(13, np.uint8)[1:].view(F32), ArgumentValueError, "not aligned"),
        ([0.0, 0.0, 0.0], ArgumentTypeError, "a list was given"),
        (b"0" * 12, ArgumentTypeError, "np.uint8"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_given_arrays_must_fit_exactly(out, error, words):
    with pytest.raises(error, match=words) as raised:
        copier("f32", 3)(np.zeros(3, F32), out=out)
    assert str(raised.value).startswith("f: out must be tensor<3xf32>, but")


def test_given_array_is_not_converted_by_signedness():
    with pytest.raises(ArgumentTypeError, match=r"an array of np\.int32$"):
        copier("i32", 3)(np.zeros(3, np.int32), out=np.zeros(3, np.uint32))


PAIR = """func.func @f(%a: memref<4xf32>, %x: memref<4xf32>, %y: memref<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 4 : index
  scf.for %i = %c0 to %n step %c1 {
    %s = memref.load %a[%i] : memref<4xf32>
    memref.store %s, %x[%i] : memref<4xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %s = memref.load %a[%i] : memref<4xf32>
    %t = arith.addf %s, %s : f32
    memref.store %t, %y[%i] : memref<4xf32>
  }
  %r = memref.load %a[%c0] : memref<4xf32>
  return %r : f32
}"""
TENSOR = value("tensor", "f32", 4)
SCALAR = value("scalar", "f32")


def pair():
    """f(a) returns a, a scalar, and 2 * a."""
    return function(PAIR, arguments=[TENSOR], results=[TENSOR, SCALAR, TENSOR])


def test_several_results_in_order():
    a = np.arange(1, 5, dtype=F32)
    x, r, y = pair()(a)
    assert (x.tolist(), r, y.tolist()) == ([1, 2, 3, 4], 1, [2, 4, 6, 8])
    out = np.zeros(4, F32)
    x, r, y = pair()(a, out=(None, out))
    assert y is out
    assert (x.tolist(), r, y.tolist()) == ([1, 2, 3, 4], 1, [2, 4, 6, 8])


@pytest.mark.parametrize("out", [np.zeros(4, F32), [None, None]], ids=["array", "list"])
def test_several_results_need_a_tuple(out):
    with pytest.raises(ArgumentTypeError, match="out= must be a tuple of 2 arrays"):
        pair()(np.zeros(4, F32), out=out)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_entries_are_counted(count):
    with pytest.raises(ArgumentTypeError, match=f"2 entries, but {count} were given"):
        pair()(np.zeros(4, F32), out=(None,) * count)


def test_given_arrays_may_not_overlap_each_other():
    both = np.zeros(7, F32)
    with pytest.raises(ArgumentValueError, match=r"out\[1\] .* shares memory with out\[0\]"):
        pair()(np.zeros(4, F32), out=(both[:4], both[3:]))
    both = np.zeros(8, F32)
    pair()(np.ones(4, F32), out=(both[4:], both[:4]))
    assert both.tolist() == [2] * 4 + [1] * 4


REVERSE = """func.func @f(%a: memref<4xf32>, %x: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = arith.constant 4 : index
  scf.for %i = %c0 to %n step %c1 {
    %j = arith.subi %c3, %i : index
    %s = memref.load %a[%j] : memref<4xf32>
    memref.store %s, %x[%i] : memref<4xf32>
  }
  return
}"""


@pytest.mark.parametrize("kind", ["tensor", "memref"])
@pytest.mark.parametrize("shift", range(-4, 5))
def test_given_array_may_overlap_an_argument(kind, shift):
    f = function(REVERSE, arguments=[value(kind, "f32", 4)], results=[TENSOR])
    whole = np.arange(12, dtype=F32)
    expected = whole.copy()
    expected[4 + shift : 8 + shift] = whole[4:8][::-1]
    out = whole[4 + shift : 8 + shift]
    assert f(whole[4:8], out=out) is out
    np.testing.assert_array_equal(whole, expected)


def test_given_array_may_overlap_a_copied_argument():
    f = function(REVERSE, arguments=[TENSOR], results=[TENSOR])
    whole = np.arange(8, dtype=F32)
    f(whole[::-2], out=whole[:4])
    assert whole.tolist() == [1, 3, 5, 7, 4, 5, 6, 7]


def test_overlap_without_elements():
    f = copier("f32", 0)
    a = np.zeros(0, F32)
    assert f(a, out=a) is a


def test_bfloat16_result_without_a_bfloat16_argument():
    # ml_dtypes may not be loaded yet when a function returns its dtype: see also test_lifetime.
    f = function(
        """func.func @f(%s: bf16, %x: memref<bf16>) {
          memref.store %s, %x[] : memref<bf16>
          return
        }""",
        arguments=[value("scalar", "bf16")],
        results=[value("tensor", "bf16")],
    )
    got = f(1.5)
    assert got.dtype == ml_dtypes.bfloat16
    assert got == 1.5
