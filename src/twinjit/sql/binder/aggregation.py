"""Aggregate functions, and what a query may say of groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlglot import expressions as ast

from twinjit.sql.binder.expressions import Binder
from twinjit.sql.binder.open_types import Open, Parameters, resolve
from twinjit.sql.binder.operators import QUOTIENT_SCALE
from twinjit.sql.binder.places import refuse, unsupported
from twinjit.sql.binder.promotion import NUMBERS
from twinjit.sql.binder.scope import Scope
from twinjit.sql.plan import Aggregate, AggregateFunction
from twinjit.sql.rewriting import map_operands
from twinjit.sql.tree import Column, Expression
from twinjit.sql.types import BOOL, FLOAT8, INT8, INTEGERS, TEXT, SqlType, numeric

__all__ = ["Aggregates", "Groups"]


@dataclass(frozen=True)
class _Result:
    """Stands for the result of an aggregate until the groups' columns are counted."""

    index: int
    type: SqlType


_FUNCTIONS: Final[dict[type[ast.Expr], AggregateFunction]] = {
    ast.Sum: "sum",
    ast.Count: "count",
    ast.Min: "min",
    ast.Max: "max",
    ast.Avg: "avg",
    ast.LogicalAnd: "bool_and",
    ast.LogicalOr: "bool_or",
}


class Aggregates:
    """Collects the aggregates of a query.

    Equal ones are computed once.
    """

    def __init__(self, scope: Scope, parameters: Parameters) -> None:
        self._scope = scope
        self._parameters = parameters
        self.found: list[Aggregate] = []

    def bind(self, node: ast.Expr) -> Expression:
        """Bind a call; give what stands for its result until `in_groups`.

        Raises
        ------
        QueryError
            If it is not supported, or there is no such aggregate of this type.
        """
        condition = None
        if isinstance(node, ast.Filter):
            inner = Binder(self._scope, self._parameters, clause="FILTER")
            condition = inner.condition(node.expression.this, "FILTER")
            node = node.this
        name: AggregateFunction | None = (
            "bool_and" if isinstance(node, ast.Anonymous) else _FUNCTIONS.get(type(node))
        )
        if name is None:
            unsupported(node, f"the aggregate {node.key}")
        argument, is_distinct = self._argument(node)
        type_ = _type_of(node, name, argument)
        if name in ("min", "max", "bool_and", "bool_or"):
            is_distinct = False  # which changes nothing of these
        aggregate = Aggregate(name, argument, is_distinct, condition, type_)
        if aggregate not in self.found:
            self.found.append(aggregate)
        return _Result(self.found.index(aggregate), type_)  # type: ignore[return-value]  # for now

    def _argument(self, node: ast.Expr) -> tuple[Expression | None, bool]:
        arguments = node.expressions if isinstance(node, ast.Anonymous) else [node.this]
        is_distinct = isinstance(arguments[0], ast.Distinct) if arguments else False
        if is_distinct:
            arguments = arguments[0].expressions
        if (
            isinstance(node, ast.Count)
            and len(arguments) == 1
            and isinstance(arguments[0], ast.Star)
        ):
            return None, False
        more = [] if isinstance(node, ast.Anonymous) else node.expressions
        if len(arguments) != 1 or more or arguments[0] is None:
            refuse(node, "42883", f"{node.sql(dialect='postgres')}: give one argument")
        if isinstance(arguments[0], ast.Order):
            unsupported(node, "ORDER BY in an aggregate")
        binder = Binder(self._scope, self._parameters, clause="an aggregate function call")
        found = binder.bind_operand(arguments[0])
        if isinstance(found, Open) and not isinstance(node, ast.Count):
            refuse(node, "42725", f"function {node.key}(unknown) is not unique: add a cast")
        return resolve(found, TEXT), is_distinct


def _type_of(node: ast.Expr, name: AggregateFunction, argument: Expression | None) -> SqlType:
    if argument is None or name == "count":
        return INT8
    type_ = argument.type
    kind = type_.kind
    is_taken = {
        "sum": kind in NUMBERS,
        "avg": kind in NUMBERS,
        "bool_and": kind == "bool",
        "bool_or": kind == "bool",
    }.get(name, kind != "bool")
    if not is_taken:
        refuse(node, "42883", f"function {name}({type_}) does not exist")
    if name in ("bool_and", "bool_or"):
        return BOOL
    if name == "sum" and kind in INTEGERS:
        return numeric(0) if kind == "int8" else INT8
    if name == "avg":
        is_float = kind in ("float4", "float8")
        return FLOAT8 if is_float else numeric(max(QUOTIENT_SCALE, type_.scale))
    return type_


class Groups:
    """What expressions over groups may read.

    Parameters
    ----------
    keys
        Of GROUP BY.
    """

    def __init__(self, keys: Sequence[Expression], scope: Scope) -> None:
        self.keys = tuple(keys)
        self._scope = scope

    def over(self, expression: Expression, node: ast.Expr) -> Expression:
        """Have an expression read groups: the keys, then the aggregates.

        Raises
        ------
        QueryError
            If it reads a column that differs within groups.
        """

        def change(part: Any) -> Any:
            if part in self.keys:
                return Column(self.keys.index(part), part.type)
            if isinstance(part, _Result):
                return Column(len(self.keys) + part.index, part.type)
            if isinstance(part, Column):
                refuse(
                    node,
                    "42803",
                    f'column "{self._scope.name_of(part.index)}" must appear in the GROUP BY '
                    "clause or be used in an aggregate function",
                )
            return map_operands(part, change)

        found: Expression = change(expression)
        return found
