"""Writing the values of expressions, row by row."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from twinjit.sql.codegen.emitter import Emitter
from twinjit.sql.codegen.values import BIT, BYTE, POINTER, VALUE_TYPES, WORD, word
from twinjit.sql.tree import Expression

__all__ = ["OUTPUT_WORDS", "Projection"]

OUTPUT_WORDS = 2
"""Words for each output: the addresses of its values, and of a byte for each that says whether it
is valid."""


class Projection:
    """Writes outputs densely.

    A bool takes a byte, a numeric 16, and so does a text: its address and its length.

    Parameters
    ----------
    builder
        Of the entry block.
    addresses
        The address of the outputs' words.
    """

    def __init__(
        self, builder: ir.IRBuilder, addresses: ir.Value, outputs: Sequence[Expression]
    ) -> None:
        self._outputs = outputs
        words = [
            builder.load(builder.gep(addresses, [word(index)], source_etype=WORD), typ=WORD)
            for index in range(len(outputs) * OUTPUT_WORDS)
        ]
        self._places = [builder.inttoptr(each, POINTER) for each in words]

    def write(self, emitter: Emitter, place: ir.Value) -> ir.Value | None:
        """Emit the evaluation of a row, the `place`-th of a call; give the failure."""
        builder = emitter.builder
        found = [emitter.emit(each) for each in self._outputs]
        for index, (each, expression) in enumerate(zip(found, self._outputs, strict=True)):
            values, validity = self._places[index * OUTPUT_WORDS :][:OUTPUT_WORDS]
            type_ = VALUE_TYPES[expression.type.kind]
            value = each.value
            if type_ == BIT:
                type_, value = BYTE, builder.zext(value, BYTE)
            address = builder.gep(values, [place], source_etype=type_)
            builder.store(value, address, align=8 if _is_large(type_) else None)
            is_valid = builder.zext(builder.not_(each.null_bit), BYTE)
            builder.store(is_valid, builder.gep(validity, [place], source_etype=BYTE))
        return emitter.any(*(each.failure for each in found))


def _is_large(type_: ir.Type) -> bool:
    return type_ in (VALUE_TYPES["numeric"], VALUE_TYPES["text"])
