"""Types and trees of expressions."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.sql.schemas import ALL, bound
from twinjit.errors import QueryError
from twinjit.sql.render import render
from twinjit.sql.tree import Call, Constant, Expression
from twinjit.sql.types import FLOAT4, FLOAT8, INT2, INT4, INT8, TEXT, numeric, timestamp

# Types that PostgreSQL 15's pg_typeof gives, numeric(38,S) being its numeric.
TYPES_OF = [
    ("i2 + i2", "smallint"),
    ("i2 + i4", "integer"),
    ("i2 + 1", "integer"),
    ("i4 + i8", "bigint"),
    ("i8 + 1", "bigint"),
    ("i4 + 3000000000", "bigint"),
    ("i4 + 1.5", "numeric(38,1)"),
    ("n + i4", "numeric(38,2)"),
    ("n + 1.005", "numeric(38,3)"),
    ("n * n", "numeric(38,4)"),
    ("n / 3", "numeric(38,24)"),
    ("n % 0.125", "numeric(38,3)"),
    ("f4 + f4", "real"),
    ("f8 + f8", "double precision"),
    ("f4 + f8", "double precision"),
    ("f4 + 1", "double precision"),
    ("f4 + n", "double precision"),
    ("f8 * n", "double precision"),
    ("-i2", "smallint"),
    ("-1", "integer"),
    ("-9223372036854775808", "bigint"),
    ("i4 ^ 2", "double precision"),
    ("i4 / 2", "integer"),
    ("d + 1", "date"),
    ("1 + d", "date"),
    ("d - 1", "date"),
    ("d - d", "integer"),
    ("d - '2024-01-01'", "integer"),
    ("d + interval '1 day'", "timestamp without time zone"),
    ("interval '1 day' + t", "timestamp without time zone"),
    ("t - interval '1 hour'", "timestamp without time zone"),
    ("s || s", "text"),
    ("s || 1", "text"),
    ("1 || s", "text"),
    ("'a' || 'b'", "text"),
    ("'a'", "text"),
    ("null", "text"),
    ("case when b then 1 else 2.5 end", "numeric(38,1)"),
    ("case when b then i4 else f4 end", "real"),
    ("case i4 when 1 then 'x' end", "text"),
    ("coalesce(null, i2, i4)", "integer"),
    ("coalesce(n, f4)", "real"),
    ("greatest(d, t)", "timestamp without time zone"),
    ("least(i4, '5')", "integer"),
    ("nullif(i2, i8)", "smallint"),
    ("nullif('a', 'b')", "text"),
    ("abs(i2)", "smallint"),
    ("abs(n)", "numeric(38,2)"),
    ("floor(i4)", "double precision"),
    ("floor(n)", "numeric(38,0)"),
    ("round(n, 1)", "numeric(38,1)"),
    ("round(n)", "numeric(38,0)"),
    ("round(f8)", "double precision"),
    ("trunc(i4, 1)", "numeric(38,1)"),
    ("sqrt(i4)", "double precision"),
    ("power(i4, f4)", "double precision"),
    ("mod(i4, i8)", "bigint"),
    ("length(s)", "integer"),
    ("substring(s from 2 for 3)", "text"),
    ("extract(year from d)", "numeric(38,0)"),
    ("extract(second from t)", "numeric(38,6)"),
    ("date_trunc('month', t)", "timestamp without time zone"),
    ("i4::text", "text"),
    ("'1.25'::numeric(10,1)", "numeric(38,1)"),
    ("n::numeric", "numeric(38,2)"),
    ("s like 'a'", "boolean"),
    ("i4 in (1, 2.5)", "boolean"),
    ("i4 between 1 and 2", "boolean"),
    ("b is not unknown", "boolean"),
]


@pytest.mark.parametrize(("text", "type_"), TYPES_OF)
def test_types(text: str, type_: str) -> None:
    assert str(bound(text).type) == type_


TREES = [
    ("i4 + i2", "(i4 + i2::integer)"),
    ("f8 * 10", "(f8 * 10.0)"),
    ("f4 = f8", "(f4::double precision = f8)"),
    ("n = 1.005", "(n = 1.005)"),
    ("n > i4", "(n > i4::numeric(38,2))"),
    ("d < t", "(d::timestamp without time zone < t)"),
    ("i4 in (1, 2)", "((i4 = 1) OR (i4 = 2))"),
    ("i4 not in (7)", "(NOT (i4 = 7))"),
    ("i4 between 1 and 2 and b", "(((i4 >= 1) AND (i4 <= 2)) AND b)"),
    ("not b and b or b", "(((NOT b) AND b) OR b)"),
    ("b and b and (b and b)", "(b AND b AND b AND b)"),
    ("case i4 when 1 then 2 end", "CASE WHEN (i4 = 1) THEN 2 ELSE NULL END"),
    ("i4 is not distinct from 1", "(NOT (i4 IS DISTINCT FROM 1))"),
    ("b is not true", "(NOT (b IS TRUE))"),
    ("b is unknown", "(b IS NULL)"),
    ("b is not unknown", "(b IS NOT NULL)"),
    ("i4 is not null", "(i4 IS NOT NULL)"),
    ("i4 notnull and not i4 isnull", "((i4 IS NOT NULL) AND (i4 IS NOT NULL))"),
    ("b is not false", "(NOT (b IS FALSE))"),
    ("i4 not between 1 and 2", "(NOT ((i4 >= 1) AND (i4 <= 2)))"),
    ("s not ilike 'x'", "(NOT ilike(s, 'x', '\\'))"),
    ("s not like 'x!%' escape '!'", "(NOT like(s, 'x!%', '!'))"),
    ("-f8 ^ 2", "power(negate(f8), 2.0)"),
    ("i4 - 2 - 3", "((i4 - 2) - 3)"),
    ("s || i4 + 2", "(s || (i4 + 2)::text)"),
    ("'a\\b'", "'a\\b'"),
    ("d - interval '1 month 2 days'", "add_interval(d::timestamp without time zone, -1, -2, 0)"),
    ("t + interval '-1:30:00.5'", "add_interval(t, 0, 0, -5400500000)"),
    ("n::numeric(5,1)", "numeric_limit(n::numeric(38,1), 5)"),
    ("date '2024-02-29'", "date(19782)"),
    ("timestamp '1969-12-31 23:59:59.5'", "timestamp(-500000)"),
]


@pytest.mark.parametrize(("text", "tree"), TREES)
def test_trees(text: str, tree: str) -> None:
    assert render(bound(text), ALL.names) == tree


def test_literals() -> None:
    assert bound("2147483648") == Constant(2147483648, INT8)
    assert bound("1.50") == Constant(150, numeric(2))
    assert bound("1e3") == Constant(1000, numeric(0))
    assert bound("'12'::int2") == Constant(12, INT2)


@pytest.mark.parametrize(
    ("text", "constant"),
    [
        ("f4 > '0.1'", Constant(0.10000000149011612, FLOAT4)),
        ("f8 > '-Infinity'", Constant(float("-inf"), FLOAT8)),
        ("i4 = ' +7 '", Constant(7, INT4)),
        ("n = ' 1.125 '", Constant(1125, numeric(3))),
        ("s = 7::text", Constant(b"7", TEXT)),
    ],
)
def test_literals_take_the_type_of_what_is_beside_them(text: str, constant: Expression) -> None:
    comparison = bound(text)
    assert isinstance(comparison, Call)
    assert comparison.arguments[1] == constant


def test_timestamps_keep_what_they_count() -> None:
    schema = pa.schema([("s", pa.timestamp("s")), ("ns", pa.timestamp("ns"))])
    assert bound("s + interval '1 day'", schema).type == timestamp("s")
    assert bound("s + interval '1 microsecond'", schema).type == timestamp("us")
    assert bound("ns - interval '1 microsecond'", schema).type == timestamp("ns")
    assert bound("coalesce(s, ns)", schema).type == timestamp("ns")


REFUSALS = [
    ("x +", "42601"),
    ("i4 i5, i4", "42601"),
    ("zz", "42703"),
    ("u.i4", "42P01"),
    ("s + 1", "42883"),
    ("i4 = s", "42883"),
    ("b = 1", "42883"),
    ("i4 || i4", "42883"),
    ("f8 % 2.0", "42883"),
    ("-s", "42883"),
    ("length(i4)", "42883"),
    ("lower(i4)", "42883"),
    ("round(f8, 1)", "42883"),
    ("substring(s, i8)", "42883"),
    ("nothing(i4)", "42883"),
    ("d + d", "42883"),
    ("d + i8", "42883"),
    ("i4 like 'a'", "42883"),
    ("'1' + '2'", "42725"),
    ("case when i4 then 1 end", "42804"),
    ("case when b then 1 else s end", "42804"),
    ("coalesce(i4, s)", "42804"),
    ("i4 and b", "42804"),
    ("not i4", "42804"),
    ("i4 is true", "42804"),
    ("d::int4", "42846"),
    ("b::int8", "42846"),
    ("i4 = 'x'", "22P02"),
    ("i2 = '70000'", "22003"),
    ("b = 'maybe'", "22P02"),
    ("f8 = '1e400'", "22003"),
    ("n = 'abc'", "22P02"),
    ("d = 'soon'", "22007"),
    ("d = '2024-13-01'", "22008"),
    ("t > '2024-01-01 25:00'", "22008"),
    ("extract(hour from d)", "0A000"),
    ("extract(nothing from t)", "22023"),
    ("sum(i4)", "42803"),
    ("t - t", "0A000"),
    ("interval '1 day'", "0A000"),
    ("t + interval 'soon'", "22007"),
    ("row_number() over ()", "0A000"),
    ("(select 1)", "0A000"),
    ("exists (select 1)", "0A000"),
    ("i4 in (select 1)", "0A000"),
    ("array[1]", "0A000"),
    ("random()", "0A000"),
    ("now()", "0A000"),
    ("current_date", "0A000"),
    ("i4 & 1", "0A000"),
    ("s::varchar(3)", "0A000"),
    ("n::numeric(50,2)", "0A000"),
    ("f8::numeric", "0A000"),
    ("sqrt(n)", "0A000"),
    ("n * n * n * n * n * n * n * n * n * n * n * n * n * n * n * n * n * n * n * n", "0A000"),
    ("i4 between symmetric 2 and 1", "0A000"),
    ("t at time zone 'utc'", "0A000"),
    ("$2 || s", "42P18"),
]


@pytest.mark.parametrize(("text", "sqlstate"), REFUSALS)
def test_refusals(text: str, sqlstate: str) -> None:
    with pytest.raises(QueryError) as raised:
        bound(text)
    assert raised.value.sqlstate == sqlstate


def test_refusals_say_where() -> None:
    with pytest.raises(QueryError) as raised:
        bound("i4 +\n  (s * 2)")
    assert (raised.value.line, raised.value.column) == (2, 4)
    assert str(raised.value) == "line 2, column 4: operator does not exist: text * integer"


def test_a_name_in_other_letters_is_suggested() -> None:
    with pytest.raises(QueryError, match='write "Price", in quotes'):
        bound("price", pa.schema([("Price", pa.int32())]))


@pytest.mark.parametrize(
    "type_",
    ["timestamp[us, tz=UTC]", "time64[us]", "binary", "list<int32>", "decimal256", "float16"],
)
def test_columns_that_sql_has_no_type_for(type_: str) -> None:
    types = {
        "timestamp[us, tz=UTC]": pa.timestamp("us", "UTC"),
        "time64[us]": pa.time64("us"),
        "binary": pa.binary(),
        "list<int32>": pa.list_(pa.int32()),
        "decimal256": pa.decimal256(50, 2),
        "float16": pa.float16(),
    }
    schema = pa.schema([("x", types[type_]), ("i", pa.int32())])
    with pytest.raises(QueryError, match="column x is of Arrow type"):
        bound("x", schema)
    assert bound("i", schema).type == INT4  # what is not read may be anything
