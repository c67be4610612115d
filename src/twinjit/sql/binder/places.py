"""Where in a query something is, and the errors that say so."""

from __future__ import annotations

from typing import NoReturn

from sqlglot import expressions as ast

from twinjit.errors import QueryError

__all__ = ["place_of", "refuse", "unsupported"]


def place_of(node: ast.Expr | None) -> tuple[int | None, int | None]:
    """Give the line and column of the first token below a node that is known; from 1.

    The parser keeps the places of names, and of some literals and functions.
    """
    if node is None:
        return None, None
    places = [
        (each.meta["line"], each.meta["start"], each.meta)
        for each in node.walk()
        if "line" in each.meta and "start" in each.meta
    ]
    if not places:
        return None, None
    line, _, meta = min(places, key=lambda place: place[:2])
    # The parser's columns are those of the last character.
    return line, meta["col"] - (meta["end"] - meta["start"])


def refuse(node: ast.Expr | None, sqlstate: str, message: str) -> NoReturn:
    """Raise the error for a mistake at a node.

    Raises
    ------
    QueryError
        Always.
    """
    raise QueryError(message, sqlstate, *place_of(node))


def unsupported(node: ast.Expr, what: str, cure: str = "") -> NoReturn:
    """Raise the error for a construct that is not supported.

    Raises
    ------
    QueryError
        Always.
    """
    refuse(node, "0A000", f"{what} is not supported{f': {cure}' if cure else ''}")
