"""Queries as plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
from sqlglot import expressions as ast

from twinjit.sql.binder.aggregation import Aggregates, Groups
from twinjit.sql.binder.depth import check_depth, expressions_of, refusing_depth
from twinjit.sql.binder.expressions import Binder, is_aggregate
from twinjit.sql.binder.open_types import Open, Parameters, resolve
from twinjit.sql.binder.parsing import parse_expression, parse_select
from twinjit.sql.binder.places import refuse, unsupported
from twinjit.sql.binder.scope import Scope, Table, folded
from twinjit.sql.binder.simplify import simplified, simplified_plan
from twinjit.sql.binder.tables import From, bind_from
from twinjit.sql.binder.used_columns import over_used_columns
from twinjit.sql.plan import Order, Plan
from twinjit.sql.tree import And, Expression
from twinjit.sql.types import BOOL, INT8, INTEGERS, SqlType

__all__ = ["bind_expression", "bind_query"]

_CLAUSES = frozenset(
    (
        *("expressions", "from", "from_", "joins", "where", "group", "having", "order", "limit"),
        *("offset", "distinct", "kind", "hint"),
    )
)


@refusing_depth
def bind_query(
    text: str, schemas: Mapping[str, pa.Schema], parameters: Sequence[SqlType] | None = None
) -> Plan:
    """Plan a query.

    Parameters
    ----------
    schemas
        Of its tables, by name.
    parameters
        The types of ``$1``, ``$2`` …; None to find them out.

    Raises
    ------
    QueryError
        If it is no SELECT, names what there is not, has operands of wrong types, or anything that
        is not supported.
    """
    select = parse_select(text)
    for name, value in select.args.items():
        if value and name not in _CLAUSES:
            unsupported(select, name.rstrip("_").upper().replace("_", " "))
    plan = _QueryBinder(select, schemas, Parameters(parameters)).plan()
    for expression in expressions_of(plan):
        check_depth(expression)
    return plan


@refusing_depth
def bind_expression(
    text: str, schema: pa.Schema, parameters: Sequence[SqlType] | None = None
) -> tuple[Expression, tuple[SqlType, ...]]:
    """Bind an expression over the columns of a schema, which it counts from 0.

    Returns
    -------
    expression, types
        The types are those of its parameters.

    Raises
    ------
    QueryError
        As for `bind_query`.
    """
    scope = Scope([Table("", "", schema, 0)])
    found = Parameters(parameters)
    expression = Binder(scope, found).bind(parse_expression(text))
    simple = simplified(expression)
    check_depth(simple)
    return simple, found.types()


@dataclass(frozen=True)
class _Output:
    name: str
    node: ast.Expr
    expression: Expression  # before groups are counted


class _QueryBinder:
    def __init__(
        self, select: ast.Select, schemas: Mapping[str, pa.Schema], parameters: Parameters
    ) -> None:
        self._select = select
        self._parameters = parameters
        self._from: From = bind_from(select, schemas, parameters)
        self._scope = self._from.scope
        self._aggregates = Aggregates(self._scope, parameters)
        self._binder = Binder(self._scope, parameters, self._aggregates.bind)

    def plan(self) -> Plan:
        """Make the plan."""
        where = self._where()
        outputs = list(self._outputs())
        keys = self._keys(outputs)
        having = self._having()
        order, hidden = self._order(outputs)
        outputs += hidden
        groups = Groups(keys, self._scope)
        aggregates = self._is_aggregating(keys, having)
        final = [
            (each.name, groups.over(each.expression, each.node) if aggregates else each.expression)
            for each in outputs
        ]
        plan = Plan(
            inputs=(),
            join=None,
            where=where,
            keys=groups.keys if aggregates else None,
            aggregates=tuple(self._aggregates.found),
            having=groups.over(having, self._select.args["having"]) if having else None,
            outputs=tuple(final),
            hidden=len(hidden),
            is_distinct=self._is_distinct(hidden),
            order=tuple(order),
            limit=self._bound("limit"),
            offset=self._bound("offset"),
            parameters=(),
        )
        plan = over_used_columns(plan, self._from)
        return simplified_plan(replace(plan, parameters=self._parameters.types()))

    def _is_aggregating(self, keys: Sequence[Expression], having: Expression | None) -> bool:
        return bool(self._select.args.get("group") or self._aggregates.found or keys or having)

    def _is_distinct(self, hidden: Sequence[_Output]) -> bool:
        distinct = self._select.args.get("distinct")
        if distinct and distinct.args.get("on"):
            unsupported(distinct, "DISTINCT ON")
        if distinct and hidden:
            refuse(
                hidden[0].node,
                "42P10",
                "for SELECT DISTINCT, ORDER BY expressions must appear in select list",
            )
        return bool(distinct)

    def _where(self) -> Expression | None:
        clause = self._select.args.get("where")
        conditions = list(self._from.conditions)
        if clause:
            binder = Binder(self._scope, self._parameters, clause="WHERE")
            found = binder.condition(clause.this, "WHERE")
            conditions += found.operands if isinstance(found, And) else [found]
        self._from, conditions = self._from.with_where(conditions)
        if self._from.is_join and not self._from.keys:
            unsupported(self._select.args["joins"][0], "a join without equal keys")
        if len(conditions) < 2:
            return conditions[0] if conditions else None
        return And(tuple(conditions), BOOL)

    def _outputs(self) -> Iterator[_Output]:
        if not self._select.expressions:
            unsupported(self._select, "a query without output columns")
        for node in self._select.expressions:
            inner = node.this if isinstance(node, ast.Alias) else node
            is_star = isinstance(inner, ast.Column) and isinstance(inner.this, ast.Star)
            if is_star or isinstance(inner, ast.Star):
                table = inner.args.get("table") if is_star else None
                alias = folded(table) if table is not None else None
                for name, column in self._scope.expanded(inner, alias):
                    yield _Output(name, inner, column)
                continue
            name = folded(node.args["alias"]) if inner is not node else _name_of(inner)
            yield _Output(name, inner, self._binder.bind(inner))

    def _keys(self, outputs: Sequence[_Output]) -> list[Expression]:
        clause = self._select.args.get("group")
        if not clause:
            return []
        for name, value in clause.args.items():
            if value and name != "expressions":
                unsupported(clause, name.rstrip("_").upper().replace("_", " "))
        keys: list[Expression] = []
        for node in clause.expressions:
            key = self._key(node, outputs)
            if key not in keys:
                keys.append(key)
        return keys

    def _key(self, node: ast.Expr, outputs: Sequence[_Output]) -> Expression:
        binder = Binder(self._scope, self._parameters, clause="GROUP BY")
        found = _ordinal(node, outputs, "GROUP BY")
        if found is None and _plain_name(node) is not None:
            is_column = any(_plain_name(node) in table.schema.names for table in self._scope.tables)
            found = None if is_column else _by_name(node, outputs)
        if found is None:
            return binder.bind(node)
        if any(is_aggregate(each) for each in found.node.walk()):
            refuse(node, "42803", "aggregate functions are not allowed in GROUP BY")
        return found.expression

    def _having(self) -> Expression | None:
        clause = self._select.args.get("having")
        return self._binder.condition(clause.this, "HAVING") if clause else None

    def _order(self, outputs: Sequence[_Output]) -> tuple[list[Order], list[_Output]]:
        clause = self._select.args.get("order")
        orders: list[Order] = []
        hidden: list[_Output] = []
        for each in clause.expressions if clause else ():
            if not isinstance(each, ast.Ordered) or each.args.get("with_fill"):
                unsupported(each, "this ORDER BY")
            found = _ordinal(each.this, outputs, "ORDER BY") or _by_name(each.this, outputs)
            found = found or _Output("", each.this, self._binder.bind(each.this))
            expressions = [output.expression for output in (*outputs, *hidden)]
            if found.expression not in expressions:
                hidden.append(found)
                expressions.append(found.expression)
            index = expressions.index(found.expression)
            is_descending = bool(each.args.get("desc"))
            orders.append(Order(index, is_descending, bool(each.args.get("nulls_first"))))
        return orders, hidden

    def _bound(self, clause: str) -> Expression | None:
        node = self._select.args.get(clause)
        if node is None:
            return None
        if not isinstance(node, (ast.Limit, ast.Offset)) or node.args.get("expressions"):
            unsupported(node, "FETCH", "write LIMIT")
        value = node.expression
        if isinstance(value, ast.Null) or (isinstance(value, ast.Column) and value.name == "ALL"):
            return None
        found = Binder(Scope([]), self._parameters, clause=clause.upper()).bind_operand(value)
        resolved = resolve(found, INT8) if isinstance(found, Open) else found
        if resolved.type.kind not in INTEGERS:
            unsupported(node, f"{clause.upper()} of type {resolved.type}", "write a whole number")
        return resolved


def _ordinal(node: ast.Expr, outputs: Sequence[_Output], clause: str) -> _Output | None:
    if not isinstance(node, ast.Literal):
        return None
    if node.args.get("is_string") or not node.name.isdigit():
        refuse(node, "42601", f"non-integer constant in {clause}")
    if not 1 <= int(node.name) <= len(outputs):
        refuse(node, "42P10", f"{clause} position {node.name} is not in select list")
    return outputs[int(node.name) - 1]


def _plain_name(node: ast.Expr) -> str | None:
    is_plain = isinstance(node, ast.Column) and not node.args.get("table")
    return folded(node.this) if is_plain else None


def _by_name(node: ast.Expr, outputs: Sequence[_Output]) -> _Output | None:
    name = _plain_name(node)
    found = [each for each in outputs if name is not None and each.name == name]
    if len({each.expression for each in found}) > 1:
        refuse(node, "42702", f'"{name}" is ambiguous')
    return found[0] if found else None


def _name_of(node: ast.Expr) -> str:
    """Give the name that PostgreSQL gives a column without an alias."""
    while isinstance(node, (ast.Paren, ast.Filter)):
        node = node.this
    if isinstance(node, ast.Column):
        return folded(node.this)
    if isinstance(node, ast.Cast):
        inner = _name_of(node.this)
        return inner if inner != "?column?" else _type_word(node)
    if isinstance(node, ast.Case):
        return "case"
    if isinstance(node, ast.Anonymous):
        return str(node.name.lower())
    if type(node) in _NAMES:
        return _NAMES[type(node)]
    if isinstance(node, (ast.Binary, ast.Unary)) or not isinstance(node, ast.Func):
        return "?column?"
    return str(node.sql_name().lower())


_NAMES: Final[dict[type[ast.Expr], str]] = {
    ast.LogicalAnd: "bool_and",
    ast.LogicalOr: "bool_or",
    ast.TimestampTrunc: "date_trunc",
}


def _type_word(node: ast.Cast) -> str:
    words = {
        "SMALLINT": "int2",
        "INT": "int4",
        "BIGINT": "int8",
        "FLOAT": "float4",
        "DOUBLE": "float8",
        "DECIMAL": "numeric",
        "BOOLEAN": "bool",
    }
    name = str(node.args["to"].this.name)
    return words.get(name, name.lower())
