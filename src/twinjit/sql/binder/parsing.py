"""SQL text as sqlglot's syntax tree."""

from __future__ import annotations

from itertools import pairwise

import sqlglot
from sqlglot import Dialect, Token, TokenType
from sqlglot import expressions as ast
from sqlglot.errors import ParseError, TokenError

from twinjit.errors import QueryError
from twinjit.sql.binder.intervals import kept_whole
from twinjit.sql.binder.places import unsupported

__all__ = ["parse_expression", "parse_select"]


def parse_select(text: str) -> ast.Select:
    """Parse a query.

    Raises
    ------
    QueryError
        If it is not one SELECT.
    """
    statements = [each for each in _parse(text) if each is not None]
    if len(statements) != 1:
        raise QueryError(f"give one SELECT, not {len(statements)} statements", "42601")
    (statement,) = statements
    if isinstance(statement, ast.Select):
        return statement
    return unsupported(statement, statement.key.upper(), "give one SELECT over tables")


def parse_expression(text: str) -> ast.Expr:
    """Parse an expression, as it could stand in a SELECT.

    Raises
    ------
    QueryError
        If it is not one.
    """
    select = parse_select(f"SELECT {text}")
    clauses = [name for name, value in select.args.items() if value and name != "expressions"]
    if len(select.expressions) != 1 or clauses:
        raise QueryError(f"{text!r} is not one expression", "42601")
    expression: ast.Expr = select.expressions[0]
    return expression


def _tokens(text: str) -> list[Token]:
    tokens = sqlglot.tokenize(text, read="postgres")
    for word, following in pairwise(tokens):
        if word.token_type == TokenType.INTERVAL and following.token_type == TokenType.STRING:
            following.text = kept_whole(following.text)
    return tokens


def _parse(text: str) -> list[ast.Expr | None]:
    if not isinstance(text, str):
        raise QueryError(f"a query is text, not a {type(text).__name__}", "42601")
    if (place := next((n for n, each in enumerate(text) if "\ud800" <= each <= "\udfff"), -1)) >= 0:
        raise QueryError(f"the query is no Unicode: character {place} is half of one", "22021")
    try:
        return list(Dialect.get_or_raise("postgres").parser().parse(_tokens(text), text))
    except ParseError as error:
        first = error.errors[0] if error.errors else {}
        found = first.get("highlight") or "the end"
        message = f"syntax error at or near {found!r}: {first.get('description', error)}"
        raise QueryError(message, "42601", first.get("line"), first.get("col")) from None
    except TokenError as error:
        raise QueryError(f"syntax error: {error}", "42601") from None
