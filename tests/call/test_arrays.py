"""Arrays as memref and tensor arguments."""

from __future__ import annotations

import array
import ctypes
import functools

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.native_helpers import copies, function, value
from twinjit.errors import ArgumentTypeError, ArgumentValueError

F32 = np.float32
ELEMENTS = {
    "i8": (np.int8, np.uint8),
    "i16": (np.int16, np.uint16),
    "i32": (np.int32, np.uint32),
    "i64": (np.int64, np.uint64),
    "index": (np.int64,),
    "f16": (np.float16,),
    "bf16": (ml_dtypes.bfloat16,),
    "f32": (np.float32,),
    "f64": (np.float64,),
    "complex<f32>": (np.complex64,),
    "complex<f64>": (np.complex128,),
}


def memref(dtype, rank, *, strided=False):
    sizes = "?x" * rank
    layout = f", strided<[{', '.join('?' * rank)}], offset: ?>" if strided else ""
    return f"memref<{sizes}{dtype}{layout}>"


@functools.cache
def copier(dtype, rank, *, strided):
    """f(a, b) copies a to b."""
    kind = memref(dtype, rank, strided=strided)
    return function(copies(kind, kind, dtype, rank))


def numbers(dtype, size):
    with np.errstate(all="ignore"):
        return (np.arange(size) * 37 % 251).astype(dtype)


@st.composite
def carvings(draw, shape):
    """The shape of a larger array, and how to get a view of `shape` from it: permuted, stepped,
    reversed, shifted."""
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.sampled_from([1, 1, 2, 3, -1, -2])) for _ in shape]
    shifts = [draw(st.sampled_from([0, 0, 1, 2])) for _ in shape]
    places = list(zip(shape, steps, shifts, strict=True))
    outer = [shift + size * abs(step) for size, step, shift in places]
    cut = tuple(slice(at, at + size * abs(step), abs(step)) for size, step, at in places)
    flip = tuple(slice(None, None, 1 if step > 0 else -1) for step in steps)

    def carve(whole):
        return whole.transpose(np.argsort(order))[(*cut, ...)][(*flip, ...)]

    return [outer[d] for d in order], carve


@st.composite
def cases(draw):
    """An MLIR type, a NumPy type that it takes, a shape, and two ways to carve it out of memory."""
    dtype = draw(st.sampled_from(sorted(ELEMENTS)))
    element = draw(st.sampled_from(ELEMENTS[dtype]))
    shape = draw(st.lists(st.integers(0, 4), max_size=4))
    return dtype, element, shape, draw(carvings(shape)), draw(carvings(shape))


def carved(element, carving):
    outer, carve = carving
    whole = numbers(element, int(np.prod(outer))).reshape(outer)
    return whole, carve(whole)


@settings(deadline=None)  # the first call compiles
@given(cases())
def test_strided_memrefs_see_and_write_what_numpy_does(case):
    dtype, element, shape, one, two = case
    _, source = carved(element, one)
    whole, target = carved(element, two)
    expected = whole.copy()
    two[1](expected)[...] = source
    assert copier(dtype, len(shape), strided=True)(source, target) is None
    np.testing.assert_array_equal(whole, expected)


@settings(deadline=None)  # the first call compiles
@given(cases())
def test_row_major_memrefs_take_only_what_numpy_calls_contiguous(case):
    dtype, element, shape, one, _ = case
    _, source = carved(element, one)
    target = np.zeros(shape, element)
    f = copier(dtype, len(shape), strided=False)
    if source.flags.c_contiguous:
        f(source, target)
        np.testing.assert_array_equal(target, source)
        return
    with pytest.raises(ArgumentValueError, match="ascontiguousarray") as raised:
        f(source, target)
    assert f"{dtype}, strided<[?" in str(raised.value)


@functools.cache
def tensor_copier(dtype, rank):
    kind = memref(dtype, rank)
    dynamic = [-1] * rank
    return function(
        copies(kind, kind, dtype, rank),
        arguments=[value("tensor", dtype, *dynamic), value("memref", dtype, *dynamic)],
    )


@settings(deadline=None)  # the first call compiles
@given(cases())
def test_tensors_take_every_layout(case):
    dtype, element, shape, one, _ = case
    _, source = carved(element, one)
    target = np.zeros(shape, element)
    source.flags.writeable = False
    tensor_copier(dtype, len(shape))(source, target)
    np.testing.assert_array_equal(target, source)


