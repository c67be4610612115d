"""Loading columns and slots in machine code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from llvmlite import ir

from twinjit.sql.codegen.bounds import LARGEST, WORD_BOUND
from twinjit.sql.codegen.conversions import convert
from twinjit.sql.codegen.emitter import Emitter
from twinjit.sql.codegen.layout import SLOTS, ColumnLayout
from twinjit.sql.codegen.lifting import WORDS, Slot
from twinjit.sql.codegen.values import BIT, BYTE, POINTER, VALUE_TYPES, WORD, Emitted, word
from twinjit.sql.tree import Column, Parameter

__all__ = ["LANES", "Columns", "expandable"]

_WIDTHS: Final = {
    **{f"{sign}int{bits}": bits for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{f"decimal{bits}": bits for bits in (32, 64, 128)},
    "date32[day]": 32,
    **{f"timestamp[{unit}]": 64 for unit in ("s", "ms", "us", "ns")},
}
_VALIDITY, _VALUES, _DATA, _OFFSET = range(SLOTS // 2)  # the places of a column's words
_DAY_IN_MILLISECONDS: Final = 86_400_000
_INLINE_TEXT: Final = 12  # the bytes that fit into a view

LANES: Final = 8
"""Decimals whose low words are copied at a time."""


class Columns:
    """Loads what is used of columns and slots; made at the entry of a function.

    Parameters
    ----------
    builder
        Of the entry block.
    inputs, slots
        The addresses of their words.
    layouts
        Of the columns.
    """

    def __init__(
        self,
        builder: ir.IRBuilder,
        inputs: ir.Value,
        slots: ir.Value,
        layouts: Sequence[ColumnLayout],
    ) -> None:
        self._builder = builder
        self._inputs = inputs
        self._slots = slots
        self.layouts = layouts
        self._words: dict[int, ir.Value] = {}
        # Of a block of rows, a byte for each bit, and the low word for each decimal, by column and
        # place of what they are copied from.
        self.expanded: Mapping[tuple[int, int], ir.Value] = {}
        self.block_start: ir.Value = word(0)

    def word(self, column: int, place: int) -> ir.Value:
        """Give a word of a column; loaded once, at the entry."""
        index = column * SLOTS + place
        found = self._words.get(index)
        if found is None:
            with self._builder.goto_entry_block():
                builder = self._builder
                address = builder.gep(self._inputs, [word(index)], source_etype=WORD)
                found = self._words[index] = builder.load(address, typ=WORD)
        return found

    def slot(self, emitter: Emitter, parameter: Parameter) -> Emitted:
        """Load a slot, at the entry."""
        builder, type_ = emitter.builder, VALUE_TYPES[parameter.type.kind]
        with builder.goto_entry_block():
            place = word(parameter.index * WORDS)
            address = builder.gep(self._slots, [place], source_etype=WORD)
            if isinstance(parameter, Slot) and parameter.bound <= WORD_BOUND:
                return Emitted(builder.sext(builder.load(address, typ=WORD), type_))
            value = builder.load(address, typ=BYTE if type_ == BIT else type_, align=8)
            return Emitted(builder.trunc(value, BIT) if type_ == BIT else value)

    def column(self, emitter: Emitter, column: Column) -> Emitted:
        """Load a column at the row, and convert it to the type that the query has for it."""
        layout = self.layouts[column.index]
        if layout.physical == "null":
            return emitter.null(column.type)
        is_null = self._null_bit(emitter, column.index)
        if layout.dictionary is not None:
            found = self._from_dictionary(emitter, column.index, layout.dictionary, is_null)
        elif layout.source.kind == "text":
            found = self._text(emitter, column.index, 0, layout, emitter.row, is_null)
        else:
            found = Emitted(self._flat(emitter, column.index, 0, layout, emitter.row), is_null)
        if layout.source == column.type:
            return found
        bound = (layout.dictionary or layout).bound or LARGEST
        value, failure = convert(emitter, found.value, layout.source, column.type, bound)
        return Emitted(value, found.is_null, emitter.unless(found.is_null, failure))

    def _null_bit(self, emitter: Emitter, column: int) -> ir.Value | None:
        if not self.layouts[column].can_be_null:
            return None
        return emitter.builder.not_(self._bit(emitter, column, _VALIDITY, emitter.row))

    def _bit(self, emitter: Emitter, column: int, place: int, row: ir.Value) -> ir.Value:
        """Load a bit, as a byte where its block is expanded."""
        builder = emitter.builder
        expanded = self.expanded.get((column, place))
        if expanded is None:
            return self.bit(builder, column, place, row)
        address = builder.gep(expanded, [builder.sub(row, self.block_start)], source_etype=BYTE)
        return builder.icmp_unsigned("!=", builder.load(address, typ=BYTE), BYTE(0))

    def bit(self, builder: ir.IRBuilder, column: int, place: int, row: ir.Value) -> ir.Value:
        """Load a bit of the bitmap whose address is at a place; the lowest of a byte is first."""
        bitmap = builder.inttoptr(self.word(column, place), POINTER)
        offset = self.word(column, place - place % (SLOTS // 2) + _OFFSET)
        index = builder.add(row, offset)
        address = builder.gep(bitmap, [builder.lshr(index, word(3))], source_etype=BYTE)
        shift = builder.trunc(builder.and_(index, word(7)), BYTE)
        return builder.trunc(builder.lshr(builder.load(address, typ=BYTE), shift), BIT)

    def _flat(
        self, emitter: Emitter, column: int, first: int, layout: ColumnLayout, row: ir.Value
    ) -> ir.Value:
        """Load a value of fixed width, as the SQL type that its physical type is."""
        builder = emitter.builder
        if layout.physical == "bool":
            return self._bit(emitter, column, first + _VALUES, row)
        type_ = VALUE_TYPES[layout.source.kind]
        if layout.physical == "date64[ms]":
            value = self._stored(emitter, column, first, WORD, row)
            return builder.trunc(builder.sdiv(value, word(_DAY_IN_MILLISECONDS)), type_)
        if is_low_word(layout):
            return builder.sext(self._low_word(emitter, column, first, row), type_)
        if layout.physical in _WIDTHS:
            return self._integer(emitter, column, first, layout.physical, type_, row)
        return self._stored(emitter, column, first, type_, row)

    def _low_word(self, emitter: Emitter, column: int, first: int, row: ir.Value) -> ir.Value:
        """Load the low word of a decimal, from where its block is expanded, if it is."""
        builder = emitter.builder
        expanded = self.expanded.get((column, first + _VALUES))
        if expanded is None:
            address = self._address(builder, column, first, ir.ArrayType(WORD, 2), row)
        else:
            place = builder.sub(row, self.block_start)
            address = builder.gep(expanded, [place], source_etype=WORD)
        return builder.load(address, typ=WORD)

    def expand_low_words(
        self, builder: ir.IRBuilder, column: int, row: ir.Value, into: ir.Value, lanes: int
    ) -> None:
        """Copy the low words of some decimals from a row on, as a vector.

        LLVM would gather them one by one.
        """
        address = self._address(builder, column, 0, ir.ArrayType(WORD, 2), row)
        both = builder.load(address, typ=ir.VectorType(WORD, 2 * lanes), align=8)
        places = ir.VectorType(ir.IntType(32), lanes)
        even = ir.Constant(places, [2 * lane for lane in range(lanes)])
        words = builder.shuffle_vector(both, both, even)
        builder.store(words, builder.bitcast(into, words.type.as_pointer()), align=8)

    def _integer(
        self,
        emitter: Emitter,
        column: int,
        first: int,
        physical: str,
        type_: ir.Type,
        row: ir.Value,
    ) -> ir.Value:
        """Load what is stored as an integer, and widen it to a type."""
        stored = ir.IntType(_WIDTHS[physical])
        value = self._stored(emitter, column, first, stored, row)
        if stored == type_:
            return value
        builder = emitter.builder
        return (builder.zext if physical.startswith("uint") else builder.sext)(value, type_)

    def _stored(
        self, emitter: Emitter, column: int, first: int, type_: ir.Type, row: ir.Value
    ) -> ir.Value:
        address = self._address(emitter.builder, column, first, type_, row)
        is_wide = type_ == VALUE_TYPES["numeric"]  # which Arrow aligns to words
        return emitter.builder.load(address, typ=type_, align=8 if is_wide else None)

    def _address(
        self, builder: ir.IRBuilder, column: int, first: int, type_: ir.Type, row: ir.Value
    ) -> ir.Value:
        base = builder.inttoptr(self.word(column, first + _VALUES), POINTER)
        index = builder.add(row, self.word(column, first + _OFFSET))
        return builder.gep(base, [index], source_etype=type_)

    def _from_dictionary(
        self, emitter: Emitter, column: int, values: ColumnLayout, is_null: ir.Value | None
    ) -> Emitted:
        """Look a value up, where its index is not null."""
        layout = self.layouts[column]

        def look_up() -> Emitted:
            row = self._integer(emitter, column, 0, layout.physical, WORD, emitter.row)
            is_entry_null = None
            if values.can_be_null:
                bit = self._bit(emitter, column, SLOTS // 2 + _VALIDITY, row)
                is_entry_null = emitter.builder.not_(bit)
            if values.source.kind == "text":
                return self._text(emitter, column, SLOTS // 2, values, row, is_entry_null)
            return Emitted(self._flat(emitter, column, SLOTS // 2, values, row), is_entry_null)

        if is_null is None:
            return look_up()
        found = emitter.guarded(emitter.builder.not_(is_null), look_up, emitter.null(values.source))
        return Emitted(found.value, emitter.any(is_null, found.is_null), None)

    def _text(
        self,
        emitter: Emitter,
        column: int,
        first: int,
        layout: ColumnLayout,
        row: ir.Value,
        is_null: ir.Value | None,
    ) -> Emitted:
        """Load a text: nothing where it is null, where a view could be anything."""

        def load() -> Emitted:
            if layout.physical == "string_view":
                return Emitted(self._view(emitter, column, first, row))
            bits = 64 if layout.physical == "large_string" else 32
            return Emitted(self._slice(emitter, column, first, ir.IntType(bits), row))

        if is_null is None:
            return load()
        if layout.physical != "string_view":
            return Emitted(load().value, is_null)
        found = emitter.guarded(emitter.builder.not_(is_null), load, emitter.null(layout.source))
        return Emitted(found.value, is_null)

    def _slice(
        self, emitter: Emitter, column: int, first: int, offset: ir.IntType, row: ir.Value
    ) -> ir.Value:
        builder = emitter.builder
        address = self._address(emitter.builder, column, first, offset, row)
        bounds = [
            builder.load(builder.gep(address, [word(n)], source_etype=offset), typ=offset)
            for n in range(2)
        ]
        start, end = (each if offset == WORD else builder.sext(each, WORD) for each in bounds)
        data = builder.inttoptr(self.word(column, first + _DATA), POINTER)
        return make_text(
            builder, builder.gep(data, [start], source_etype=BYTE), builder.sub(end, start)
        )

    def _view(self, emitter: Emitter, column: int, first: int, row: ir.Value) -> ir.Value:
        """Load a view: its length, then its bytes, or four of them, a buffer's number and where."""
        builder = emitter.builder
        short = ir.IntType(32)
        view = self._address(emitter.builder, column, first, ir.ArrayType(short, 4), row)
        fields = [builder.gep(view, [word(n)], source_etype=short) for n in range(4)]
        length = builder.load(fields[0], typ=short)
        is_inline = builder.icmp_unsigned("<=", length, short(_INLINE_TEXT))
        with builder.if_else(is_inline) as (inside, outside):
            with inside:
                inline, inline_block = fields[1], builder.block
            with outside:
                number, start = (
                    builder.zext(builder.load(field, typ=short), WORD) for field in fields[2:]
                )
                buffers = builder.inttoptr(self.word(column, first + _DATA), POINTER)
                place = builder.gep(buffers, [number], source_etype=WORD)
                base = builder.inttoptr(builder.load(place, typ=WORD), POINTER)
                far, far_block = builder.gep(base, [start], source_etype=BYTE), builder.block
        pointer = builder.phi(POINTER)
        pointer.add_incoming(inline, inline_block)
        pointer.add_incoming(far, far_block)
        return make_text(builder, pointer, builder.zext(length, WORD))


def make_text(builder: ir.IRBuilder, pointer: ir.Value, length: ir.Value) -> ir.Value:
    """Make a text of its address and length."""
    empty = ir.Constant(VALUE_TYPES["text"], ir.Undefined)
    return builder.insert_value(builder.insert_value(empty, pointer, 0), length, 1)


def is_low_word(layout: ColumnLayout) -> bool:
    """Whether the low one of the two words of a decimal tells all."""
    return layout.physical == "decimal128" and layout.bound is not None


def expandable(layout: ColumnLayout) -> Mapping[int, ir.Type]:
    """Give what of a column is expanded for a condition, by the place of its address.

    The type is that of an expanded value: a byte of a bit, or a word of a decimal.
    """
    if layout.is_constant or layout.physical == "null":
        return {}
    found: dict[int, ir.Type] = {_VALIDITY: BYTE} if layout.can_be_null else {}
    if layout.dictionary is None and layout.physical == "bool":
        found[_VALUES] = BYTE
    elif layout.dictionary is None and is_low_word(layout):
        found[_VALUES] = WORD
    return found
