"""From SQL text to plans and typed expressions, by PostgreSQL's rules."""

from __future__ import annotations

from twinjit.sql.binder.queries import bind_expression, bind_query

__all__ = ["bind_expression", "bind_query"]
