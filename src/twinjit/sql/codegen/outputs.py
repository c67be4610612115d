"""What kernels write, as Arrow's arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from twinjit.sql.arrow_types import arrow_type_of
from twinjit.sql.types import Kind, SqlType

__all__ = ["Outputs"]

_BYTES: Final[dict[Kind, int]] = {
    "bool": 1,
    "int2": 2,
    "int4": 4,
    "int8": 8,
    "float4": 4,
    "float8": 8,
    "numeric": 16,
    "date": 4,
    "timestamp": 8,
    "text": 16,
}


class Outputs:
    """Memory for the outputs of a projection kernel.

    Parameters
    ----------
    types
        Of the outputs.
    rows
        The most that are written.

    Attributes
    ----------
    words
        Shape (outputs * `OUTPUT_WORDS`,), int64: what the kernel is given.
    """

    def __init__(self, types: Sequence[SqlType], rows: int) -> None:
        self._types = types
        self._values = [np.empty(rows * _BYTES[each.kind], np.uint8) for each in types]
        self._validity = [np.empty(rows, np.uint8) for _ in types]
        addresses = [
            each.ctypes.data
            for pair in zip(self._values, self._validity, strict=True)
            for each in pair
        ]
        self.words: npt.NDArray[np.int64] = np.array(addresses or [0], np.int64)

    def arrays(self, rows: int) -> list[Any]:
        """Give the first rows; texts are copied, all else lies where it was written."""
        return [
            _array(type_, values, validity[:rows], rows)
            for type_, values, validity in zip(
                self._types, self._values, self._validity, strict=True
            )
        ]


def _array(
    type_: SqlType, values: npt.NDArray[np.uint8], validity: npt.NDArray[np.uint8], rows: int
) -> Any:
    if type_.kind == "text":
        return _texts(values, validity, rows)
    buffer = pa.py_buffer(
        np.packbits(values[:rows], bitorder="little") if type_.kind == "bool" else values
    )
    bits = pa.py_buffer(np.packbits(validity, bitorder="little"))
    nulls = rows - int(np.count_nonzero(validity))
    return pa.Array.from_buffers(
        arrow_type_of(type_), rows, [bits if nulls else None, buffer], null_count=nulls
    )


def _texts(values: npt.NDArray[np.uint8], validity: npt.NDArray[np.uint8], rows: int) -> Any:
    pairs = values[: rows * _BYTES["text"]].view(np.int64).reshape(rows, 2).tolist()
    return pa.array(
        [
            ctypes.string_at(address, length) if is_valid else None
            for (address, length), is_valid in zip(pairs, validity.tolist(), strict=True)
        ],
        pa.binary(),
    ).cast(pa.string())