@pytest.mark.parametrize("dtype", sorted(ELEMENTS))
def test_other_dtypes_are_refused_and_never_converted(dtype):
    f = copier(dtype, 1, strided=False)
    fitting = np.zeros(3, ELEMENTS[dtype][0])
    others = {np.bool_, np.longdouble, np.object_, np.dtype("S4"), np.dtype("M8[s]"),
              np.dtype([("x", "f4")]), np.dtype(ELEMENTS[dtype][0]).newbyteorder(),
              *(each for all_ in ELEMENTS.values() for each in all_)}  # fmt: skip
    accepted = {np.dtype(each) for each in ELEMENTS[dtype]}
    for other in map(np.dtype, others):
        if other in accepted:
            continue
        for arguments in ((np.zeros(3, other), fitting), (fitting, np.zeros(3, other))):
            with pytest.raises(ArgumentTypeError, match="no dtype is converted") as raised:
                f(*arguments)
            assert f"must be memref<?x{dtype}>" in str(raised.value)


def test_intp_and_long_long_are_int64():
    f = copier("index", 1, strided=False)
    for name in ("p", "q", "l"):
        out = np.zeros(3, name)
        f(np.arange(3, dtype=name), out)
        assert out.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("dtype", "accepted", "refused"),
    [("si16", np.int16, np.uint16), ("ui16", np.uint16, np.int16)],
)
def test_integers_with_a_sign_take_only_their_own(dtype, accepted, refused):
    f = function(
        copies("memref<?xi16>", "memref<?xi16>", "i16", 1),
        arguments=[value("memref", dtype, -1)] * 2,
    )
    out = np.zeros(3, accepted)
    f(numbers(accepted, 3), out)
    np.testing.assert_array_equal(out, numbers(accepted, 3))
    with pytest.raises(ArgumentTypeError, match=f"pass an array of np.{np.dtype(accepted)}"):
        f(numbers(refused, 3), out)


def test_booleans():
    # No loads and stores: MLIR 22.1.8 cannot lower them for i1.
    f = function("func.func @f(%a: memref<?xi1>) -> memref<?xi1> { return %a : memref<?xi1> }")
    a = np.array([True, False, True])
    assert f(a).dtype == np.bool_
    assert np.shares_memory(f(a), a)
    with pytest.raises(ArgumentTypeError, match=r"np\.bool_"):
        f(a.view(np.uint8))


STATIC = "memref<2x3xf32>"


def test_rank_and_sizes():
    f = function(copies(STATIC, STATIC, "f32", 2))
    good = np.ones((2, 3), F32)
    f(good, good.copy())
    for shape in ((6,), (2, 3, 1), (3, 2), (2, 4), (2, 0), ()):
        with pytest.raises(
            ArgumentValueError, match=r"argument 1 must be memref<2x3xf32>"
        ) as raised:
            f(good, np.ones(shape, F32))
        assert str(shape) in str(raised.value)
        assert "shape (2, 3)" in str(raised.value)


def test_no_dimensions_and_eight():
    for rank in (0, 8):
        out = np.zeros((2,) * rank, F32)
        source = np.arange(2**rank, dtype=F32).reshape(out.shape)
        copier("f32", rank, strided=False)(source, out)
        np.testing.assert_array_equal(out, source)
        copier("f32", rank, strided=True)(source.T, out)
        np.testing.assert_array_equal(out, source.T)
    with pytest.raises(ArgumentValueError, match="of 8 dimensions"):
        f = copier("f32", 8, strided=False)
        f(np.zeros((1,) * 9, F32), out)


LAYOUT = "memref<?x?xf32, strided<[8, 2], offset: 5>>"


def test_static_strides_and_offset():
    f = function(copies(LAYOUT, LAYOUT, "f32", 2))
    whole = np.arange(40, dtype=F32)
    source = np.lib.stride_tricks.as_strided(whole[5:], (4, 3), (32, 8))
    target = np.zeros((4, 8), F32)[:, :6:2]
    f(source, target)
    np.testing.assert_array_equal(target, source)
    f(whole[3:4].reshape(1, 1), target[:1, :1])  # strides of single elements do not matter
    assert target[0, 0] == 3
    f(np.zeros((0, 3), F32), np.zeros((7, 0), F32))
    with pytest.raises(ArgumentValueError, match=r"strides must be \(8, 2\) elements of 4 bytes"):
        f(np.zeros((4, 3), F32), target)


def test_strides_within_an_element():
    whole = np.zeros(8, [("x", "f4"), ("y", "i1")])
    assert whole["x"].strides == (5,)
    f = copier("f32", 1, strided=True)
    with pytest.raises(ArgumentValueError, match="bytes was given"):
        f(whole["x"], np.zeros(8, F32))
    whole["x"] = np.arange(8)
    out = np.zeros(8, F32)
    tensor_copier("f32", 1)(whole["x"], out)
    np.testing.assert_array_equal(out, np.arange(8))


