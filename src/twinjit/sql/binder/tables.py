"""FROM: which inputs a query reads, and how they are joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import expressions as ast

from twinjit.sql.binder.expressions import Binder
from twinjit.sql.binder.open_types import Parameters
from twinjit.sql.binder.places import refuse, unsupported
from twinjit.sql.binder.scope import Scope, Table, folded
from twinjit.sql.rewriting import columns_of
from twinjit.sql.tree import And, Call, Expression

__all__ = ["From", "bind_from"]


@dataclass(frozen=True)
class From:
    """The inputs.

    Attributes
    ----------
    keys
        Of a join: pairs of expressions over all columns.
    conditions
        What else ON says.
    """

    scope: Scope
    keys: tuple[tuple[Expression, Expression], ...] = ()
    conditions: tuple[Expression, ...] = ()

    @property
    def is_join(self) -> bool:
        """Whether there are two inputs."""
        return len(self.scope.tables) == 2

    def with_where(self, where: Sequence[Expression]) -> tuple[From, list[Expression]]:
        """Take the keys of a join from WHERE, where FROM only lists the inputs."""
        if self.keys or not self.is_join:
            return self, list(where)
        keys, others = _split(where, self.scope)
        return From(self.scope, tuple(keys), self.conditions), others


def bind_from(select: ast.Select, schemas: Mapping[str, pa.Schema], parameters: Parameters) -> From:
    """Bind FROM and its joins.

    Raises
    ------
    QueryError
        If a table is not known, or the kind of join is not supported.
    """
    clause = select.args.get("from_") or select.args.get("from")
    if clause is None:
        refuse(select, "0A000", "a query without FROM is not supported")
    left = _table(clause.this, schemas, 0)
    joins = select.args.get("joins") or []
    if not joins:
        return From(Scope([left]))
    if len(joins) > 1:
        unsupported(joins[1], "a join of more than two tables")
    (join,) = joins
    kind = " ".join(filter(None, (join.args.get(n) for n in ("method", "side", "kind"))))
    if kind not in ("", "INNER", "CROSS"):
        unsupported(join, f"{kind} JOIN", "inner joins are")
    right = _table(join.this, schemas, len(left.schema.names))
    if left.alias == right.alias:
        refuse(join, "42712", f'table name "{left.alias}" specified more than once')
    if join.args.get("using"):
        return _using(join, left, right)
    scope = Scope([left, right])
    on = join.args.get("on")
    if on is None:
        return From(scope)
    keys, others = _split(_conjuncts(Binder(scope, parameters).condition(on, "JOIN/ON")), scope)
    return From(scope, tuple(keys), tuple(others))


def _table(node: ast.Expr, schemas: Mapping[str, pa.Schema], first: int) -> Table:
    if not isinstance(node, ast.Table) or not isinstance(node.this, ast.Identifier):
        unsupported(node, "what is no table in FROM")
    if node.args.get("joins") or node.args.get("sample"):
        unsupported(node, "a nested join or TABLESAMPLE")
    name = folded(node.this)
    if node.args.get("db") or name not in schemas:
        known = ", ".join(sorted(schemas)) or "none"
        refuse(node, "42P01", f'relation "{name}" does not exist: the tables are {known}')
    alias = node.args.get("alias")
    if alias is not None and alias.columns:
        unsupported(node, "an alias with columns")
    return Table(name, folded(alias.this) if alias else name, schemas[name], first)


def _using(join: ast.Join, left: Table, right: Table) -> From:
    sides = Scope([left]), Scope([right])
    keys, merged = [], {}
    for each in join.args["using"]:
        identifier = each.this if isinstance(each, ast.Column) else each
        column = ast.Column(this=identifier)
        pair = sides[0].column(column), sides[1].column(column)
        if pair[0].type != pair[1].type:
            unsupported(join, "USING of columns of different types", "write ON with a cast")
        keys.append(pair)
        merged[folded(identifier)] = pair[0].index
    return From(Scope([left, right], merged), tuple(keys))


def _conjuncts(condition: Expression) -> Sequence[Expression]:
    return condition.operands if isinstance(condition, And) else (condition,)


def _split(
    conditions: Sequence[Expression], scope: Scope
) -> tuple[list[tuple[Expression, Expression]], list[Expression]]:
    """Sort conditions into pairs of keys, one of each input, and the others."""
    if len(scope.tables) < 2:
        return [], list(conditions)
    border = scope.tables[1].first
    keys, others = [], []
    for condition in conditions:
        pair = _key(condition, border)
        if pair:
            keys.append(pair)
        else:
            others.append(condition)
    return keys, others


def _key(condition: Expression, border: int) -> tuple[Expression, Expression] | None:
    if not isinstance(condition, Call) or condition.function != "equal":
        return None
    left, right = condition.arguments
    if left.type != right.type:
        return None
    sides = [{each.index >= border for each in columns_of(operand)} for operand in (left, right)]
    if sides == [{False}, {True}]:
        return left, right
    return (right, left) if sides == [{True}, {False}] else None
