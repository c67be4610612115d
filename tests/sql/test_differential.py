"""Generated expressions and queries, against a real PostgreSQL 15.

``TWINJIT_NIGHTLY=1`` draws ten times as many, and others than each run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import twinjit.sql
from tests.nightly import NIGHTLY
from tests.sql.chosen_expressions import CHOSEN
from tests.sql.generate_data import random_table, relaid
from tests.sql.generate_expressions import Expressions
from tests.sql.generate_queries import ROUNDED, draw_query
from tests.sql.schemas import ALL
from twinjit.errors import QueryError, SqlError
from twinjit.sql import compile_expression
from twinjit.sql.arrow_types import sql_type_of
from twinjit.sql.binder import bind_expression
from twinjit.sql.execution import evaluation
from twinjit.sql.types import (
    BOOL,
    DATE,
    FLOAT4,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    TEXT,
    SqlType,
    numeric,
    timestamp,
)

psycopg = pytest.importorskip("psycopg")
duckdb = pytest.importorskip("duckdb")

BATCHES = range(100 if NIGHTLY else 10)
EXPRESSIONS = 50  # of a batch
ROWS = 24
COMPILER = twinjit.Compiler(cache=False, opt_level=0 if not NIGHTLY else 3)

# What PostgreSQL's numeric holds, and ours does not: more than 38 digits, NaN and infinities.
LIMITS = {
    "numeric field overflow: 38 digits do not hold the value",
    "numeric holds neither NaN nor infinity here",
}

# How a text is no date: PostgreSQL tells three kinds, by which of its rules a part of it breaks.
DATE_ERRORS = {"!22007", "!22008", "!22009"}

_COLUMNS = "id int, b bool, i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, n numeric(12,2), \
d date, t timestamp, s text"

_TRY = """
create function try(expression text) returns table (value text, state text) language plpgsql as $$
declare row_id int;
begin
  for row_id in select id from t order by id loop
    begin
      state := null;
      execute format('select (%s)::text from t where id = $1', expression) into value using row_id;
    exception when others then
      value := null;
      state := sqlstate;
    end;
    return next;
  end loop;
end $$"""


@pytest.fixture(scope="module")
def connection(postgres_address: str) -> Iterator[Any]:
    with psycopg.connect(postgres_address, autocommit=True) as connected:
        connected.execute(_TRY)
        yield connected


def fill(connection: Any, name: str, table: pa.Table) -> None:
    """Make a table of PostgreSQL's with the rows of one of Arrow's, numbered."""
    connection.execute(f"drop table if exists {name}; create table {name} ({_COLUMNS})")
    with (
        connection.cursor() as cursor,
        cursor.copy(f"copy {name} from stdin") as copy,
    ):
        for number, row in enumerate(table.to_pylist()):
            copy.write_row([number, *row.values()])


def theirs(connection: Any, expression: str) -> list[str | None]:
    """Evaluate an expression for each row; errors are their codes, behind an exclamation mark."""
    try:
        rows = connection.execute(f"select ({expression})::text from t order by id").fetchall()
    except psycopg.Error:
        found = connection.execute("select * from try(%s)", [expression]).fetchall()
        return [value if state is None else f"!{state}" for value, state in found]
    return [value for (value,) in rows]


def name_of(type_: SqlType) -> str:
    return "numeric" if type_.kind == "numeric" else str(type_)


# By PostgreSQL's numbers of types.
OIDS = dict(
    zip(
        (16, 21, 23, 20, 700, 701, 1700, 25, 1082, 1114),
        map(name_of, (BOOL, INT2, INT4, INT8, FLOAT4, FLOAT8, numeric(0), TEXT, DATE, timestamp())),
        strict=True,
    )
)


def type_of_theirs(connection: Any, expression: str) -> str | None:
    """Give the name of an expression's type; None where a constant in it fails."""
    try:
        described = connection.execute(f"select ({expression}) from t limit 0").description
    except psycopg.errors.DataError:
        return None
    return OIDS[described[0].type_code]


def type_of_ours(expression: str) -> str:
    bound, _ = bind_expression(expression, ALL)
    return name_of(bound.type)


def ours(expression: str, table: pa.Table, jit: Any) -> list[object]:
    """Do the same; what our numeric does not hold is an Ellipsis."""
    compiled = compile_expression(expression, table.schema, jit=jit, compiler=COMPILER)
    (batch,) = table.to_batches()
    try:
        return list(compiled(batch).to_pylist())
    except SqlError:
        return [_one(compiled, batch.slice(row, 1)) for row in range(batch.num_rows)]


