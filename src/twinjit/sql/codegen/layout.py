"""How columns lie in memory, as far as machine code depends on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from twinjit.sql.arrow_types import sql_type_of
from twinjit.sql.data.scan import Morsel
from twinjit.sql.types import SqlType

__all__ = ["SLOTS", "ColumnLayout", "Inputs", "layout_of"]

SLOTS = 8
"""Words that a kernel gets for each column: addresses of validity bits, of values or
offsets, and of data; and the offset of the first row. Then the same of a dictionary's values."""

_WORD_DIGITS = 18
"""Digits of decimals that fit into a word, whatever they are."""


@dataclass(frozen=True)
class ColumnLayout:
    """A column's layout; the same for all columns that one machine code can read.

    Attributes
    ----------
    physical
        Arrow's name of the type, without what makes no difference in memory.
    source
        The SQL type of the values as they lie there.
    can_be_null
        Whether there are validity bits.
    dictionary
        Of the values, where `physical` is that of indices to them.
    is_constant
        Whether all rows have one value, which is passed as a parameter.
    bound
        What the magnitude of a decimal does not exceed, as it is stored, if that fits into a word.
    """

    physical: str
    source: SqlType
    can_be_null: bool
    dictionary: ColumnLayout | None = None
    is_constant: bool = False
    bound: int | None = None


def layout_of(morsel: Morsel) -> tuple[ColumnLayout, ...]:
    """Give the layout of the columns of some rows.

    Either all columns can have nulls or none can: of each layout of values there are two at most.
    """
    arrays = [each for each in morsel.columns if not isinstance(each, pa.Scalar)]
    can_be_null = any(map(_has_nulls, arrays))
    return tuple(
        ColumnLayout("constant", sql_type_of(column.type), True, is_constant=True)
        if isinstance(column, pa.Scalar)
        else _of_array(column, can_be_null)
        for column in morsel.columns
    )


def _has_nulls(array: Any) -> bool:
    if pa.types.is_dictionary(array.type) and array.dictionary.null_count:
        return True
    return bool(array.null_count)


def _of_array(array: Any, can_be_null: bool) -> ColumnLayout:
    type_, source = array.type, sql_type_of(array.type)
    if pa.types.is_dictionary(type_):
        values = _of_array(array.dictionary, can_be_null)
        return ColumnLayout(str(type_.index_type), source, can_be_null, values)
    if pa.types.is_null(type_):
        return ColumnLayout("null", source, can_be_null=True)
    if not pa.types.is_decimal(type_):
        return ColumnLayout(str(type_), source, can_be_null)
    bound = 10**_WORD_DIGITS - 1 if type_.precision <= _WORD_DIGITS else None
    return ColumnLayout(f"decimal{type_.bit_width}", source, can_be_null, bound=bound)


class Inputs:
    """What a kernel is given of the columns of some rows.

    Keeps alive what the addresses are of.

    Attributes
    ----------
    words
        Shape (columns * `SLOTS`,), int64.
    """

    def __init__(self, columns: Sequence[Any]) -> None:
        self._kept: list[object] = list(columns)
        self.words: npt.NDArray[np.int64] = np.zeros(max(1, len(columns)) * SLOTS, np.int64)
        for place, column in enumerate(columns):
            if isinstance(column, pa.Scalar):
                continue
            self._fill(place * SLOTS, column)
            if pa.types.is_dictionary(column.type):
                self._kept.append(column.dictionary)
                self._fill(place * SLOTS + SLOTS // 2, column.dictionary)

    def _fill(self, start: int, array: Any) -> None:
        buffers = array.buffers()
        words = self.words
        if buffers[0] is not None:
            words[start] = buffers[0].address
        else:
            words[start] = self._keep(_all_valid(array.offset + len(array)))
        words[start + 3] = array.offset
        if len(buffers) > 1 and buffers[1] is not None:
            words[start + 1] = buffers[1].address
        if pa.types.is_string_view(array.type):
            addresses = [each.address for each in buffers[2:]]
            words[start + 2] = self._keep(np.array(addresses or [0], np.int64))
        elif len(buffers) > 2 and buffers[2] is not None:
            words[start + 2] = buffers[2].address

    def _keep(self, array: npt.NDArray[Any]) -> int:
        self._kept.append(array)
        return array.ctypes.data


_ones = np.full(1 << 13, 0xFF, np.uint8)


def _all_valid(rows: int) -> npt.NDArray[np.uint8]:
    """Give validity bits of at least so many rows, for columns that have none."""
    global _ones
    known = _ones
    if len(known) * 8 < rows:
        known = _ones = np.full(2 * len(known) + rows // 8, 0xFF, np.uint8)
    return known
