"""Expressions of the syntax tree as typed ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from sqlglot import expressions as ast

from twinjit.sql.binder.intervals import Interval, interval
from twinjit.sql.binder.literals import number
from twinjit.sql.binder.open_types import Open, Parameters, resolve
from twinjit.sql.binder.operators import combine, compare, negate
from twinjit.sql.binder.places import refuse, unsupported
from twinjit.sql.binder.promotion import common_type, converted
from twinjit.sql.binder.scope import Scope
from twinjit.sql.binder.type_names import cast_to, type_of_name
from twinjit.sql.tree import (
    And,
    BooleanTest,
    Call,
    Case,
    Coalesce,
    Constant,
    Expression,
    Extreme,
    IsDistinct,
    IsNull,
    NullIf,
    Or,
)
from twinjit.sql.types import BOOL, FLOATS, INTEGERS, TEXT

__all__ = ["AggregateBinder", "Binder", "is_aggregate"]

AggregateBinder = Callable[[ast.Expr], Expression]
"""Binds a call of an aggregate function, as what stands for its result."""

_COMPARISONS: Final[dict[type[ast.Expr], str]] = {
    ast.EQ: "equal",
    ast.NEQ: "not_equal",
    ast.LT: "less",
    ast.LTE: "less_equal",
    ast.GT: "greater",
    ast.GTE: "greater_equal",
}
_OPERATORS: Final[dict[type[ast.Expr], str]] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mul: "multiply",
    ast.Div: "divide",
    ast.Mod: "modulo",
    ast.Pow: "power",
    ast.DPipe: "concat",
}
Bound = Expression | Open | Interval


class Binder:
    """Makes typed expressions.

    Parameters
    ----------
    scope
        What columns there are.
    aggregates
        Binds calls of aggregate functions; None where there can be none.
    clause
        Where the expression stands, for that message: ``WHERE`` …
    """

    def __init__(
        self,
        scope: Scope,
        parameters: Parameters,
        aggregates: AggregateBinder | None = None,
        clause: str = "",
    ) -> None:
        self.scope = scope
        self.parameters = parameters
        self._aggregates = aggregates
        self._clause = clause

    def bind(self, node: ast.Expr) -> Expression:
        """Bind an expression; what stays open is a text.

        Raises
        ------
        QueryError
            If it cannot be, or is not supported.
        """
        found = self.bind_operand(node)
        return resolve(found, TEXT)

    def bind_operand(self, node: ast.Expr) -> Expression | Open:
        """Bind an expression that its surroundings may give a type."""
        found = self._bound(node)
        if isinstance(found, Interval):
            unsupported(node, "a value of type interval", "use it with + and - alone")
        return found

    def condition(self, node: ast.Expr, what: str) -> Expression:
        """Bind what must be of type boolean: the argument of `what`."""
        found = resolve(self.bind_operand(node), BOOL)
        if found.type != BOOL:
            refuse(
                node,
                "42804",
                f"argument of {what} must be type boolean, not type {found.type}",
            )
        return found

    def _bound(self, node: ast.Expr) -> Bound:
        while isinstance(node, ast.Paren):
            node = node.this
        if is_aggregate(node):
            return self._aggregate(node)
        if node.args.get("negate") and not isinstance(node, (ast.Is, ast.Like, ast.ILike)):
            unsupported(node, f"the negation of {node.key.upper()} in this form", "write NOT (…)")
        bind = _BINDERS.get(type(node))
        if bind:
            return bind(self, node)
        if type(node) in _COMPARISONS:
            return self._comparison(_COMPARISONS[type(node)], node)
        if type(node) in _OPERATORS:
            operands = self._bound(node.this), self._bound(node.expression)
            return combine(node, _OPERATORS[type(node)], *operands)
        from twinjit.sql.binder.functions import bind_function

        return bind_function(self, node)

    def _aggregate(self, node: ast.Expr) -> Expression:
        if self._aggregates is None:
            where = f" in {self._clause}" if self._clause else " here"
            refuse(node, "42803", f"aggregate functions are not allowed{where}")
        return self._aggregates(node)

    def _comparison(self, name: str, node: ast.Expr) -> Expression:
        return compare(node, name, self.bind_operand(node.this), self.bind_operand(node.expression))

    def matched(
        self, node: ast.Expr, what: str, operands: Sequence[Expression | Open]
    ) -> list[Expression]:
        """Convert operands to their common type, as CASE does with its results."""
        types = [each.type for each in operands if not isinstance(each, Open)]
        type_ = common_type(types) if types else TEXT
        if type_ is None:
            names = sorted({str(each) for each in types})
            refuse(node, "42804", f"{what} types {' and '.join(names)} cannot be matched")
        return [converted(resolve(each, type_), type_) for each in operands]

    # One for each kind of node.

    def _literal(self, node: ast.Expr) -> Bound:
        if node.args.get("is_string"):
            return Open(node, self.parameters, text=node.this)
        return number(node.this)

    def _null(self, node: ast.Expr) -> Bound:
        return Open(node, self.parameters)

    def _boolean(self, node: ast.Expr) -> Bound:
        return Constant(bool(node.this), BOOL)

    def _parameter(self, node: ast.Parameter) -> Bound:
        return self.parameters.find(node)

    def _column(self, node: ast.Column) -> Bound:
        return self.scope.column(node)

    def _interval(self, node: ast.Interval) -> Bound:
        return interval(node)

    def _negation(self, node: ast.Expr) -> Bound:
        return negate(node, self._bound(node.this))

    def _not(self, node: ast.Expr) -> Bound:
        return Call("not", (self.condition(node.this, "NOT"),), BOOL)

    def _and(self, node: ast.Expr) -> Bound:
        operands = [self.condition(each, "AND") for each in _chain(node, ast.And)]
        return And(tuple(operands), BOOL)

    def _or(self, node: ast.Expr) -> Bound:
        operands = [self.condition(each, "OR") for each in _chain(node, ast.Or)]
        return Or(tuple(operands), BOOL)

    def _cast(self, node: ast.Cast) -> Bound:
        name = type_of_name(node.args["to"])
        is_float = name.type.kind in FLOATS
        literal = node.this.unnest()
        if isinstance(literal, ast.Literal) and (literal.args.get("is_string") or is_float):
            # A number, too: a float may have more digits before the point than numerics.
            found: Expression | Open = Open(literal, self.parameters, text=literal.this)
        else:
            found = self.bind_operand(node.this)
        return cast_to(node, found, name)

    def _is(self, node: ast.Expr) -> Bound:
        value = node.expression
        if isinstance(value, ast.Null):
            is_null = IsNull(self.bind(node.this), BOOL)
            return Call("not", (is_null,), BOOL) if node.args.get("negate") else is_null
        if not isinstance(value, ast.Boolean):
            unsupported(node, f"IS {value.sql(dialect='postgres')}")
        what = f"IS {'TRUE' if value.this else 'FALSE'}"
        test = BooleanTest(self.condition(node.this, what), bool(value.this), BOOL)
        return Call("not", (test,), BOOL) if node.args.get("negate") else test

    def _distinct(self, node: ast.Expr) -> Bound:
        operands = self.bind_operand(node.this), self.bind_operand(node.expression)
        left, right = compare(node, "equal", *operands).arguments
        return IsDistinct(left, right, BOOL)

    def _not_distinct(self, node: ast.Expr) -> Bound:
        distinct = self._distinct(node)
        return Call("not", (distinct,), BOOL)  # type: ignore[arg-type]  # it is an expression

    def _between(self, node: ast.Expr) -> Bound:
        if node.args.get("symmetric"):
            unsupported(node, "BETWEEN SYMMETRIC")
        low = compare(node, "greater_equal", *map(self.bind_operand, (node.this, node.args["low"])))
        high = compare(node, "less_equal", *map(self.bind_operand, (node.this, node.args["high"])))
        return And((low, high), BOOL)

    def _in(self, node: ast.Expr) -> Bound:
        if node.args.get("query") or node.args.get("unnest") or not node.expressions:
            unsupported(node, "IN with a subquery", "give a list of values")
        operand = self.bind_operand(node.this)
        each = [
            compare(node, "equal", operand, self.bind_operand(value)) for value in node.expressions
        ]
        return each[0] if len(each) == 1 else Or(tuple(each), BOOL)

    def _case(self, node: ast.Expr) -> Bound:
        operand = self.bind_operand(node.this) if node.this is not None else None
        conditions, values = [], []
        for branch in node.args["ifs"]:
            if operand is None:
                conditions.append(self.condition(branch.this, "CASE/WHEN"))
            else:
                value = self.bind_operand(branch.this)
                conditions.append(compare(branch, "equal", operand, value))
            values.append(self.bind_operand(branch.args["true"]))
        default = node.args.get("default")
        last = Open(node, self.parameters) if default is None else self.bind_operand(default)
        *values_, otherwise = self.matched(node, "CASE", [*values, last])
        branches = tuple(zip(conditions, values_, strict=True))
        return Case(branches, otherwise, otherwise.type)

    def _coalesce(self, node: ast.Expr) -> Bound:
        nodes = [node.this, *node.expressions]
        operands = self.matched(node, "COALESCE", list(map(self.bind_operand, nodes)))
        return Coalesce(tuple(operands), operands[0].type)

    def _extreme(self, node: ast.Expr) -> Bound:
        nodes = [node.this, *node.expressions]
        name = "GREATEST" if isinstance(node, ast.Greatest) else "LEAST"
        operands = self.matched(node, name, list(map(self.bind_operand, nodes)))
        return Extreme(
            "greatest" if name == "GREATEST" else "least", tuple(operands), operands[0].type
        )

    def _null_if(self, node: ast.Expr) -> Bound:
        left, right = self.bind_operand(node.this), self.bind_operand(node.expression)
        equal = compare(node, "equal", left, right)
        # The result is of the type that the operator takes on its left: PostgreSQL has operators of
        # two types of integers, of floats, and of moments; for others, the operand is converted.
        operand = equal.arguments[0]
        if not isinstance(left, Open):
            other = equal.arguments[1] if isinstance(right, Open) else right
            kinds = {left.type.kind, other.type.kind}
            families = (INTEGERS, FLOATS, ("date", "timestamp"))
            is_whole = left.type.kind in FLOATS or len(kinds) == 1
            if is_whole or any(kinds <= set(family) for family in families):
                operand = left
        return NullIf(operand, equal, operand.type)


_BINDERS: Final[dict[type[ast.Expr], Callable[..., Bound]]] = {
    ast.Literal: Binder._literal,
    ast.Null: Binder._null,
    ast.Boolean: Binder._boolean,
    ast.Parameter: Binder._parameter,
    ast.Column: Binder._column,
    ast.Interval: Binder._interval,
    ast.Neg: Binder._negation,
    ast.Not: Binder._not,
    ast.And: Binder._and,
    ast.Or: Binder._or,
    ast.Cast: Binder._cast,
    ast.Is: Binder._is,
    ast.NullSafeNEQ: Binder._distinct,
    ast.NullSafeEQ: Binder._not_distinct,
    ast.Between: Binder._between,
    ast.In: Binder._in,
    ast.Case: Binder._case,
    ast.Coalesce: Binder._coalesce,
    ast.Greatest: Binder._extreme,
    ast.Least: Binder._extreme,
    ast.Nullif: Binder._null_if,
}


def is_aggregate(node: ast.Expr) -> bool:
    """Say whether a node is a call of an aggregate function."""
    if isinstance(node, ast.Anonymous):
        return bool(node.name.lower() == "every")
    return isinstance(node, (ast.AggFunc, ast.Filter))


def _chain(node: ast.Expr, kind: type[ast.Expr]) -> list[ast.Expr]:
    """Give the operands of operators of one kind in a row, from left to right."""
    found: list[ast.Expr] = []
    pending = [node]
    while pending:
        each = pending.pop()
        while isinstance(each, ast.Paren):
            each = each.this
        if type(each) is kind:
            pending += [each.expression, each.this]
        else:
            found.append(each)
    return found