def _one(compiled: Any, batch: pa.RecordBatch) -> object:
    try:
        return compiled(batch)[0].as_py()
    except SqlError as error:
        return ... if str(error) in LIMITS else f"!{error.sqlstate}"


def agree(type_: str, our: object, their: str | None) -> bool:
    """Whether two results are the same."""
    if our is ...:
        return True
    if our is None or their is None or their.startswith("!"):
        return our == their or {our, their} <= DATE_ERRORS
    if type_ == "numeric":
        return isinstance(our, Decimal) and our == Decimal(their)
    return our == their


@pytest.mark.parametrize("batch", BATCHES)
def test_expressions(connection: Any, batch: int) -> None:
    random = Random(batch)
    table = random_table(random, ROWS)
    fill(connection, "t", table)
    drawn = Expressions(random)
    layouts = {"force": relaid(random, table), "off": relaid(random, table)}
    limited = 0
    for _ in range(EXPRESSIONS):
        type_, expression = drawn.draw()
        wanted = theirs(connection, expression)
        if their_type := type_of_theirs(connection, expression):
            assert type_of_ours(expression) == their_type, expression
        text = expression if type_ == "numeric" else f"({expression})::text"
        compiled, interpreted = (ours(text, layouts[jit], jit) for jit in ("force", "off"))
        for row, values in enumerate(zip(compiled, interpreted, wanted, strict=True)):
            one, other, their = values
            is_same = agree(type_, one, their) and agree(type_, other, their) and one == other
            assert is_same, f"{expression}\nof {table.slice(row, 1).to_pylist()}: {values}"
            limited += one is ...
    assert limited < 0.05 * EXPRESSIONS * ROWS


@pytest.mark.parametrize("topic", CHOSEN)
def test_chosen_expressions(connection: Any, topic: str) -> None:
    table = random_table(Random(1), ROWS)
    fill(connection, "t", table)
    for expression in map(str.strip, CHOSEN[topic].split(";")):
        wanted = planned_by_theirs(connection, expression)
        for jit in ("force", "off"):
            found = planned_by_ours(expression, table, jit)
            assert same_outcome(found, wanted), (
                f"{expression}\n{jit}: {found}\nPostgreSQL: {wanted}"
            )


def planned_by_theirs(connection: Any, expression: str) -> tuple[str | None, Any]:
    """Give type and values, or the code of what is wrong with an expression for all rows."""
    try:
        connection.execute(f"prepare chosen as select ({expression}) from t; deallocate chosen")
    except psycopg.Error as error:
        return None, f"!{error.sqlstate}"
    return type_of_theirs(connection, expression), theirs(connection, expression)


def planned_by_ours(expression: str, table: pa.Table, jit: Any) -> tuple[str | None, Any]:
    try:
        type_ = type_of_ours(expression)
        text = expression if type_ == "numeric" else f"({expression})::text"
        return type_, ours(text, table, jit)
    except (QueryError, SqlError) as error:
        return None, f"!{error.sqlstate}"


def same_outcome(ours: tuple[str | None, Any], theirs: tuple[str | None, Any]) -> bool:
    """Whether they are the same; what fails for all rows may do so before them, or in each."""
    (type_, values), (their_type, their_values) = ours, theirs
    if isinstance(values, str):
        return values == their_values or set(their_values) == {values}
    if isinstance(their_values, str) or their_type not in (None, type_):
        return False
    return all(agree(type_ or "", *each) for each in zip(values, their_values, strict=True))


QUERIES = 20  # of a batch


def rows_of_theirs(connection: Any, query: str) -> Any:
    """Give the rows of a query, and its types; or its code of failure."""
    try:
        found = connection.execute(query)
    except psycopg.Error as error:
        return f"!{error.sqlstate}"
    return found.fetchall(), [OIDS[column.type_code] for column in found.description]


def table_of_ours(query: str, tables: dict[str, pa.Table], jit: Any) -> pa.Table | str:
    try:
        return twinjit.sql.query(query, tables=tables, jit=jit, compiler=COMPILER).to_table()
    except SqlError as error:
        return f"!{error.sqlstate}"


def rows_of(found: pa.Table | str) -> Any:
    if isinstance(found, str):
        return found
    types = [name_of(sql_type_of(field.type)) for field in found.schema]
    return list(zip(*(column.to_pylist() for column in found.columns), strict=True)), types


