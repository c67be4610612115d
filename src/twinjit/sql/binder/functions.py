"""Functions other than aggregates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NoReturn

from sqlglot import expressions as ast

from twinjit.sql.binder.open_types import Open, resolve
from twinjit.sql.binder.places import refuse, unsupported
from twinjit.sql.binder.promotion import NUMBERS, converted
from twinjit.sql.tree import Call, Constant, Expression
from twinjit.sql.types import (
    BOOL,
    DATE,
    FLOAT8,
    INT4,
    INTEGERS,
    TEXT,
    SqlType,
    numeric,
    timestamp,
)

if TYPE_CHECKING:
    from twinjit.sql.binder.expressions import Binder

__all__ = ["bind_function"]

_Bind = Callable[["Binder", ast.Expr], Expression]


def bind_function(binder: Binder, node: ast.Expr) -> Expression:
    """Bind a call.

    Raises
    ------
    QueryError
        If there is no such function for arguments of these types, or it is not supported.
    """
    bind = _FUNCTIONS.get(type(node))
    if bind:
        return bind(binder, node)
    if isinstance(node, ast.Anonymous):
        refuse(node, "42883", f"function {node.name.lower()} does not exist, or is not supported")
    if isinstance(node, ast.Star):
        unsupported(node, "* in an expression")
    return unsupported(node, node.sql(dialect="postgres"))


def _name(node: ast.Expr) -> str:
    return node.sql_name().lower() if isinstance(node, ast.Func) else node.key


def _none(node: ast.Expr, arguments: Sequence[Expression], name: str = "") -> NoReturn:
    types = ", ".join(
        "numeric" if each.type.kind == "numeric" else str(each.type) for each in arguments
    )
    refuse(node, "42883", f"function {name or _name(node)}({types}) does not exist")


def _text(binder: Binder, node: ast.Expr) -> Expression:
    return resolve(binder.bind_operand(node), TEXT)


def _float8(binder: Binder, node: ast.Expr, operand: ast.Expr) -> Expression:
    """Bind an argument of a function that PostgreSQL has for double precision and numeric."""
    found = resolve(binder.bind_operand(operand), FLOAT8)
    if found.type.kind not in NUMBERS:
        return _none(node, [found])
    if found.type.kind == "numeric":
        unsupported(node, f"{_name(node)} of numeric", "cast to double precision")
    return converted(found, FLOAT8)


def _of_float8(function: str) -> _Bind:
    return lambda binder, node: Call(function, (_float8(binder, node, node.this),), FLOAT8)


def _of_text(function: str, type_: SqlType) -> _Bind:
    def bind(binder: Binder, node: ast.Expr) -> Expression:
        operand = _text(binder, node.this)
        if operand.type != TEXT:
            return _none(node, [operand], function)
        return Call(function, (operand,), type_)

    return bind


def _absolute(binder: Binder, node: ast.Expr) -> Expression:
    operand = resolve(binder.bind_operand(node.this), FLOAT8)
    if operand.type.kind not in NUMBERS:
        return _none(node, [operand])
    return Call("abs", (operand,), operand.type)


def _rounding(function: str) -> _Bind:
    """Bind floor, ceil, round and trunc: of integers, PostgreSQL takes them for floats."""

    def bind(binder: Binder, node: ast.Expr) -> Expression:
        operand = resolve(binder.bind_operand(node.this), FLOAT8)
        if operand.type.kind not in NUMBERS:
            return _none(node, [operand], function)
        digits = node.args.get("decimals")
        if isinstance(digits, ast.Expr):
            return _rounded(binder, node, function, operand, digits)
        if operand.type.kind == "numeric":
            return Call(function, (operand,), numeric(0))
        return Call(function, (converted(operand, FLOAT8),), FLOAT8)

    return bind


def _rounded(
    binder: Binder, node: ast.Expr, function: str, operand: Expression, digits: ast.Expr
) -> Expression:
    places = resolve(binder.bind_operand(digits), INT4)
    if operand.type.kind in INTEGERS:
        operand = converted(operand, numeric(0))
    if operand.type.kind != "numeric" or places.type.kind not in ("int2", "int4"):
        return _none(node, [operand, places], function)
    if not isinstance(places, Constant) or not isinstance(places.value, int):
        unsupported(node, f"{function} to a number of digits that is no constant")
    if not 0 <= places.value <= 38:
        unsupported(node, f"{function} to {places.value} digits", "0 to 38 are")
    return Call(function, (operand,), numeric(places.value))


def _substring(binder: Binder, node: ast.Expr) -> Expression:
    text = _text(binder, node.this)
    bounds = [
        resolve(binder.bind_operand(each), INT4)
        for each in (node.args.get("start"), node.args.get("length"))
        if each is not None
    ]
    are_whole = all(each.type.kind in ("int2", "int4") for each in bounds)
    if text.type != TEXT or not bounds or not are_whole:
        return _none(node, [text, *bounds], "substring")
    return Call("substring", (text, *(converted(each, INT4) for each in bounds)), TEXT)


def _like(function: str) -> _Bind:
    def bind(binder: Binder, node: ast.Expr) -> Expression:
        return _matched(binder, node, function, Constant(b"\\", TEXT))

    return bind


def _matched(binder: Binder, node: ast.Expr, function: str, escape: Expression) -> Expression:
    operands = _text(binder, node.this), _text(binder, node.expression)
    if any(each.type != TEXT for each in (*operands, escape)):
        symbol = "~~" if function == "like" else "~~*"
        names = [str(each.type) for each in operands]
        refuse(node, "42883", f"operator does not exist: {names[0]} {symbol} {names[1]}")
    found = Call(function, (*operands, escape), BOOL)
    return Call("not", (found,), BOOL) if node.args.get("negate") else found


def _escape(binder: Binder, node: ast.Expr) -> Expression:
    pattern = node.this
    function = {ast.Like: "like", ast.ILike: "ilike"}.get(type(pattern))
    if not function:
        unsupported(node, "ESCAPE here")
    return _matched(binder, pattern, function, _text(binder, node.expression))


_EVERYWHERE = (
    *("year", "month", "day", "quarter", "week", "isoyear", "dow", "isodow", "doy"),
    *("decade", "century", "millennium", "epoch"),
)
# With how many digits behind the point each is given.
_FIELDS_OF_DATES: Final = {**dict.fromkeys(_EVERYWHERE, 0), "julian": 0}
_FIELDS_OF_TIMES: Final = {
    **dict.fromkeys(_EVERYWHERE, 0),
    "epoch": 6,
    "hour": 0,
    "minute": 0,
    "second": 6,
    "milliseconds": 3,
    "microseconds": 0,
}
_OTHER_NAMES: Final = {
    "dayofweek": "dow",
    "dayofyear": "doy",
    "dayofweekiso": "isodow",
    "weekofyear": "week",
    "weekiso": "week",
    "yearofweekiso": "isoyear",
    "millisecond": "milliseconds",
    "microsecond": "microseconds",
}


def _field(node: ast.Expr) -> str:
    name = node.name.lower()
    return _OTHER_NAMES.get(name, name)


def _extract(binder: Binder, node: ast.Expr) -> Expression:
    operand = binder.bind_operand(node.expression)
    field = _field(node.this)
    if isinstance(operand, Open):
        refuse(node, "42725", "function extract(unknown) is not unique: add a cast")
    if operand.type.kind not in ("date", "timestamp"):
        return _none(node, [operand], "extract")
    known = _FIELDS_OF_DATES if operand.type.kind == "date" else _FIELDS_OF_TIMES
    if field not in known:
        is_any = field in _FIELDS_OF_TIMES or field in _FIELDS_OF_DATES
        refuse(
            node,
            "0A000" if is_any else "22023",
            f'unit "{field}" not {"supported" if is_any else "recognized"} for type {operand.type}',
        )
    return Call("extract", (Constant(field.encode(), TEXT), operand), numeric(known[field]))


_TRUNCATIONS: Final = frozenset(
    (
        *("microseconds", "milliseconds", "second", "minute", "hour", "day", "week", "month"),
        *("quarter", "year", "decade", "century", "millennium"),
    )
)


def _truncation(binder: Binder, node: ast.Expr) -> Expression:
    operand = resolve(binder.bind_operand(node.this), timestamp())
    if operand.type == DATE:
        unsupported(node, "date_trunc of a date", "cast it to timestamp")
    if operand.type.kind != "timestamp":
        return _none(node, [operand], "date_trunc")
    field = _field(node.args["unit"])
    if field not in _TRUNCATIONS:
        refuse(node, "22023", f'unit "{field}" not recognized for type {operand.type}')
    return Call("date_trunc", (Constant(field.encode(), TEXT), operand), operand.type)


_FUNCTIONS: Final[dict[type[ast.Expr], _Bind]] = {
    ast.Abs: _absolute,
    ast.Floor: _rounding("floor"),
    ast.Ceil: _rounding("ceil"),
    ast.Round: _rounding("round"),
    ast.Trunc: _rounding("trunc"),
    ast.Sqrt: _of_float8("sqrt"),
    ast.Exp: _of_float8("exp"),
    ast.Ln: _of_float8("ln"),
    ast.Length: _of_text("length", INT4),
    ast.Lower: _of_text("lower", TEXT),
    ast.Upper: _of_text("upper", TEXT),
    ast.Substring: _substring,
    ast.Like: _like("like"),
    ast.ILike: _like("ilike"),
    ast.Escape: _escape,
    ast.Extract: _extract,
    ast.TimestampTrunc: _truncation,
}
