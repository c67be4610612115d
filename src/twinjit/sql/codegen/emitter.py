"""Evaluating an expression at a row, in machine code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from llvmlite import ir

from twinjit.sql.codegen.layout import ColumnLayout
from twinjit.sql.codegen.values import BIT, VALUE_TYPES, Emitted
from twinjit.sql.tree import Column, Expression, Parameter
from twinjit.sql.types import SqlType

__all__ = ["Emitter", "Loader"]


class Loader(Protocol):
    """Where columns and slots come from."""

    def column(self, emitter: Emitter, column: Column) -> Emitted:
        """Load a column at the row."""
        ...

    def slot(self, emitter: Emitter, parameter: Parameter) -> Emitted:
        """Load a slot."""
        ...

    @property
    def layouts(self) -> Sequence[ColumnLayout]:
        """The layouts of the columns."""
        ...


class Emitter:
    """Emits the evaluation of expressions at the end of a block.

    Parameters
    ----------
    builder
        Of the block.
    row
        The row's number, a word.
    loader
        For columns and slots.
    arena
        The address of the memory for texts.
    is_exact
        Whether rows are told to fail only if they do, rather than also if they may.
    """

    def __init__(
        self,
        builder: ir.IRBuilder,
        row: ir.Value,
        loader: Loader,
        arena: ir.Value,
        *,
        is_exact: bool,
    ) -> None:
        self.builder = builder
        self.row = row
        self.loader = loader
        self.arena = arena
        self.is_exact = is_exact
        self._known: dict[object, Emitted] = {}

    def emit(self, expression: Expression) -> Emitted:
        """Evaluate an expression, once for each block that it is needed in."""
        from twinjit.sql.codegen.dispatch import emit_expression

        return self.once(expression, lambda: emit_expression(self, expression))

    def once(self, key: object, emit: Callable[[], Emitted]) -> Emitted:
        """Emit something once for each block that it is needed in."""
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = emit()
        return found

    def module(self) -> ir.Module:
        """Give the module that is made."""
        module: ir.Module = self.builder.module
        return module

    # Failures and nulls

    def unless(self, condition: ir.Value | None, failure: ir.Value | None) -> ir.Value | None:
        """Give a failure that does not count where a bit is set."""
        if condition is None or failure is None:
            return failure
        return self.builder.select(condition, ir.Constant(BIT, 0), failure)

    def any(self, *bits: ir.Value | None) -> ir.Value | None:
        """Give a bit that is set where one is; None for never."""
        found: ir.Value | None = None
        for bit in bits:
            if bit is not None:
                found = bit if found is None else self.builder.or_(found, bit)
        return found

    def is_true(self, found: Emitted) -> ir.Value:
        """Give the bit that is set where a bool is neither false nor null."""
        if found.is_null is None:
            return found.value
        return self.builder.and_(found.value, self.builder.not_(found.is_null))

    def select(self, condition: ir.Value, yes: ir.Value, no: ir.Value) -> ir.Value:
        """Choose between two values of one type."""
        return yes if yes is no else self.builder.select(condition, yes, no)

    def null(self, type_: SqlType) -> Emitted:
        """Make a null."""
        zero = ir.Constant(VALUE_TYPES[type_.kind], None)
        return Emitted(zero, ir.Constant(BIT, 1))

    # Branches

    def guarded(
        self, condition: ir.Value, work: Callable[[], Emitted], otherwise: Emitted
    ) -> Emitted:
        """Evaluate something only where a bit is set.

        What was evaluated inside is not known outside.
        """
        before, known = self.builder.block, dict(self._known)
        with self.builder.if_then(condition):
            found = work()
            inside = self.builder.block
        self._known = known
        pairs = [(before, otherwise), (inside, found)]
        value = self._phi(found.value.type, [(block, each.value) for block, each in pairs])
        return Emitted(
            value,
            self._merged({block: each.is_null for block, each in pairs}),
            self._merged({block: each.failure for block, each in pairs}),
        )

    def _merged(self, bits: Mapping[ir.Block, ir.Value | None]) -> ir.Value | None:
        if all(each is None for each in bits.values()):
            return None
        zero = ir.Constant(BIT, 0)
        return self._phi(
            BIT, [(block, zero if each is None else each) for block, each in bits.items()]
        )

    def _phi(self, type_: ir.Type, values: list[tuple[ir.Block, ir.Value]]) -> ir.Value:
        phi = self.builder.phi(type_)
        for block, value in values:
            phi.add_incoming(value, block)
        return phi