def test_misaligned_arrays():
    source = np.zeros(17, np.uint8)[1:].view(F32)
    source[:] = [1, 2, 3, 4]
    out = np.zeros(4, F32)
    for strided in (False, True):
        with pytest.raises(ArgumentValueError, match="not aligned to 4 bytes"):
            copier("f32", 1, strided=strided)(source, out)
    tensor_copier("f32", 1)(source, out)
    assert out.tolist() == [1, 2, 3, 4]
    copier("f32", 1, strided=False)(source[:0], out[:0])


def test_read_only_arrays():
    source, out = np.ones(3, F32), np.zeros(3, F32)
    source.flags.writeable = False
    for strided in (False, True):
        with pytest.raises(ArgumentValueError, match="read-only"):
            copier("f32", 1, strided=strided)(source, out)
    promised = function(
        copies("memref<?xf32>", "memref<?xf32>", "f32", 1).replace(
            "%a: memref<?xf32>", "%a: memref<?xf32> {llvm.readonly}"
        )
    )
    promised(source, out)
    assert out.tolist() == [1, 1, 1]


def test_subclasses():
    out = np.zeros((2, 2), F32).view(np.matrix)
    copier("f32", 2, strided=False)(np.ones((2, 2), F32).view(np.matrix), out)
    assert (out == 1).all()


def test_temporaries_live_as_long_as_the_call_and_no_longer():
    base = np.ones((1000, 2), F32)
    out = np.zeros(1000, F32)
    f = tensor_copier("f32", 1)
    for _ in range(3):
        f(base[:, 0], out)
        base += 1
        assert (out == base[0, 0] - 1).all()


@pytest.mark.parametrize(
    "source",
    [
        memoryview(np.arange(4, dtype=F32)),
        array.array("f", range(4)),
        (ctypes.c_float * 4)(*range(4)),
        memoryview(np.arange(8, dtype=F32))[::2],
        memoryview(bytes(np.arange(4, dtype=F32))).cast("f"),
        np.arange(4, dtype=F32).data,
    ],
    ids=lambda source: type(source).__name__,
)
def test_buffers_as_tensors(source):
    out = array.array("f", [0] * 4)
    expected = np.asarray(source).tolist()
    assert tensor_copier("f32", 1)(source, out) is None
    assert out.tolist() == expected


@pytest.mark.parametrize("code", "bBhHiIlLqQfd")
def test_buffer_formats(code):
    source, out = array.array(code, range(4)), array.array(code, [0] * 4)
    kind = "f" if code in "fd" else "i"
    copier(f"{kind}{8 * source.itemsize}", 1, strided=False)(source, out)
    assert out == source


def test_bytes():
    f = function(
        copies("memref<?xi8>", "memref<?xi8>", "i8", 1),
        arguments=[value("tensor", "i8", -1), value("memref", "i8", -1)],
    )
    out = bytearray(3)
    f(b"abc", out)
    assert out == b"abc"
    with pytest.raises(ArgumentValueError, match=r"np\.uint8 and shape \(3,\) is read-only"):
        f(b"abc", b"abc")
    out.extend(b"the buffer is released, so this may move it")


def test_buffers_that_do_not_fit():
    f = copier("f32", 1, strided=False)
    out = np.zeros(4, F32)
    with pytest.raises(ArgumentTypeError, match=r"an array.array of np.float64 and shape \(4,\)"):
        f(array.array("d", range(4)), out)
    with pytest.raises(ArgumentTypeError, match="another dtype"):
        f((ctypes.c_void_p * 4)(), out)
    big = (ctypes.c_float.__ctype_be__ * 4)(1, 2, 3, 4)
    with pytest.raises(ArgumentTypeError, match="another dtype"):
        f(big, out)
    with pytest.raises(ArgumentValueError, match="ascontiguousarray"):
        f(memoryview(np.zeros(8, F32))[::2], out)


@pytest.mark.parametrize("given", [[1.0, 2.0], 1.0, None, "ab", ..., np.float32], ids=repr)
def test_what_is_no_array(given):
    with pytest.raises(ArgumentTypeError, match="was given; pass a NumPy array") as raised:
        copier("f32", 1, strided=False)(given, np.zeros(2, F32))
    assert "f: argument 0 must be memref<?xf32>" in str(raised.value)


def test_same_array_twice():
    a = np.arange(4, dtype=F32)
    copier("f32", 1, strided=False)(a, a)
    assert a.tolist() == [0, 1, 2, 3]