def bits(found: pa.Table | str) -> Any:
    """Give values so that they are equal where their bits are."""
    return found if isinstance(found, str) else list(map(bits_of, found.columns))


def bits_of(column: Any) -> Any:
    """Do so for a column: zeros have a sign then, and a NaN equals itself."""
    integers = {pa.float32(): pa.int32(), pa.float64(): pa.int64()}
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if column.type in integers:
        whole = whole.view(integers[column.type])
    return column.type, whole.to_pylist()


def same_values(ours: Sequence[object], theirs: Sequence[object], tolerance: float) -> bool:
    return len(ours) == len(theirs) and all(
        same_value(our, their, tolerance) for our, their in zip(ours, theirs, strict=True)
    )


def same_value(our: object, their: object, tolerance: float) -> bool:
    """Whether values are equal; a float4 comes from PostgreSQL as its decimal digits."""
    if isinstance(our, float) and isinstance(their, float):
        if math.isnan(our) or math.isnan(their):
            return math.isnan(our) and math.isnan(their)
        with np.errstate(over="ignore"):
            single = np.float32(our)
            is_single = float(single) == our and single == np.float32(their)
        return our == their or is_single or math.isclose(our, their, rel_tol=tolerance)
    return our == their


def same_rows(ours: Any, theirs: Any, tolerance: float = 0.0) -> bool:
    if isinstance(ours, str) or isinstance(theirs, str):
        return bool(ours == theirs)
    return len(ours) == len(theirs) and all(
        same_values(our, their, tolerance) for our, their in zip(ours, theirs, strict=True)
    )


def same_result(ours: Any, theirs: Any, tolerance: float) -> bool:
    if isinstance(ours, str) or isinstance(theirs, str):
        return bool(ours == theirs)
    return ours[1] == theirs[1] and same_rows(ours[0], theirs[0], tolerance)


def in_batches(table: pa.Table) -> pa.Table:
    return pa.concat_tables([table[:25], table[25:25], table[25:]])


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have "auto" compile all, and go over to kernels within the few rows that tests have."""
    monkeypatch.setattr(evaluation, "_WORTH_COMPILING", 0)
    monkeypatch.setattr(evaluation, "_INTERPRETED_ROWS", 3)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("batch", BATCHES)
def test_queries(connection: Any, batch: int) -> None:
    random = Random(-1 - batch)
    tables = {name: random_table(random, 60) for name in ("t", "u")}
    for name, table in tables.items():
        fill(connection, name, table)
    # Several batches, which are handled one by one.
    split = {name: in_batches(relaid(random, table)) for name, table in tables.items()}
    for number in range(QUERIES):
        query = draw_query(random)
        theirs = rows_of_theirs(connection, query)
        tolerance = 1e-12 if any(each in query for each in ROUNDED) else 0.0
        interpreted = table_of_ours(query, split, "off")
        ours = rows_of(interpreted)
        assert same_result(ours, theirs, tolerance), f"{query}\n{ours}\nPostgreSQL: {theirs}"
        for jit in ("force", "auto")[: 1 + (number % 4 == 0)]:
            other = table_of_ours(query, split, jit)
            assert bits(other) == bits(interpreted), f"{query}\n{ours}\n{jit}: {rows_of(other)}"


# DuckDB divides whole numbers to floats, has averages of floats, sums that overflow elsewhere, and
# upper of all letters.
_OTHERWISE = ("/", "avg", "f4", "i8", "*", "+", " - ", "upper")


@pytest.mark.parametrize("batch", BATCHES)
def test_duckdb(batch: int) -> None:
    random = Random(10_000 + batch)
    tables = {name: random_table(random, 200) for name in ("t", "u")}
    compared = 0
    with duckdb.connect() as connection:
        connection.execute("SET default_null_order = 'nulls_last_on_asc_first_on_desc'")
        for name, table in tables.items():
            connection.register(name, table)
        for _ in range(2 * QUERIES):
            query = draw_query(random)
            if any(each in query for each in _OTHERWISE):
                continue
            theirs = connection.execute(query).fetchall()
            for jit in ("off", "force"):
                found = rows_of(table_of_ours(query, tables, jit))
                ours = found if isinstance(found, str) else found[0]
                assert same_rows(ours, theirs, 1e-12), f"{query}\n{jit}: {ours}\nDuckDB: {theirs}"
            compared += 1
    assert compared
