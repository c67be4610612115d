"""Kernels: functions over the rows of a batch, in blocks.

``int64 kernel(int64 *inputs, int64 *slots, int64 *outputs, int64 begin, int64 end, void *arena)``
handles the rows from `begin` to below `end`: it evaluates the outputs of those for which the
condition is true, writes them densely, and returns how many there were; or -1 if a row failed, or
may have. Which one, and how, is for the interpreter to find out.

A block's condition is evaluated for all rows first, without branches where it is cheap, so that
several rows are done at a time; then the rows for which it is true are handled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from llvmlite import ir

from twinjit.sql.codegen.emitter import Emitter
from twinjit.sql.codegen.layout import ColumnLayout
from twinjit.sql.codegen.loading import Columns, has_bits
from twinjit.sql.codegen.loops import counted
from twinjit.sql.codegen.projection import Projection
from twinjit.sql.codegen.values import BIT, BYTE, POINTER, WORD, word
from twinjit.sql.rewriting import columns_of
from twinjit.sql.tree import Expression

__all__ = ["BLOCK", "kernel_module"]

BLOCK = 1024
"""Rows of a block."""

_SHORT = ir.IntType(32)
_TYPE = ir.FunctionType(WORD, [POINTER, POINTER, POINTER, WORD, WORD, POINTER])
_FAILED = -1


def kernel_module(
    layouts: Sequence[ColumnLayout], where: Expression | None, outputs: Sequence[Expression]
) -> ir.Module:
    """Make a module with a kernel.

    Parameters
    ----------
    layouts
        Of the columns that expressions read.
    where
        The condition; None for all rows.
    outputs
        What is written.
    """
    module = ir.Module(name="kernel")
    _Kernel(module, layouts, where, outputs).emit()
    return module


class _Kernel:
    def __init__(
        self,
        module: ir.Module,
        layouts: Sequence[ColumnLayout],
        where: Expression | None,
        outputs: Sequence[Expression],
    ) -> None:
        self._where = where
        function = ir.Function(module, _TYPE, "kernel")
        self._builder = builder = ir.IRBuilder(function.append_basic_block("entry"))
        inputs, slots, addresses, self._begin, self._end, self._arena = function.args
        self._columns = Columns(builder, inputs, slots, layouts)
        self._mask = builder.alloca(BYTE, size=BLOCK)
        self._selected = builder.alloca(_SHORT, size=BLOCK)
        self._bits = {key: builder.alloca(BYTE, size=BLOCK) for key in self._bitmaps()}
        self._projection = Projection(builder, addresses, outputs)
        # In a block of its own, so that more can be added to the entry.
        start = builder.append_basic_block("start")
        builder.branch(start)
        builder.position_at_end(start)

    def _bitmaps(self) -> Iterator[tuple[int, int]]:
        """Give the bitmaps that the condition reads: columns, and places of their addresses."""
        where = self._where
        indices = set() if where is None else {each.index for each in columns_of(where)}
        for index in sorted(indices):
            for place in has_bits(self._columns.layout(index)):
                yield index, place

    def emit(self) -> None:
        """Emit the kernel."""
        builder = self._builder
        (written,) = counted(builder, self._begin, self._end, self._block, [word(0)], step=BLOCK)
        builder.ret(written)

    def _block(self, start: ir.Value, carried: Sequence[ir.Value]) -> Sequence[ir.Value]:
        builder = self._builder
        (written,) = carried
        full = builder.add(start, word(BLOCK))
        end = builder.select(builder.icmp_signed("<", full, self._end), full, self._end)
        if self._where is None:
            self._project(start, end, written, start, None)
            return [builder.add(written, builder.sub(end, start))]
        self._expand(start, end)
        self._fill_mask(self._where, start, end)
        count = self._select(start, end)
        self._project(word(0), count, written, start, self._selected)
        return [builder.add(written, count)]

    def _expand(self, start: ir.Value, end: ir.Value) -> None:
        builder = self._builder
        for key, bytes_ in self._bits.items():

            def body(
                row: ir.Value,
                _: Sequence[ir.Value],
                key: tuple[int, int] = key,
                bytes_: ir.Value = bytes_,
            ) -> Sequence[ir.Value]:
                place = builder.gep(bytes_, [builder.sub(row, start)], source_etype=BYTE)
                builder.store(builder.zext(self._columns.bit(builder, *key, row), BYTE), place)
                return ()

            counted(builder, start, end, body)

    def _fill_mask(self, where: Expression, start: ir.Value, end: ir.Value) -> None:
        """Evaluate the condition for all rows of a block."""
        builder = self._builder
        self._columns.expanded, self._columns.block_start = self._bits, start

        def body(row: ir.Value, carried: Sequence[ir.Value]) -> Sequence[ir.Value]:
            emitter = Emitter(builder, row, self._columns, self._arena)
            found = emitter.emit(where)
            place = builder.gep(self._mask, [builder.sub(row, start)], source_etype=BYTE)
            builder.store(builder.zext(emitter.is_true(found), BYTE), place)
            return [carried[0] if found.failure is None else builder.or_(carried[0], found.failure)]

        (has_failed,) = counted(builder, start, end, body, [ir.Constant(BIT, 0)])
        self._columns.expanded = {}
        self._return_if(has_failed)

    def _select(self, start: ir.Value, end: ir.Value) -> ir.Value:
        """Write the numbers of the rows in a block for which the condition is true."""
        builder = self._builder

        def body(place: ir.Value, carried: Sequence[ir.Value]) -> Sequence[ir.Value]:
            (count,) = carried
            slot = builder.gep(self._selected, [count], source_etype=_SHORT)
            builder.store(builder.trunc(place, _SHORT), slot)
            byte = builder.load(builder.gep(self._mask, [place], source_etype=BYTE), typ=BYTE)
            return [builder.add(count, builder.zext(byte, WORD))]

        (count,) = counted(builder, word(0), builder.sub(end, start), body, [word(0)])
        return count

    def _project(
        self,
        first: ir.Value,
        last: ir.Value,
        written: ir.Value,
        start: ir.Value,
        selected: ir.Value | None,
    ) -> None:
        """Write the outputs of a block's rows, or of those that are selected."""
        builder = self._builder

        def body(index: ir.Value, carried: Sequence[ir.Value]) -> Sequence[ir.Value]:
            row, place = index, builder.add(written, builder.sub(index, first))
            if selected is not None:
                slot = builder.gep(selected, [index], source_etype=_SHORT)
                row = builder.add(start, builder.zext(builder.load(slot, typ=_SHORT), WORD))
            emitter = Emitter(builder, row, self._columns, self._arena)
            failure = self._projection.write(emitter, place)
            return [carried[0] if failure is None else builder.or_(carried[0], failure)]

        (has_failed,) = counted(builder, first, last, body, [ir.Constant(BIT, 0)])
        self._return_if(has_failed)

    def _return_if(self, has_failed: ir.Value) -> None:
        with self._builder.if_then(has_failed, likely=False):
            self._builder.ret(word(_FAILED))
