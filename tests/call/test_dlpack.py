"""Arrays through DLPack."""

from __future__ import annotations

import ctypes

import ml_dtypes
import numpy as np
import pytest

from tests.call.test_arrays import copier, tensor_copier
from tests.native_helpers import function
from twinjit.errors import ArgumentTypeError, ArgumentValueError

F32 = np.float32


class Exporter:
    """Offers DLPack and nothing else."""

    def __init__(self, array_):
        self._array = array_

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)


class OldExporter(Exporter):
    """From before DLPack 1."""

    def __dlpack__(self, stream=None):
        return self._array.__dlpack__()


class DLDevice(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    ]


class Unversioned(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Custom:
    """A hand-made export, whose fields can be anything; counts its deletions."""

    def __init__(self, array_, *, versioned=True, strides=True, device=1, code=2, lanes=1, flags=0,
                 major=1, offset=0, name=None):  # fmt: skip
        self.array, self.deleted = array_, 0
        self.managed = Versioned() if versioned else Unversioned()
        if versioned:
            self.managed.major, self.managed.flags = major, flags
        ndim = array_.ndim
        self.shape = (ctypes.c_int64 * ndim)(*array_.shape)
        self.strides = (ctypes.c_int64 * ndim)(*(s // array_.itemsize for s in array_.strides))
        self.managed.tensor = DLTensor(
            array_.ctypes.data - offset,
            DLDevice(device, 0),
            ndim,
            DLDataType(code, 8 * array_.itemsize, lanes),
            self.shape,
            self.strides if strides else None,
            offset,
        )
        self.managed.deleter = DELETER(self._delete)
        self.name = name or (b"dltensor_versioned" if versioned else b"dltensor")

    def _delete(self, managed):
        assert managed == ctypes.addressof(self.managed)
        self.deleted += 1

    def __dlpack__(self, *, max_version=None):
        assert max_version == (1, 0)
        return new_capsule(ctypes.addressof(self.managed), self.name, None)


@pytest.mark.parametrize("exporter", [Exporter, OldExporter, Custom])
@pytest.mark.parametrize("rank", [0, 1, 3])
def test_values(exporter, rank):
    source = np.arange(3**rank, dtype=F32).reshape((3,) * rank)
    out = np.zeros(source.shape, F32)
    copier("f32", rank, strided=False)(exporter(source), exporter(out))
    np.testing.assert_array_equal(out, source)
    copier("f32", rank, strided=True)(exporter(source.T), exporter(out))
    np.testing.assert_array_equal(out, source.T)


@pytest.mark.parametrize(
    "dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
)
def test_dtypes(dtype):
    source = np.arange(3).astype(dtype)
    out = np.zeros(3, dtype)
    kind, bits = source.dtype.kind, 8 * source.itemsize
    name = f"complex<f{bits // 2}>" if kind == "c" else f"{'f' if kind == 'f' else 'i'}{bits}"
    copier(name, 1, strided=False)(Exporter(source), Exporter(out))
    np.testing.assert_array_equal(out, source)


def test_bfloat16_and_bool():
    source = np.arange(3).astype(ml_dtypes.bfloat16)
    out = np.zeros(3, ml_dtypes.bfloat16)
    copier("bf16", 1, strided=False)(Custom(source, code=4), Custom(out, code=4))
    np.testing.assert_array_equal(out, source)
    tensor_copier("bf16", 1)(Custom(source[::-1], code=4), out)
    np.testing.assert_array_equal(out, source[::-1])
    f = function("func.func @f(%a: memref<?xi1>) -> memref<?xi1> { return %a : memref<?xi1> }")
    a = np.array([True, False])
    assert np.shares_memory(f(Exporter(a)), a)


@pytest.mark.parametrize("versioned", [True, False])
@pytest.mark.parametrize("accepted", [True, False])
def test_deleted_exactly_once(versioned, accepted):
    source = Custom(np.arange(3, dtype=F32), versioned=versioned)
    out = np.zeros(3, F32 if accepted else np.float64)
    for calls in range(1, 4):
        if accepted:
            copier("f32", 1, strided=False)(source, out)
        else:
            with pytest.raises(ArgumentTypeError):
                copier("f32", 1, strided=False)(source, out)
        assert source.deleted == calls


def test_kept_while_a_result_is_a_view_of_it():
    f = function("func.func @f(%a: memref<?xf32>) -> memref<?xf32> { return %a : memref<?xf32> }")
    source = Custom(np.arange(3, dtype=F32))
    result = f(source)
    assert np.shares_memory(result, source.array)
    part = result[1:]
    del result
    assert source.deleted == 0
    del part
    assert source.deleted == 1


def test_row_major_without_strides_and_offset():
    source = Custom(np.arange(6, dtype=F32).reshape(2, 3), strides=False, offset=4096)
    out = np.zeros((2, 3), F32)
    copier("f32", 2, strided=True)(source, out)
    np.testing.assert_array_equal(out, source.array)


@pytest.mark.parametrize("device", [1, 3, 11])
def test_host_memory(device):
    out = np.zeros(3, F32)
    copier("f32", 1, strided=False)(Custom(np.ones(3, F32), device=device), out)
    assert out.tolist() == [1, 1, 1]


@pytest.mark.parametrize("device", [2, 4, 8, 10, 13])
@pytest.mark.parametrize("copies", [copier, tensor_copier])
def test_device_memory(device, copies):
    f = copies("f32", 1) if copies is tensor_copier else copies("f32", 1, strided=True)
    source = Custom(np.ones(6, F32)[::2], device=device)
    with pytest.raises(ArgumentTypeError, match="copy it to the CPU"):
        f(source, np.zeros(3, F32))
    assert source.deleted == 1


def test_read_only_exports():
    source = Custom(np.ones(3, F32), flags=1)
    out = np.zeros(3, F32)
    with pytest.raises(ArgumentValueError, match=r"Custom of np\.float32 and .* is read-only"):
        copier("f32", 1, strided=False)(source, out)
    tensor_copier("f32", 1)(source, out)
    assert out.tolist() == [1, 1, 1]


def test_exported_copies():
    source, out = Custom(np.ones(3, F32), flags=2), np.zeros(3, F32)
    with pytest.raises(ArgumentValueError, match="would be lost"):
        copier("f32", 1, strided=False)(source, out)
    tensor_copier("f32", 1)(source, out)
    assert out.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "options", [{"lanes": 2}, {"code": 3}, {"code": 0}, {"code": 17}], ids=repr
)
def test_other_elements(options):
    with pytest.raises(ArgumentTypeError, match="no dtype is converted"):
        copier("f32", 1, strided=False)(Custom(np.ones(3, F32), **options), np.zeros(3, F32))


def test_more_dimensions_than_anything_takes():
    with pytest.raises(ArgumentValueError, match="of 1 dimensions"):
        copier("f32", 1, strided=False)(Custom(np.ones((1,) * 12, F32)), np.zeros(3, F32))


class Raises:
    def __init__(self, error):
        self.error = error

    def __dlpack__(self, **options):
        raise self.error


@pytest.mark.parametrize(
    "error", [BufferError("tensor requires grad"), RuntimeError, TypeError("x")]
)
def test_failing_exporters(error):
    with pytest.raises(ArgumentTypeError, match="argument 0 must be memref") as raised:
        copier("f32", 1, strided=False)(Raises(error), np.zeros(3, F32))
    assert isinstance(raised.value.__cause__, error if isinstance(error, type) else type(error))


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_what_is_not_the_exporters_fault(error):
    with pytest.raises(error):
        copier("f32", 1, strided=False)(Raises(error), np.zeros(3, F32))


def test_odd_capsules():
    newer = Custom(np.ones(3, F32), major=2)
    used = Custom(np.ones(3, F32), name=b"used_dltensor")
    for source in (newer, used):
        with pytest.raises(ArgumentTypeError) as raised:
            copier("f32", 1, strided=False)(source, np.zeros(3, F32))
        assert isinstance(raised.value.__cause__, BufferError)
    assert (newer.deleted, used.deleted) == (1, 0)
