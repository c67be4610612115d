"""Evaluating an expression at a row, in machine code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from llvmlite import ir

from twinjit.sql.codegen.values import BIT, VALUE_TYPES, Emitted
from twinjit.sql.failures import Failure
from twinjit.sql.tree import Column, Expression, Parameter
from twinjit.sql.types import SqlType

__all__ = ["Emitter", "Loader"]

_CODE = ir.IntType(32)


class Loader(Protocol):
    """Where columns and slots come from."""

    def column(self, emitter: Emitter, column: Column) -> Emitted:
        """Load a column at the row."""
        ...

    def slot(self, emitter: Emitter, parameter: Parameter) -> Emitted:
        """Load a slot."""
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
    is_precise
        Whether failures are told by their codes, rather than only that there is one. That takes
        more instructions, and is for rows that are known to fail.
    """

    def __init__(
        self,
        builder: ir.IRBuilder,
        row: ir.Value,
        loader: Loader,
        arena: ir.Value,
        *,
        is_precise: bool,
    ) -> None:
        self.builder = builder
        self.row = row
        self.loader = loader
        self.arena = arena
        self.is_precise = is_precise
        self.failure_type: ir.Type = _CODE if is_precise else BIT
        self._known: dict[Expression, Emitted] = {}

    def emit(self, expression: Expression) -> Emitted:
        """Evaluate an expression, once for each block that it is needed in."""
        from twinjit.sql.codegen.dispatch import emit_expression

        found = self._known.get(expression)
        if found is None:
            found = self._known[expression] = emit_expression(self, expression)
        return found

    def module(self) -> ir.Module:
        """Give the module that is made."""
        module: ir.Module = self.builder.module
        return module

    # Failures and nulls

    def failure(self, condition: ir.Value, kind: Failure) -> ir.Value:
        """Make the failure that there is where a bit is set."""
        if not self.is_precise:
            return condition
        return self.builder.select(condition, ir.Constant(_CODE, int(kind)), ir.Constant(_CODE, 0))

    def failure_of_code(self, code: ir.Value) -> ir.Value:
        """Make the failure of a code, 0 being none."""
        return code if self.is_precise else self.builder.icmp_signed("!=", code, code.type(0))

    def first(self, *failures: ir.Value | None) -> ir.Value | None:
        """Give the first failure that there is."""
        found: ir.Value | None = None
        for failure in failures:
            if found is None or failure is None:
                found = failure if found is None else found
            elif self.is_precise:
                is_one = self.has_failed(found)
                found = self.builder.select(is_one, found, failure)
            else:
                found = self.builder.or_(found, failure)
        return found

    def has_failed(self, failure: ir.Value) -> ir.Value:
        """Give the bit that says whether there is one."""
        if not self.is_precise:
            return failure
        return self.builder.icmp_signed("!=", failure, ir.Constant(_CODE, 0))

    def unless(self, condition: ir.Value | None, failure: ir.Value | None) -> ir.Value | None:
        """Give a failure that does not count where a bit is set."""
        if condition is None or failure is None:
            return failure
        return self.builder.select(condition, ir.Constant(self.failure_type, 0), failure)

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
            self._merged(BIT, {block: each.is_null for block, each in pairs}),
            self._merged(self.failure_type, {block: each.failure for block, each in pairs}),
        )

    def _merged(
        self, type_: ir.Type, values: Mapping[ir.Block, ir.Value | None]
    ) -> ir.Value | None:
        if all(each is None for each in values.values()):
            return None
        zero = ir.Constant(type_, 0)
        return self._phi(
            type_, [(block, zero if each is None else each) for block, each in values.items()]
        )

    def _phi(self, type_: ir.Type, values: list[tuple[ir.Block, ir.Value]]) -> ir.Value:
        phi = self.builder.phi(type_)
        for block, value in values:
            phi.add_incoming(value, block)
        return phi
