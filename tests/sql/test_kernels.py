"""Expressions and filters, interpreted and compiled."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import twinjit
from twinjit.errors import SqlError
from twinjit.sql import query
from twinjit.sql.binder import bind_query
from twinjit.sql.codegen.layout import layout_of
from twinjit.sql.codegen.program import KernelProgram
from twinjit.sql.data.scan import Morsel

pytest.importorskip("llvmlite.ir")

NULL_ARENA = 0
COMPILER = twinjit.Compiler(cache=False)
MODES: list[Any] = ["off", "force"]


def program_of(text: str, table: Any) -> KernelProgram:
    plan = bind_query(text, {"t": table.schema})
    columns = [table.column(name).combine_chunks() for name in plan.inputs[0].columns]
    arrays = tuple(each.chunk(0) if isinstance(each, pa.ChunkedArray) else each for each in columns)
    outputs = [expression for _, expression in plan.outputs]
    return KernelProgram.of(layout_of(Morsel(arrays, table.num_rows)), plan.where, outputs)


def run(text: str, table: Any, jit: Any) -> list[list[object]]:
    """Execute a query of one table, and give its columns."""
    found = query(text, t=table, jit=jit, compiler=COMPILER).to_table()
    return [each.to_pylist() for each in found.columns]


def one(expression: str, jit: Any, **columns: Any) -> object:
    """Evaluate an expression for one row."""
    table = pa.table({name: pa.array([value], type_) for name, (value, type_) in columns.items()})
    ((value,),) = run(f"SELECT {expression} FROM t", table, jit)
    return value


INT2, INT4, INT8 = pa.int16(), pa.int32(), pa.int64()
FLOAT4, FLOAT8, BOOL = pa.float32(), pa.float64(), pa.bool_()
INFINITY, NAN = math.inf, math.nan

VALUES = [
    ("a + 1", INT4, 41, 42),
    ("a - 1", INT8, -(2**63) + 1, -(2**63)),
    ("a * a", INT2, 181, 32761),
    ("a / 2", INT4, -7, -3),
    ("a % 2", INT4, -7, -1),
    ("a % (-1)", INT8, -(2**63), 0),
    ("-a", INT2, -32767, 32767),
    ("abs(a)", INT4, -5, 5),
    ("a / 0", INT4, None, None),
    ("a + 0.5::float8", FLOAT8, 1.0, 1.5),
    ("a * a", FLOAT8, INFINITY, INFINITY),
    ("a - a", FLOAT8, 7.5, 0.0),
    ("floor(a)", FLOAT8, -1.5, -2.0),
    ("round(a)", FLOAT8, 2.5, 2.0),
    ("a::int4", FLOAT8, 2.5, 2),
    ("a::int4", FLOAT8, 3.5, 4),
    ("a::int8", FLOAT8, -9223372036854775808.0, -(2**63)),
    ("a::int2", INT8, -32768, -32768),
    ("a::float4", FLOAT8, 0.1, float(np.float32(0.1))),
    ("a::int4", BOOL, True, 1),
    ("a::bool", INT4, 7, True),
    ("a = a", FLOAT8, NAN, True),
    ("a > 'Infinity'", FLOAT8, NAN, True),
    ("a < 'NaN'", FLOAT8, INFINITY, True),
    ("a <> 'NaN'", FLOAT8, NAN, False),
    ("a >= 'NaN'", FLOAT8, 1.0, False),
    ("a = 0", FLOAT8, -0.0, True),
    ("a = 0.1::float8", FLOAT4, 0.1, False),
    ("greatest(a, 1)", INT4, None, 1),
    ("least(a, 'NaN')", FLOAT8, 1.0, 1.0),
    ("coalesce(a, 3)", INT4, None, 3),
    ("nullif(a, 3)", INT4, 3, None),
    ("nullif(a, 4)", INT4, 3, 3),
    ("a is null", INT4, None, True),
    ("a is not null", INT4, None, False),
    ("a is distinct from null", INT4, None, False),
    ("a is distinct from 1", INT4, None, True),
    ("a is not true", BOOL, None, True),
    ("a is false", BOOL, False, True),
    ("a and false", BOOL, None, False),
    ("a or true", BOOL, None, True),
    ("a or false", BOOL, None, None),
    ("not a", BOOL, None, None),
    ("a not in (2, null)", INT4, 1, None),
    ("a between 7 and 3", INT4, 5, False),
    ("case when a = 0 then -1 else 5 / a end", INT4, 0, -1),
    ("case when a = 0 then 1 end", INT4, 3, None),
    ("(a > 5) and (1 / a = 1)", INT4, 0, False),
    ("a <> 0 and 10 / a > 1", INT4, 0, False),
    ("a = 0 or 10 / a > 1", INT4, 0, True),
    ("coalesce(a, 1 / (a - a))", INT4, 2, 2),
]


@pytest.mark.parametrize("jit", MODES)
@pytest.mark.parametrize(("expression", "type_", "value", "expected"), VALUES)
def test_values(expression: str, type_: Any, value: object, expected: object, jit: Any) -> None:
    found = one(expression, jit, a=(value, type_))
    assert (found, type(found)) == (expected, type(expected))


FAILURES = [
    ("a + 1", INT4, 2147483647, "22003", "integer out of range"),
    ("-a", INT2, -32768, "22003", "smallint out of range"),
    ("abs(a)", INT4, -(2**31), "22003", "integer out of range"),
    ("a / (-1)", INT8, -(2**63), "22003", "bigint out of range"),
    ("a * a", INT8, 2**32, "22003", "bigint out of range"),
    ("a - 1", INT8, -(2**63), "22003", "bigint out of range"),
    ("a / 0", INT4, 1, "22012", "division by zero"),
    ("a % 0", INT4, 1, "22012", "division by zero"),
    ("a / 0::float8", FLOAT8, 0.0, "22012", "division by zero"),
    ("a * 10", FLOAT8, 1e308, "22003", "value out of range: overflow"),
    ("a * a", FLOAT8, 1e-200, "22003", "value out of range: underflow"),
    ("a::float4", FLOAT8, 1e300, "22003", "value out of range: overflow"),
    ("a::float4", FLOAT8, 1e-300, "22003", "value out of range: underflow"),
    ("a::int4", FLOAT8, 2147483647.5, "22003", "integer out of range"),
    ("a::int4", FLOAT8, NAN, "22003", "integer out of range"),
    ("a::int2", INT4, 32768, "22003", "smallint out of range"),
    ("case when a > 0 then 1 / (a - 1) end", INT4, 1, "22012", "division by zero"),
]


@pytest.mark.parametrize("jit", MODES)
@pytest.mark.parametrize(("expression", "type_", "value", "sqlstate", "message"), FAILURES)
def test_failures(
    expression: str, type_: Any, value: object, sqlstate: str, message: str, jit: Any
) -> None:
    with pytest.raises(SqlError) as raised:
        one(expression, jit, a=(value, type_))
    assert (raised.value.sqlstate, str(raised.value)) == (sqlstate, message)


@pytest.mark.parametrize("jit", MODES)
@pytest.mark.parametrize("rows", [0, 1, 1023, 1024, 1025, 5000])
@pytest.mark.parametrize("start", [0, 1, 7, 64])
def test_filters_over_slices(rows: int, start: int, jit: Any) -> None:
    numbers = [None if n % 11 == 0 else n for n in range(rows + start)]
    flags = [None if n % 7 == 0 else n % 2 == 0 for n in range(rows + start)]
    table = pa.table({"a": pa.array(numbers, INT4), "b": pa.array(flags, BOOL)}).slice(start)
    found = run("SELECT a + 1, b FROM t WHERE a % 3 = 1 AND b IS NOT FALSE", table, jit)
    kept = [
        (a + 1, b)
        for a, b in zip(numbers[start:], flags[start:], strict=True)
        if a is not None and a % 3 == 1 and b is not False
    ]
    assert list(zip(*found, strict=True)) == kept


@pytest.mark.parametrize("jit", MODES)
def test_the_first_row_that_fails_decides(jit: Any) -> None:
    """By the condition, or by an output of a row for which it is true."""
    numbers = [1] * 2000
    numbers[1500], numbers[1200] = 0, 2147483647
    table = pa.table({"a": pa.array(numbers, INT4)})
    with pytest.raises(SqlError, match="integer out of range"):
        run("SELECT a + 1 FROM t WHERE 1 / a < 5", table, jit)
    with pytest.raises(SqlError, match="division by zero"):
        run("SELECT a + 1 FROM t WHERE 1 / a < 5 AND a < 10", table, jit)


LAYOUTS = [
    (pa.int8(), -128, -128),
    (pa.uint8(), 255, 255),
    (pa.uint16(), 65535, 65535),
    (pa.uint32(), 2**32 - 1, 2**32 - 1),
    (pa.uint64(), 2**64 - 1, Decimal(2**64 - 1)),
    (pa.decimal128(38, 2), Decimal("-123456789012345678901234567890123456.78"), None),
    (pa.date32(), datetime.date(1969, 12, 31), None),
    (pa.date64(), datetime.date(1969, 12, 31), None),
    (pa.timestamp("ms"), datetime.datetime(2024, 2, 29, 1, 2, 3), None),
    (pa.string(), "é€", None),
    (pa.large_string(), "", None),
    (pa.string_view(), "a text of more than twelve bytes", None),
    (pa.dictionary(pa.int8(), pa.string()), "x", None),
    (pa.dictionary(pa.uint16(), pa.int64()), 7, None),
]


@pytest.mark.parametrize("jit", MODES)
@pytest.mark.parametrize(("type_", "value", "expected"), LAYOUTS)
@pytest.mark.parametrize("has_nulls", [False, True])
def test_layouts(type_: Any, value: object, expected: object, has_nulls: bool, jit: Any) -> None:
    values = [value, None if has_nulls else value, value, value]
    table = pa.table({"a": pa.array(values, type_)}).slice(1)
    wanted = value if expected is None else expected
    (found,) = run("SELECT a FROM t", table, jit)
    assert found == [None if has_nulls else wanted, wanted, wanted]
    (found,) = run("SELECT a IS NULL FROM t", table, jit)
    assert found == [has_nulls, False, False]


def test_kernels_that_differ_in_literals_are_one() -> None:
    table = pa.table({"a": pa.array([1, 2], INT4)})
    first = program_of("SELECT a + 1 FROM t WHERE a < 5", table)
    second = program_of("SELECT a + 7 FROM t WHERE a < 9", table)
    other = program_of("SELECT a - 1 FROM t WHERE a < 5", table)
    assert first.signature == second.signature != other.signature
    assert str(first.generate()) == str(second.generate())
    assert twinjit.fingerprint(first.generate()) == twinjit.fingerprint(second.generate())


def test_nulls_are_no_literals_to_share() -> None:
    table = pa.table({"a": pa.array([1, 2], INT4)})
    first = program_of("SELECT coalesce(a, 1) FROM t", table)
    second = program_of("SELECT coalesce(a, null) FROM t", table)
    assert first.signature != second.signature
