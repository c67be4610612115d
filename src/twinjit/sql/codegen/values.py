"""Values in machine code, and what is said of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from llvmlite import ir

from twinjit.sql.types import Kind

__all__ = ["BIT", "BYTE", "POINTER", "VALUE_TYPES", "WORD", "Emitted", "word"]

BIT = ir.IntType(1)
BYTE = ir.IntType(8)
WORD = ir.IntType(64)
POINTER = ir.PointerType()
_TEXT = ir.LiteralStructType([POINTER, WORD])

VALUE_TYPES: Final[dict[Kind, ir.Type]] = {
    "bool": BIT,
    "int2": ir.IntType(16),
    "int4": ir.IntType(32),
    "int8": WORD,
    "float4": ir.FloatType(),
    "float8": ir.DoubleType(),
    "numeric": ir.IntType(128),
    "date": ir.IntType(32),
    "timestamp": WORD,
    "text": _TEXT,
}
"""What a value of each kind is in a register; a text is its address and its length."""


@dataclass(frozen=True)
class Emitted:
    """An expression that was evaluated.

    Attributes
    ----------
    value
        Anything, but not undefined, where it is null or has failed.
    is_null
        A bit; None if it is never null.
    failure
        A bit; None if it never fails. How a row fails, the interpreter finds out.
    """

    value: ir.Value
    is_null: ir.Value | None = None
    failure: ir.Value | None = None

    @property
    def null_bit(self) -> ir.Value:
        """A bit, whether or not it can be null."""
        return ir.Constant(BIT, 0) if self.is_null is None else self.is_null


def word(value: int) -> ir.Constant:
    """Make a constant of 64 bits."""
    return ir.Constant(WORD, value)
