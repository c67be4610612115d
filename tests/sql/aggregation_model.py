"""Plain models of aggregation and of dense columns, to compare with."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from twinjit._native import _sql
from twinjit.sql.columns import DenseColumn, address_words, new_values
from twinjit.sql.types import Kind

__all__ = [
    "FEW",
    "FEW_FLOATS",
    "Block",
    "Overflow",
    "Spec",
    "aggregated",
    "groups_of",
    "pieces_of",
    "shown",
    "values_of",
]

INF, NAN = math.inf, math.nan
FEW_FLOATS = [0.0, -0.0, 1.0, 2.5, -3.0, INF, -INF, NAN]  # whose sums are exact in any order
FEW: Final[dict[Kind, list[Any]]] = {
    "bool": [False, True],
    "int2": [0, 1, -(2**15), 2**15 - 1],
    "int4": [0, -1, 2**31 - 1, -(2**31)],
    "int8": [0, 1, 2**63 - 1, -(2**63), 2**40],
    "float4": FEW_FLOATS,
    "float8": FEW_FLOATS,
    "numeric": [0, 1, -1, 2**64, -(2**64), 10**35, 2**63],
    "date": [0, 1, -5],
    "timestamp": [0, 1, 2**62],
    "text": [b"", b"a", b"\xff", b"a\0", b"1234567", b"12345678", b"12345679", b"1234567" * 3],
}
"""A few values of each kind, so that equal ones meet."""

Spec = tuple[str, str, bool]

_WORD = 1 << 64


class Overflow(Exception):
    """A sum of floats has become infinite by finite values."""


def pieces_of(rows: list[Any], ends: list[int]) -> list[list[Any]]:
    """Cut rows before those whose numbers are given."""
    bounds = sorted({0, len(rows), *(min(each, len(rows)) for each in ends)})
    return [rows[begin:end] for begin, end in pairwise(bounds)]


class Block:
    """Rows of dense columns, and the memory that their texts lie in.

    Parameters
    ----------
    kinds
        Of the columns.
    rows
        Each with a value for every column: None for null, bytes for texts.
    """

    def __init__(self, kinds: Sequence[Kind], rows: Sequence[Sequence[Any]]) -> None:
        self.rows = len(rows)
        self._texts: list[Any] = []
        columns = [
            self._column(kind, [row[index] for row in rows]) for index, kind in enumerate(kinds)
        ]
        self.columns = columns
        self.words = address_words(columns)

    def _column(self, kind: Kind, values: Sequence[Any]) -> DenseColumn:
        dense = new_values(kind, len(values))
        for row, value in enumerate(values):
            if value is not None:
                dense[row] = self._words(value) if dense.ndim == 2 else value
        return DenseColumn(dense, np.array([each is not None for each in values], np.uint8))

    def _words(self, value: Any) -> tuple[int, int]:
        if isinstance(value, bytes):
            self._texts.append(ctypes.create_string_buffer(value, len(value) + 1))
            return ctypes.addressof(self._texts[-1]), len(value)
        low = value % _WORD
        return low - (_WORD if low >= _WORD // 2 else 0), value // _WORD

    def spoil(self) -> None:
        """Overwrite everything."""
        for text in self._texts:
            ctypes.memset(text, 0x55, len(text))
        for values, validity in self.columns:
            values.view(np.uint8)[...] = 0x55
            validity[...] = 0


def values_of(values: Any, validity: Any, is_text: bool) -> list[Any]:
    """Read a dense column."""
    pairs = zip(values.tolist(), validity.tolist(), strict=True)
    found: list[Any] = []
    for value, is_valid in pairs:
        if not is_valid:
            found.append(None)
        elif is_text:
            found.append(ctypes.string_at(*value))
        elif isinstance(value, list):
            found.append(value[0] % _WORD + value[1] * _WORD)
        else:
            found.append(value)
    return found


def groups_of(
    aggregator: _sql.Aggregator, keys: Sequence[Kind], specs: Sequence[Spec]
) -> list[list[str]]:
    """Read all groups: their keys and what the states consist of, as `shown`."""
    columns = [values_of(*aggregator.key(index), kind == "text") for index, kind in enumerate(keys)]
    for index, (function, kind, _) in enumerate(specs):
        is_text = kind == "text" and function != "count"
        columns += [values_of(*each, is_text) for each in aggregator.states(index)]
    return [[shown(column[group]) for column in columns] for group in range(aggregator.groups)]


def shown(value: Any) -> str:
    """Tell apart what ``==`` does not, and not what it does."""
    return repr(int(value) if isinstance(value, bool) else value)


def aggregated(
    keys: Sequence[Kind], specs: Sequence[Spec], rows: Sequence[Sequence[Any]]
) -> list[list[str]]:
    """Model what `groups_of` gives of an aggregator that has seen rows.

    Raises
    ------
    Overflow
    """
    groups: dict[Any, list[Sequence[Any]]] = {} if keys else {(): []}
    for row in rows:
        groups.setdefault(tuple(map(_same, row[: len(keys)])), []).append(row)
    found = []
    for members in groups.values():
        line = list(members[0][: len(keys)]) if keys else []
        place = len(keys)
        for function, kind, is_distinct in specs:
            if not kind:
                line.append(len(members))
                continue
            values = [row[place] for row in members if row[place] is not None]
            line += _state(function, kind, _firsts(values) if is_distinct else values)
            place += 1
        found.append([shown(each) for each in line])
    return found


def _same(value: Any) -> Any:
    """Give what is equal for equal values: Python's zeros are, and its NaNs are not."""
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def _firsts(values: list[Any]) -> list[Any]:
    firsts: dict[Any, Any] = {}
    for value in values:
        firsts.setdefault(_same(value), value)
    return list(firsts.values())


