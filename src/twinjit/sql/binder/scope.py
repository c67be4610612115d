"""Names in queries: which columns of which inputs they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import expressions as ast

from twinjit.sql.arrow_types import sql_type_of
from twinjit.sql.binder.places import refuse
from twinjit.sql.tree import Column

__all__ = ["Scope", "Table", "folded"]


@dataclass(frozen=True)
class Table:
    """An input as FROM names it.

    Attributes
    ----------
    name
        Of the argument that it is.
    alias
        What columns are qualified with.
    first
        The place of its first column among those of all inputs.
    """

    name: str
    alias: str
    schema: pa.Schema
    first: int


def folded(identifier: ast.Identifier) -> str:
    """Give the name that an identifier means: in small letters unless it is in quotes."""
    text: str = identifier.this
    return text if identifier.args.get("quoted") else text.lower()


class Scope:
    """The columns that expressions may name.

    They are counted through all inputs, whether or not they are read.
    """

    def __init__(self, tables: Sequence[Table], merged: Mapping[str, int] | None = None) -> None:
        self.tables = tables
        self._merged = merged or {}  # what USING has made one column, by name

    def column(self, node: ast.Column) -> Column:
        """Find a column.

        Raises
        ------
        QueryError
            If there is none, or more than one.
        """
        name = folded(node.this)
        qualifier = node.args.get("table")
        if node.args.get("db"):
            refuse(node, "42P01", f'schemas are not known: "{node.args["db"].name}"')
        if qualifier is None and name in self._merged:
            return self._at(self._merged[name])
        tables = [
            table for table in self.tables if qualifier is None or table.alias == folded(qualifier)
        ]
        if not tables:
            refuse(node, "42P01", f'missing FROM-clause entry for table "{node.table}"')
        found = [index for table in tables for index in _places(table, name)]
        if len(found) > 1:
            refuse(node, "42702", f'column reference "{name}" is ambiguous')
        if not found:
            refuse(node, "42703", f'column "{name}" does not exist{self._hint(name)}')
        return self._at(found[0])

    def _hint(self, name: str) -> str:
        for table in self.tables:
            for known in table.schema.names:
                if known.lower() == name.lower():
                    return f': write "{known}", in quotes'
        return ""

    def _at(self, index: int) -> Column:
        table = self._table_of(index)
        field = table.schema.field(index - table.first)
        return Column(index, sql_type_of(field.type, field.name))

    def _table_of(self, index: int) -> Table:
        return next(each for each in reversed(self.tables) if each.first <= index)

    def expanded(self, node: ast.Expr, alias: str | None) -> Iterator[tuple[str, Column]]:
        """Give what ``*``, or ``alias.*``, stands for.

        Raises
        ------
        QueryError
            If there is no such table.
        """
        tables = [table for table in self.tables if alias is None or table.alias == alias]
        if not tables:
            refuse(node, "42P01", f'missing FROM-clause entry for table "{alias}"')
        if alias is None:
            yield from ((name, self._at(index)) for name, index in self._merged.items())
        for table in tables:
            for place, name in enumerate(table.schema.names):
                if alias is not None or name not in self._merged:
                    yield name, self._at(table.first + place)

    def name_of(self, index: int) -> str:
        """Give the name of a column, for messages."""
        table = self._table_of(index)
        return f"{table.alias}.{table.schema.names[index - table.first]}"


def _places(table: Table, name: str) -> Iterator[int]:
    for place, known in enumerate(table.schema.names):
        if known == name:
            yield table.first + place
