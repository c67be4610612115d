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
from twinjit.sql.codegen.loading import LANES, Columns, expandable
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
    layouts: Sequence[ColumnLayout],
    where: Expression | None,
    outputs: Sequence[Expression],
    *,
    is_exact: bool,
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
    is_exact
        See `Emitter`.
    """
    module = ir.Module(name="kernel")
    _Kernel(module, layouts, where, outputs, is_exact).emit()
    return module


class _Kernel:
    def __init__(
        self,
        module: ir.Module,
        layouts: Sequence[ColumnLayout],
        where: Expression | None,
        outputs: Sequence[Expression],
        is_exact: bool,
    ) -> None:
        self._is_exact = is_exact
        self._has_outputs = bool(outputs)
        self._where = where
        function = ir.Function(module, _TYPE, "kernel")
        self._builder = builder = ir.IRBuilder(function.append_basic_block("entry"))
        inputs, slots, addresses, self._begin, self._end, self._arena = function.args
        self._columns = Columns(builder, inputs, slots, layouts)
        self._mask = builder.alloca(BYTE, size=BLOCK)
        self._selected = builder.alloca(_SHORT, size=BLOCK)
        self._expanded = {
            key: (type_, builder.alloca(type_, size=BLOCK)) for key, type_ in self._expandable()
        }
        self._projection = Projection(builder, addresses, outputs)
        # In a block of its own, so that more can be added to the entry.
        start = builder.append_basic_block("start")
        builder.branch(start)
        builder.position_at_end(start)

    def _expandable(self) -> Iterator[tuple[tuple[int, int], ir.Type]]:
        """Give what is expanded for the condition: columns, places of addresses, and types."""
        where = self._where
        indices = set() if where is None else {each.index for each in columns_of(where)}
        for index in sorted(indices):
            for place, type_ in expandable(self._columns.layouts[index]).items():
                yield (index, place), type_

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
        if not self._has_outputs:
            return [builder.add(written, self._count(start, end))]
        count = self._select(start, end)
        self._project(word(0), count, written, start, self._selected)
        return [builder.add(written, count)]

    def _expand(self, start: ir.Value, end: ir.Value) -> None:
        """Copy a block's bits, each to a byte, and decimals' low words, for the condition."""
        for (column, place), (type_, into) in self._expanded.items():
            if type_ == BYTE:
                self._expand_bits(column, place, into, start, end)
            else:
                self._expand_words(column, into, start, end)

    def _expand_bits(
        self,
        column: int,
        place: int,
        into: ir.Value,
        start: ir.Value,
        end: ir.Value,
    ) -> None:
        builder = self._builder

        def body(row: ir.Value, _: Sequence[ir.Value]) -> Sequence[ir.Value]:
            address = builder.gep(into, [builder.sub(row, start)], source_etype=BYTE)
            bit = self._columns.bit(builder, column, place, row)
            builder.store(builder.zext(bit, BYTE), address)
            return ()

        counted(builder, start, end, body)

    def _expand_words(self, column: int, into: ir.Value, start: ir.Value, end: ir.Value) -> None:
        builder = self._builder
        rows = builder.and_(builder.sub(end, start), word(-LANES))
        rest = builder.add(start, rows)

        def copy(row: ir.Value, lanes: int) -> Sequence[ir.Value]:
            address = builder.gep(into, [builder.sub(row, start)], source_etype=WORD)
            self._columns.expand_low_words(builder, column, row, address, lanes)
            return ()

        counted(builder, start, rest, lambda row, _: copy(row, LANES), step=LANES)
        counted(builder, rest, end, lambda row, _: copy(row, 1))

    def _fill_mask(self, where: Expression, start: ir.Value, end: ir.Value) -> None:
        """Evaluate the condition for all rows of a block."""
        builder = self._builder
        self._columns.expanded = {key: into for key, (_, into) in self._expanded.items()}
        self._columns.block_start = start

        def body(row: ir.Value, carried: Sequence[ir.Value]) -> Sequence[ir.Value]:
            emitter = Emitter(builder, row, self._columns, self._arena, is_exact=self._is_exact)
            found = emitter.emit(where)
            place = builder.gep(self._mask, [builder.sub(row, start)], source_etype=BYTE)
            builder.store(builder.zext(emitter.is_true(found), BYTE), place)
            return [carried[0] if found.failure is None else builder.or_(carried[0], found.failure)]

        (has_failed,) = counted(builder, start, end, body, [ir.Constant(BIT, 0)])
        self._columns.expanded = {}
        self._return_if(has_failed)

    def _count(self, start: ir.Value, end: ir.Value) -> ir.Value:
        """Count the rows in a block for which the condition is true."""
        builder = self._builder

        def body(place: ir.Value, carried: Sequence[ir.Value]) -> Sequence[ir.Value]:
            byte = builder.load(builder.gep(self._mask, [place], source_etype=BYTE), typ=BYTE)
            return [builder.add(carried[0], builder.zext(byte, WORD))]

        (count,) = counted(builder, word(0), builder.sub(end, start), body, [word(0)])
        return count

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
            emitter = Emitter(builder, row, self._columns, self._arena, is_exact=self._is_exact)
            failure = self._projection.write(emitter, place)
            return [carried[0] if failure is None else builder.or_(carried[0], failure)]

        (has_failed,) = counted(builder, first, last, body, [ir.Constant(BIT, 0)])
        self._return_if(has_failed)

    def _return_if(self, has_failed: ir.Value) -> None:
        with self._builder.if_then(has_failed, likely=False):
            self._builder.ret(word(_FAILED))
