"""Kernels: functions over the rows of a batch, in blocks.

``int64 kernel(int64 *inputs, int64 *slots, int64 *outputs, int64 begin, int64 end, int64 *status)``
handles the rows from `begin` to below `end` and returns how many it has written, or -1 after a row
that failed, whose code and number are then the first two words of `status`. The third is the arena.

A block's condition is evaluated for all rows first, without branches where it is cheap, so that
several rows are done at a time; then the rows for which it is true are handled. Whether a row has
failed is all that is found out so; if one has, the block is gone through once more, row by row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from llvmlite import ir

from twinjit.sql.codegen.emitter import Emitter
from twinjit.sql.codegen.layout import ColumnLayout
from twinjit.sql.codegen.loading import Columns, has_bits
from twinjit.sql.codegen.loops import counted
from twinjit.sql.codegen.values import BIT, BYTE, POINTER, WORD, word
from twinjit.sql.rewriting import columns_of
from twinjit.sql.tree import Expression

__all__ = ["BLOCK", "Consumer", "kernel_module"]

BLOCK = 1024
"""Rows of a block."""

_SHORT = ir.IntType(32)
_TYPE = ir.FunctionType(WORD, [POINTER, POINTER, POINTER, WORD, WORD, POINTER])
_FAILED = -1


class Consumer(ABC):
    """What is done with rows for which the condition is true."""

    @property
    @abstractmethod
    def expressions(self) -> Sequence[Expression]:
        """What it evaluates, in order."""

    @abstractmethod
    def enter(self, builder: ir.IRBuilder, outputs: ir.Value) -> None:
        """Emit what is done once, at the entry."""

    @abstractmethod
    def leave(self, builder: ir.IRBuilder) -> None:
        """Emit what is done once, before a kernel returns without failure."""

    @abstractmethod
    def consume(self, emitter: Emitter, place: ir.Value) -> ir.Value | None:
        """Emit what is done with a row, the `place`-th of a call; give the failure."""

    def failures(self, emitter: Emitter) -> Iterator[ir.Value | None]:
        """Emit the evaluation alone, for the failures in order."""
        for expression in self.expressions:
            yield emitter.emit(expression).failure


@dataclass(frozen=True)
class _Shape:
    layouts: Sequence[ColumnLayout]
    where: Expression | None
    consumer: Consumer


def kernel_module(
    layouts: Sequence[ColumnLayout], where: Expression | None, consumer: Consumer
) -> ir.Module:
    """Make a module with a kernel.

    Parameters
    ----------
    layouts
        Of the columns that expressions read.
    where
        The condition; None for all rows.
    """
    module = ir.Module(name="kernel")
    shape = _Shape(layouts, where, consumer)
    _Kernel(module, shape, _emit_diagnosis(module, shape)).emit()
    return module


def _emit_diagnosis(module: ir.Module, shape: _Shape) -> ir.Function:
    """Emit the function that finds the first row which fails, and how.

    It is called like a kernel, for rows one of which does.
    """
    function = ir.Function(module, _TYPE, "diagnose")
    function.linkage = "internal"
    function.attributes.add("noinline")
    function.attributes.add("cold")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    inputs, slots, _, begin, end, status = function.args
    columns = Columns(builder, inputs, slots, shape.layouts)
    arena = _arena(builder, status)
    _leave_entry(builder)

    def body(row: ir.Value, _: Sequence[ir.Value]) -> Sequence[ir.Value]:
        emitter = Emitter(builder, row, columns, arena, is_precise=True)
        after = builder.append_basic_block("next")
        if shape.where is not None:
            found = emitter.emit(shape.where)
            _return_failure(emitter, status, row, found.failure)
            inside = builder.append_basic_block("selected")
            builder.cbranch(emitter.is_true(found), inside, after)
            builder.position_at_end(inside)
        for failure in shape.consumer.failures(emitter):
            _return_failure(emitter, status, row, failure)
        builder.branch(after)
        builder.position_at_end(after)
        return ()

    counted(builder, begin, end, body)
    builder.ret(word(0))
    return function


def _leave_entry(builder: ir.IRBuilder) -> None:
    """Go on in a block of its own, so that more can be added to the entry."""
    start = builder.append_basic_block("start")
    builder.branch(start)
    builder.position_at_end(start)


def _return_failure(
    emitter: Emitter, status: ir.Value, row: ir.Value, failure: ir.Value | None
) -> None:
    if failure is None:
        return
    builder = emitter.builder
    with builder.if_then(emitter.has_failed(failure), likely=False):
        builder.store(builder.zext(failure, WORD), status)
        builder.store(row, builder.gep(status, [word(1)], source_etype=WORD))
        builder.ret(word(_FAILED))


def _arena(builder: ir.IRBuilder, status: ir.Value) -> ir.Value:
    place = builder.gep(status, [word(2)], source_etype=WORD)
    return builder.inttoptr(builder.load(place, typ=WORD), POINTER)


class _Kernel:
    def __init__(self, module: ir.Module, shape: _Shape, diagnose: ir.Function) -> None:
        self._shape = shape
        self._diagnose = diagnose
        self._function = ir.Function(module, _TYPE, "kernel")
        entry = self._function.append_basic_block("entry")
        self._builder = builder = ir.IRBuilder(entry)
        inputs, slots, self._outputs, self._begin, self._end, self._status = self._function.args
        self._columns = Columns(builder, inputs, slots, shape.layouts)
        self._arena = _arena(builder, self._status)
        self._mask = builder.alloca(BYTE, size=BLOCK)
        self._selected = builder.alloca(_SHORT, size=BLOCK)
        self._bits = {key: builder.alloca(BYTE, size=BLOCK) for key in self._bitmaps()}
        shape.consumer.enter(builder, self._outputs)
        _leave_entry(builder)

    def _bitmaps(self) -> Iterator[tuple[int, int]]:
        """Give the bitmaps that the condition reads: columns, and places of their addresses."""
        where = self._shape.where
        indices = set() if where is None else {each.index for each in columns_of(where)}
        for index in sorted(indices):
            for place in has_bits(self._columns.layout(index)):
                yield index, place

    def emit(self) -> None:
        """Emit the kernel."""
        builder = self._builder
        (written,) = counted(builder, self._begin, self._end, self._block, [word(0)], step=BLOCK)
        self._shape.consumer.leave(builder)
        builder.ret(written)

    def _block(self, start: ir.Value, carried: Sequence[ir.Value]) -> Sequence[ir.Value]:
        builder = self._builder
        (written,) = carried
        full = builder.add(start, word(BLOCK))
        end = builder.select(builder.icmp_signed("<", full, self._end), full, self._end)
        if self._shape.where is None:
            self._consume(start, end, written, start, end, None)
            return [builder.add(written, builder.sub(end, start))]
        self._expand(start, end)
        self._fill_mask(self._shape.where, start, end)
        count = self._select(start, end)
        self._consume(word(0), count, written, start, end, self._selected)
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
            emitter = Emitter(builder, row, self._columns, self._arena, is_precise=False)
            found = emitter.emit(where)
            place = builder.gep(self._mask, [builder.sub(row, start)], source_etype=BYTE)
            builder.store(builder.zext(emitter.is_true(found), BYTE), place)
            return [carried[0] if found.failure is None else builder.or_(carried[0], found.failure)]

        (has_failed,) = counted(builder, start, end, body, [ir.Constant(BIT, 0)])
        self._columns.expanded = {}
        self._diagnose_if(has_failed, start, end)

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

    def _consume(
        self,
        first: ir.Value,
        last: ir.Value,
        written: ir.Value,
        start: ir.Value,
        end: ir.Value,
        selected: ir.Value | None,
    ) -> None:
        builder = self._builder

        def body(index: ir.Value, carried: Sequence[ir.Value]) -> Sequence[ir.Value]:
            row, place = index, builder.add(written, builder.sub(index, first))
            if selected is not None:
                slot = builder.gep(selected, [index], source_etype=_SHORT)
                row = builder.add(start, builder.zext(builder.load(slot, typ=_SHORT), WORD))
            emitter = Emitter(builder, row, self._columns, self._arena, is_precise=False)
            failure = self._shape.consumer.consume(emitter, place)
            return [carried[0] if failure is None else builder.or_(carried[0], failure)]

        (has_failed,) = counted(builder, first, last, body, [ir.Constant(BIT, 0)])
        self._diagnose_if(has_failed, start, end)

    def _diagnose_if(self, has_failed: ir.Value, start: ir.Value, end: ir.Value) -> None:
        builder = self._builder
        with builder.if_then(has_failed, likely=False):
            inputs, slots, outputs, *_ = self._function.args
            arguments = [inputs, slots, outputs, start, end, self._status]
            builder.ret(builder.call(self._diagnose, arguments))
