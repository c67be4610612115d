"""Addresses as arguments."""

from __future__ import annotations

import array
import ctypes

import numpy as np
import pytest

from tests.call.test_dlpack import Custom, Exporter
from tests.native_helpers import function
from twinjit.errors import ArgumentTypeError, ArgumentValueError

F32 = np.float32


def address(attributes=""):
    return function(f"""llvm.func @f(%p: !llvm.ptr {attributes}) -> !llvm.ptr {{
      llvm.return %p : !llvm.ptr
    }}""")


ADDRESSES = [0, 1, 0x1234, 2**64 - 1, np.uint64(2**63), np.int64(5), np.array(5).item()]


@pytest.mark.parametrize("number", ADDRESSES)
def test_addresses(number):
    got = address()(number)
    assert type(got) is int
    assert got == int(number)


def test_none_is_null():
    assert address()(None) == 0


def test_memory_of_objects():
    a = np.arange(8, dtype=F32)
    for given, expected in [
        (a, a.ctypes.data),
        (a[3::-1], a.ctypes.data + 12),
        (a.view(np.matrix), a.ctypes.data),
        (memoryview(a)[2:], a.ctypes.data + 8),
        (Exporter(a), a.ctypes.data),
        (np.zeros(3, "S5"), None),
        (array.array("d", [1.0]), None),
        (bytearray(b"abc"), None),
    ]:
        got = address()(given)
        assert got == expected or expected is None
        assert got


def test_ctypes_pointers_point():
    number = ctypes.c_int(7)
    where = ctypes.addressof(number)
    for given in (ctypes.pointer(number), ctypes.c_void_p(where), ctypes.byref(number)):
        if type(given).__name__ == "CArgObject":
            with pytest.raises(ArgumentTypeError, match="pass an address"):
                address()(given)
            continue
        assert address()(given) == where
    assert address()(number) == where
    function_type = ctypes.CFUNCTYPE(None)
    callback = function_type(lambda: None)
    assert address()(callback) == ctypes.cast(callback, ctypes.c_void_p).value


def test_read_only_memory():
    for given in (b"abc", np.broadcast_to(np.zeros(1), 3), memoryview(b"abc")):
        with pytest.raises(ArgumentValueError, match="read-only"):
            address()(given)
        assert address("{llvm.readonly}")(given)


def test_device_memory():
    with pytest.raises(ArgumentTypeError, match="copy it to the CPU"):
        address("{llvm.readonly}")(Custom(np.zeros(3, F32), device=2))


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (-1, ArgumentValueError),
        (2**64, ArgumentValueError),
        (np.int64(-1), ArgumentValueError),
        (1.0, ArgumentTypeError),
        ("abc", ArgumentTypeError),
        ([1], ArgumentTypeError),
        (..., ArgumentTypeError),
    ],
    ids=repr,
)
def test_wrong_addresses(given, error):
    with pytest.raises(error, match=r"f: argument 0 must be !llvm\.ptr, but .* was given"):
        address()(given)


def test_use():
    f = function("""llvm.func @f(%p: !llvm.ptr, %q: !llvm.ptr {llvm.readonly}) {
      %x = llvm.load %q : !llvm.ptr -> f32
      llvm.store %x, %p : f32, !llvm.ptr
      llvm.return
    }""")
    target = np.zeros(2, F32)
    assert f(target, np.full(1, 5, F32)) is None
    assert target.tolist() == [5, 0]
