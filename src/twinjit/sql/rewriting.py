"""Going through expressions, and making others of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from twinjit.sql.tree import Column, Expression
from twinjit.sql.types import SqlType

__all__ = ["columns_of", "map_operands", "operands_of", "size_of"]

_Node = TypeVar("_Node")


def operands_of(expression: Expression) -> Iterator[Expression]:
    """Give the direct operands of an expression, from left to right."""
    for field in fields(expression):
        yield from _expressions(getattr(expression, field.name))


def _expressions(value: Any) -> Iterator[Expression]:
    if isinstance(value, tuple):
        for each in value:
            yield from _expressions(each)
    elif _is_expression(value):
        yield value


def _is_expression(value: object) -> bool:
    return is_dataclass(value) and not isinstance(value, SqlType)


def map_operands(expression: _Node, change: Callable[[Any], Any]) -> _Node:
    """Make an expression of the same kind with its direct operands changed."""
    changes = {}
    for field in fields(expression):  # type: ignore[arg-type]  # a dataclass
        value = getattr(expression, field.name)
        changed = _changed(value, change)
        if changed is not value:
            changes[field.name] = changed
    return replace(expression, **changes) if changes else expression  # type: ignore[type-var]  # a dataclass


def _changed(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, tuple):
        changed = tuple(_changed(each, change) for each in value)
        return value if all(a is b for a, b in zip(changed, value, strict=True)) else changed
    return change(value) if _is_expression(value) else value


def columns_of(expression: Expression) -> Iterator[Column]:
    """Give each place where an expression reads a column."""
    if isinstance(expression, Column):
        yield expression
    for operand in operands_of(expression):
        yield from columns_of(operand)


def size_of(expression: Expression) -> int:
    """Count an expression and its operands, all the way down."""
    return 1 + sum(map(size_of, operands_of(expression)))