def _state(function: str, kind: str, values: list[Any]) -> list[Any]:
    if function == "count":
        return [len(values)]
    if function == "avg":
        total = _deviating_sum(values) if kind.startswith("float") else sum(values)
        return [total if values else None, len(values)]
    if not values:
        return [None]
    if function == "sum":
        return [_float_sum(kind, values) if kind.startswith("float") else sum(values)]
    if function in ("bool_and", "bool_or"):
        return [all(values) if function == "bool_and" else any(values)]
    return [_extreme(values, is_greatest=function == "max")]


def _extreme(values: list[Any], *, is_greatest: bool) -> Any:
    """Give the least or the greatest, of equal ones the last; NaN is above all."""

    def rank(value: Any) -> tuple[bool, Any]:
        is_nan = _same(value) == "NaN"
        return is_nan, 0 if is_nan else value

    outermost = (max if is_greatest else min)(map(rank, values))
    return [each for each in values if rank(each) == outermost][-1]


def _float_sum(kind: str, values: list[float]) -> float:
    type_: Any = np.float32 if kind == "float4" else np.float64
    total = type_(values[0])
    with np.errstate(all="ignore"):
        for value in map(type_, values[1:]):
            before, total = total, total + value
            _check(total, before, value)
    return float(total)


def _check(total: Any, *operands: Any) -> None:
    if np.isinf(total) and not any(map(np.isinf, operands)):
        raise Overflow


def _deviating_sum(values: list[float]) -> float:
    """Add values up and the squares of their deviations, as Youngs and Cramer do."""
    total, squares = np.float64(0), np.float64(0)
    with np.errstate(all="ignore"):
        for count, value in enumerate(map(np.float64, values), 1):
            before, total = total, total + value
            if count == 1:
                squares = np.float64(0 if np.isfinite(value) else np.nan)
                continue
            deviation = value * count - total
            squares += deviation * deviation / (count * (count - 1))
            _check(total, before, value)
            if np.isinf(squares):
                _check(squares, before, value)
                squares = np.float64(np.nan)
    return float(total)
