"""What has no type until its surroundings decide: literals in quotes, NULL, and parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import expressions as ast

from twinjit.errors import QueryError
from twinjit.sql.binder.literals import numeric_from_text, value_from_text
from twinjit.sql.binder.places import place_of, refuse
from twinjit.sql.binder.promotion import converted
from twinjit.sql.tree import Constant, Expression, Parameter
from twinjit.sql.types import SqlType

__all__ = ["Open", "Parameters", "resolve"]


@dataclass(frozen=True)
class Open:
    """A literal in quotes (`text`), a parameter (`parameter`, from 0), or NULL (neither)."""

    node: ast.Expr
    parameters: Parameters
    text: str | None = None
    parameter: int | None = None


class Parameters:
    """The types of ``$1``, ``$2`` …, as far as they are known."""

    def __init__(self, given: Sequence[SqlType] | None) -> None:
        self._given = given
        self._types: dict[int, SqlType] = dict(enumerate(given or ()))

    def find(self, node: ast.Parameter) -> Expression | Open:
        """Give a parameter, open while nothing has decided its type.

        Raises
        ------
        QueryError
            If it has no number, or more than were given types.
        """
        text = node.name
        if not text.isdigit() or not 1 <= int(text) <= 65_535:
            refuse(node, "42P02", f"there is no parameter ${text}: write $1, $2 …")
        index = int(text) - 1
        if index in self._types:
            return Parameter(index, self._types[index])
        if self._given is not None:
            refuse(node, "42P02", f"there is no parameter ${text}")
        return Open(node, self, parameter=index)

    def decide(self, index: int, type_: SqlType) -> Expression:
        """Give an open parameter its type."""
        first = self._types.setdefault(index, type_)
        return converted(Parameter(index, first), type_)

    def types(self) -> tuple[SqlType, ...]:
        """Give the types of all.

        Raises
        ------
        QueryError
            If nothing decides one.
        """
        count = max(self._types, default=-1) + 1
        for index in range(count):
            if index not in self._types:
                raise QueryError(
                    f"could not determine data type of parameter ${index + 1}", "42P18"
                )
        return tuple(self._types[index] for index in range(count))


def resolve(value: Expression | Open, type_: SqlType) -> Expression:
    """Give what is open a type; what has one stays as it is.

    Raises
    ------
    QueryError
        If a literal is no value of that type.
    """
    if not isinstance(value, Open):
        return value
    if value.parameter is not None:
        return value.parameters.decide(value.parameter, type_)
    if value.text is None:
        return Constant(None, type_)
    try:
        if type_.kind == "numeric":
            return numeric_from_text(value.text)
        return Constant(value_from_text(value.text, type_), type_)
    except QueryError as error:
        line, column = place_of(value.node)
        raise QueryError(error.message, error.sqlstate, line, column) from None
