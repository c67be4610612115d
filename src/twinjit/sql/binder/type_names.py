"""Names of types in CAST, and what CAST is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlglot import expressions as ast

from twinjit.sql.binder.open_types import Open, resolve
from twinjit.sql.binder.places import refuse, unsupported
from twinjit.sql.binder.promotion import can_cast, converted
from twinjit.sql.tree import Call, Constant, Expression
from twinjit.sql.types import (
    BOOL,
    DATE,
    FLOAT4,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    INTEGERS,
    TEXT,
    SqlType,
    numeric,
    timestamp,
)

__all__ = ["TypeName", "cast_to", "type_of_name"]


@dataclass(frozen=True)
class TypeName:
    """A type that a query names.

    Attributes
    ----------
    precision
        Of numeric(p, s): how many digits a value may have; None for as many as there are.
    has_scale
        Whether it is a numeric whose digits behind the point were named.
    """

    type: SqlType
    precision: int | None = None
    has_scale: bool = True


_TYPES: Final = {
    "BOOLEAN": BOOL,
    "SMALLINT": INT2,
    "INT": INT4,
    "BIGINT": INT8,
    "FLOAT": FLOAT4,
    "DOUBLE": FLOAT8,
    "DATE": DATE,
    "TEXT": TEXT,
    "TIMESTAMP": timestamp(),
    "TIMESTAMPNTZ": timestamp(),
}


def type_of_name(node: ast.DataType) -> TypeName:
    """Read a type's name.

    Raises
    ------
    QueryError
        If it is none that is supported.
    """
    name = node.this.name if hasattr(node.this, "name") else str(node.this)
    sizes = [each.this for each in node.expressions]
    if name == "DECIMAL":
        return _numeric(node, sizes)
    if name == "VARCHAR" and not sizes:
        return TypeName(TEXT)
    written = node.sql(dialect="postgres").lower()
    if name == "TIMESTAMP" and sizes and sizes[0].name != "6":
        unsupported(node, f"type {written}", "use date_trunc")
    if name not in _TYPES or (sizes and name != "TIMESTAMP"):
        unsupported(node, f"type {written}")
    return TypeName(_TYPES[name])


def _numeric(node: ast.DataType, sizes: list[ast.Expr]) -> TypeName:
    if not sizes:
        return TypeName(numeric(0), has_scale=False)
    numbers = [each.name for each in sizes]
    if not all(each.isdigit() for each in numbers):
        unsupported(node, f"numeric({', '.join(numbers)})", "write whole numbers from 0 to 38")
    precision, scale = int(numbers[0]), int(numbers[1]) if len(numbers) > 1 else 0
    if not 1 <= precision <= 38 or scale > precision:
        unsupported(
            node, f"numeric({precision},{scale})", "write at most 38 digits, of which some follow"
        )
    return TypeName(numeric(scale), precision)


def cast_to(node: ast.Expr, operand: Expression | Open, name: TypeName) -> Expression:
    """Bind CAST.

    Raises
    ------
    QueryError
        If there is no such conversion, or a literal is no value of the type.
    """
    type_ = name.type
    if isinstance(operand, Open):
        operand = resolve(operand, type_)
    if type_.kind == "timestamp" and operand.type.kind == "timestamp":
        return operand  # whatever it counts, it is one
    if type_.kind == "numeric" and not name.has_scale:
        return _plain_numeric(node, operand)
    if not can_cast(operand.type, type_):
        refuse(node, "42846", f"cannot cast type {operand.type} to {type_}")
    result = converted(operand, type_)
    if name.precision is None or name.precision == 38:
        return result
    return Call("numeric_limit", (result, Constant(name.precision, INT4)), type_)


def _plain_numeric(node: ast.Expr, operand: Expression) -> Expression:
    if operand.type.kind == "numeric":
        return operand
    if operand.type.kind in INTEGERS:
        return converted(operand, numeric(0))
    return unsupported(
        node,
        f"a cast of {operand.type} to numeric without a scale",
        "say how many digits follow, as in numeric(38,10)",
    )
