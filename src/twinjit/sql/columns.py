"""Dense columns: what kernels and the interpreter write, and what aggregation reads."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from twinjit._native import _sql
from twinjit.sql.arrow_types import arrow_type_of
from twinjit.sql.tree import Value
from twinjit.sql.types import Kind, SqlType

__all__ = [
    "DTYPES",
    "Dense",
    "DenseColumn",
    "address_words",
    "arrow_array",
    "first_value",
    "new_values",
]

DTYPES: Final[dict[Kind, tuple[str, int]]] = {
    "bool": ("u1", 1),
    "int2": ("i2", 1),
    "int4": ("i4", 1),
    "int8": ("i8", 1),
    "float4": ("f4", 1),
    "float8": ("f8", 1),
    "numeric": ("i8", 2),
    "date": ("i4", 1),
    "timestamp": ("i8", 1),
    "text": ("i8", 2),
}
"""NumPy's type of values, and how many items one takes: of a numeric the low and the high word, of
a text its address and its length."""


class DenseColumn(NamedTuple):
    """A column, one value behind the other.

    Attributes
    ----------
    values
        Shape (rows,), or (rows, 2) for numerics and texts; anything where a value is null.
    validity
        Shape (rows,), uint8: 0 for null, else 1.
    """

    values: npt.NDArray[Any]
    validity: npt.NDArray[np.uint8]


def address_words(columns: Sequence[DenseColumn]) -> npt.NDArray[np.int64]:
    """Give the addresses of the columns' values and validity, in turn: shape (2 * columns,)."""
    addresses = [each.ctypes.data for column in columns for each in column]
    return np.array(addresses or [0], np.int64)


class Dense:
    """Memory for columns, and what machine code is given of it.

    Parameters
    ----------
    types
        Of the columns.
    rows
        The most that are written.

    Attributes
    ----------
    words
        Shape (2 * columns,), int64; see `address_words`.
    """

    def __init__(self, types: Sequence[SqlType], rows: int) -> None:
        self._columns = [
            DenseColumn(new_values(each.kind, rows), np.zeros(rows, np.uint8)) for each in types
        ]
        self.words = address_words(self._columns)

    def columns(self, rows: int) -> list[DenseColumn]:
        """Give the first rows, in the same memory."""
        return [DenseColumn(each.values[:rows], each.validity[:rows]) for each in self._columns]


def new_values(kind: Kind, rows: int) -> npt.NDArray[Any]:
    """Make memory for the values of a column: zeros."""
    dtype, words = DTYPES[kind]
    return np.zeros((rows, words) if words > 1 else (rows,), dtype)


def arrow_array(type_: SqlType, column: DenseColumn) -> Any:
    """Give a column as an Arrow array, which shares its memory, but for texts."""
    values, validity = column
    rows = len(validity)
    nulls = rows - int(np.count_nonzero(validity))
    bits = pa.py_buffer(np.packbits(validity, bitorder="little")) if nulls else None
    if type_.kind == "text":
        offsets, data = _sql.texts(values, validity)
        buffers = [bits, pa.py_buffer(offsets), pa.py_buffer(data)]
    elif type_.kind == "bool":
        buffers = [bits, pa.py_buffer(np.packbits(values, bitorder="little"))]
    else:
        buffers = [bits, pa.py_buffer(np.ascontiguousarray(values))]
    return pa.Array.from_buffers(arrow_type_of(type_), rows, buffers, null_count=nulls)


def first_value(kind: Kind, column: DenseColumn) -> Value:
    """Give the first value, as constants have it."""
    if not column.validity[0]:
        return None
    value = column.values[0]
    if kind == "text":
        return ctypes.string_at(int(value[0]), int(value[1]))
    if kind == "numeric":
        return int.from_bytes(value.tobytes(), "little", signed=True)
    plain: bool | int | float = value.item()
    return bool(plain) if kind == "bool" else plain
