"""Columns of Arrow as vectors."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from twinjit.sql.arrow_types import sql_type_of
from twinjit.sql.columns import DTYPES
from twinjit.sql.interpreter.vectors import Bytes, Vector, nulls

__all__ = ["load"]

_DAY_IN_MILLISECONDS: Final = 86_400_000
_INLINE_TEXT: Final = 12  # the bytes that fit into a view


def load(array: Any) -> Vector:
    """Give an array as the SQL type that its own is; texts stay where they are."""
    type_, rows = array.type, len(array)
    if pa.types.is_null(type_) or rows == 0:
        return nulls(sql_type_of(type_).kind, rows)
    valid = _validity(array)
    if pa.types.is_dictionary(type_):
        return _from_dictionary(array, valid)
    return Vector(_values(array, valid), valid, np.zeros(rows, np.uint8))


def _validity(array: Any) -> Bytes:
    bitmap = array.buffers()[0]
    if bitmap is None:
        return np.ones(len(array), np.uint8)
    return _bits(bitmap, array.offset, len(array))


def _bits(bitmap: Any, offset: int, rows: int) -> Bytes:
    raw = np.frombuffer(bitmap, np.uint8)[offset // 8 : (offset + rows + 7) // 8]
    return np.unpackbits(raw, bitorder="little")[offset % 8 : offset % 8 + rows]


def _from_dictionary(array: Any, valid: Bytes) -> Vector:
    values = load(array.dictionary)
    if values.rows == 0:
        return nulls(sql_type_of(array.type).kind, len(array))
    indices = np.where(valid, _stored(array.indices), 0)
    found = np.ascontiguousarray(values.values[indices])
    return Vector(found, valid & values.valid[indices], np.zeros(len(array), np.uint8))


def _stored(array: Any, words: int = 1, dtype: Any = None) -> npt.NDArray[Any]:
    """Give the values as they are stored, of so many items each."""
    raw: npt.NDArray[Any] = np.frombuffer(array.buffers()[1], dtype or array.type.to_pandas_dtype())
    return raw[array.offset * words : (array.offset + len(array)) * words]


def _values(array: Any, valid: Bytes) -> npt.NDArray[Any]:
    type_ = array.type
    source = sql_type_of(type_)
    if source.kind == "text":
        return _texts(array, valid)
    if source.kind == "bool":
        return _bits(array.buffers()[1], array.offset, len(array))
    if source.kind == "numeric":
        return _numerics(array)
    dtype, _ = DTYPES[source.kind]
    if pa.types.is_date64(type_):
        milliseconds = _stored(array, dtype=np.int64)
        days = np.sign(milliseconds) * (np.abs(milliseconds) // _DAY_IN_MILLISECONDS)
        return np.asarray(days, dtype)
    is_moment = source.kind in ("date", "timestamp")
    stored = _stored(array, dtype=dtype if is_moment else None)
    return np.ascontiguousarray(stored.astype(dtype, copy=False))


def _numerics(array: Any) -> npt.NDArray[np.int64]:
    type_ = array.type
    if pa.types.is_decimal128(type_):
        return np.ascontiguousarray(_stored(array, 2, np.int64).reshape(-1, 2))
    found = np.zeros((len(array), 2), np.int64)
    if pa.types.is_uint64(type_):
        found[:, 0] = _stored(array, dtype=np.int64)
        return found
    found[:, 0] = _stored(array, dtype=np.int32 if type_.bit_width == 32 else np.int64)
    found[:, 1] = found[:, 0] >> 63
    return found


def _texts(array: Any, valid: Bytes) -> npt.NDArray[np.int64]:
    if pa.types.is_string_view(array.type):
        return _views(array, valid)
    buffers, rows = array.buffers(), len(array)
    dtype = np.int64 if pa.types.is_large_string(array.type) else np.int32
    offsets: npt.NDArray[Any] = np.frombuffer(buffers[1], dtype)
    offsets = offsets[array.offset : array.offset + rows + 1]
    found = np.empty((rows, 2), np.int64)
    found[:, 0] = offsets[:-1]
    found[:, 0] += buffers[2].address if buffers[2] is not None else 0
    found[:, 1] = offsets[1:] - offsets[:-1]
    return found


def _views(array: Any, valid: Bytes) -> npt.NDArray[np.int64]:
    """Read views: a length, then the bytes, or four of them, a buffer's number and where."""
    buffers, rows = array.buffers(), len(array)
    fields = _stored(array, 4, np.int32).reshape(-1, 4)
    found = np.zeros((rows, 2), np.int64)
    found[:, 1] = np.where(valid, fields[:, 0], 0)
    is_far = found[:, 1] > _INLINE_TEXT
    places = np.arange(array.offset, array.offset + rows, dtype=np.int64)
    addresses = np.array([each.address for each in buffers[2:]] or [0], np.int64)
    far = addresses[np.where(is_far, fields[:, 2], 0)] + fields[:, 3]
    found[:, 0] = np.where(is_far, far, buffers[1].address + 16 * places + 4)
    return found
