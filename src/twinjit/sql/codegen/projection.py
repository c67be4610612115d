"""Writing the values of expressions, row by row."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from twinjit.sql.codegen.emitter import Emitter
from twinjit.sql.codegen.kernels import Consumer
from twinjit.sql.codegen.values import BIT, BYTE, POINTER, VALUE_TYPES, WORD, word
from twinjit.sql.tree import Expression

__all__ = ["OUTPUT_WORDS", "Projection"]

OUTPUT_WORDS = 2
"""Words for each output: the addresses of its values, and of a byte for each that says whether it
is valid."""


class Projection(Consumer):
    """Writes outputs densely.

    A bool takes a byte, a numeric 16, and so does a text: its address and its length.
    """

    def __init__(self, outputs: Sequence[Expression]) -> None:
        self._outputs = outputs
        self._places: list[tuple[ir.Value, ir.Value]] = []

    @property
    def expressions(self) -> Sequence[Expression]:
        """The outputs."""
        return self._outputs

    def enter(self, builder: ir.IRBuilder, outputs: ir.Value) -> None:
        """Load the addresses."""
        for index in range(len(self._outputs)):
            values, validity = (
                builder.inttoptr(
                    builder.load(
                        builder.gep(
                            outputs, [word(index * OUTPUT_WORDS + each)], source_etype=WORD
                        ),
                        typ=WORD,
                    ),
                    POINTER,
                )
                for each in range(OUTPUT_WORDS)
            )
            self._places.append((values, validity))

    def leave(self, builder: ir.IRBuilder) -> None:
        """Do nothing: all is written."""

    def consume(self, emitter: Emitter, place: ir.Value) -> ir.Value | None:
        """Write a row."""
        builder = emitter.builder
        found = [emitter.emit(each) for each in self._outputs]
        for each, expression, (values, validity) in zip(
            found, self._outputs, self._places, strict=True
        ):
            type_ = VALUE_TYPES[expression.type.kind]
            value = each.value
            if type_ == BIT:
                type_, value = BYTE, builder.zext(value, BYTE)
            address = builder.gep(values, [place], source_etype=type_)
            builder.store(value, address, align=8 if _is_large(type_) else None)
            is_valid = builder.zext(builder.not_(each.null_bit), BYTE)
            builder.store(is_valid, builder.gep(validity, [place], source_etype=BYTE))
        return emitter.first(*(each.failure for each in found))


def _is_large(type_: ir.Type) -> bool:
    return type_ in (VALUE_TYPES["numeric"], VALUE_TYPES["text"])
