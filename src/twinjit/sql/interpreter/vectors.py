"""Values of some rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from twinjit.sql.columns import new_values
from twinjit.sql.tree import Value
from twinjit.sql.types import Kind, SqlType

__all__ = ["Bytes", "Vector", "constant", "first_failures", "nulls"]

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Vector:
    """An expression that was evaluated for some rows; as machine code has it, but for several.

    Attributes
    ----------
    values
        As `DenseColumn` has them; anything where a row is null, has failed or was not reached.
    valid
        Shape (rows,): 0 for null, else 1; anything where a row has failed or was not reached.
    failures
        Shape (rows,): codes; 0 where a row has not failed or was not reached.
    """

    values: npt.NDArray[Any]
    valid: Bytes
    failures: Bytes

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.valid)

    def is_true(self) -> Bytes:
        """Give 1 where a bool is neither false nor null."""
        return self.values & self.valid


def first_failures(vectors: Sequence[Vector], rows: int) -> Bytes:
    """Give, for each row, the failure of the first that failed, in memory of its own."""
    found = np.zeros(rows, np.uint8)
    for vector in vectors:
        np.copyto(found, vector.failures, where=found == 0)
    return found


def nulls(kind: Kind, rows: int) -> Vector:
    """Make a null for each row."""
    return Vector(new_values(kind, rows), np.zeros(rows, np.uint8), np.zeros(rows, np.uint8))


def constant(value: Value, type_: SqlType, rows: int, texts: dict[bytes, bytes]) -> Vector:
    """Make a value for each row.

    Parameters
    ----------
    texts
        Keeps what texts lie in.
    """
    found = nulls(type_.kind, rows)
    if value is None:
        return found
    found.valid[:] = 1
    if isinstance(value, bytes):
        kept = texts.setdefault(value, value)
        found.values[:] = np.frombuffer(kept or b"\0", np.uint8).ctypes.data, len(value)
    elif type_.kind == "numeric":
        raw = int(value).to_bytes(16, "little", signed=True)
        found.values[:] = np.frombuffer(raw, np.int64)
    else:
        found.values[:] = value
    return found
