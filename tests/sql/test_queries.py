"""Plans of queries."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.sql.schemas import ALL
from twinjit.errors import QueryError
from twinjit.sql.binder import bind_query
from twinjit.sql.plan import Order
from twinjit.sql.render import plan_lines
from twinjit.sql.types import INT4, INT8, TEXT

OTHER = pa.schema([("i4", pa.int32()), ("x", pa.string()), ("Odd", pa.int32())])
SCHEMAS = {"t": ALL, "u": OTHER}

PLANS = [
    ("SELECT i4 FROM t", ["Project i4", "Scan t: i4"]),
    ("SELECT 1 AS one FROM t", ["Project 1", "Scan t: no columns"]),
    (
        "SELECT i4 + 1 FROM t WHERE b AND s = 'x' ORDER BY f8 DESC, 1 LIMIT 3 OFFSET $1",
        [
            "Limit 3",
            "Offset $1",
            "Sort by f8 DESC, (i4 + 1)",
            "Project (i4 + 1)",
            "Filter (b AND (s = 'x'))",
            "Scan t: b, i4, f8, s",
        ],
    ),
    ("SELECT DISTINCT s FROM t", ["Distinct", "Project s", "Scan t: s"]),
    (
        "SELECT s, sum(i4) + 1, count(*) FROM t GROUP BY s HAVING sum(i4) > 2 ORDER BY sum(i4)",
        [
            "Sort by sum(i4)",
            "Project s, (sum(i4) + 1), count(*)",
            "Filter groups (sum(i4) > 2)",
            "Aggregate sum(i4), count(*) by s",
            "Scan t: i4, s",
        ],
    ),
    (
        "SELECT upper(s) AS k, bool_or(b) FILTER (WHERE i4 > 1), every(b) FROM t GROUP BY k",
        [
            "Project upper(s), bool_or(b) FILTER (WHERE (i4 > 1)), bool_and(b)",
            "Aggregate bool_or(b) FILTER (WHERE (i4 > 1)), bool_and(b) by upper(s)",
            "Scan t: b, i4, s",
        ],
    ),
    (
        "SELECT count(DISTINCT s), max(DISTINCT i4) FROM t",
        [
            "Project count(DISTINCT s), max(i4)",
            "Aggregate count(DISTINCT s), max(i4)",
            "Scan t: i4, s",
        ],
    ),
    (
        "SELECT x, t.f8 FROM t JOIN u ON t.i4 = u.i4 AND x <> s WHERE b",
        [
            "Project x, f8",
            "Filter ((x <> s) AND b)",
            "Join on i4 = i4",
            "Scan t: b, i4, f8, s",
            "Scan u: i4, x",
        ],
    ),
    (
        "SELECT a.x FROM u a, u b WHERE a.i4 = b.i4 AND a.x < b.x",
        ["Project x", "Filter (x < x)", "Join on i4 = i4", "Scan u: i4, x", "Scan u: i4, x"],
    ),
    ('SELECT "Odd", u.x FROM u', ["Project Odd, x", "Scan u: x, Odd"]),
]


@pytest.mark.parametrize(("text", "lines"), PLANS)
def test_plans(text: str, lines: list[str]) -> None:
    found = [line.strip() for line in plan_lines(bind_query(text, SCHEMAS))]
    assert found == lines


def test_names_of_outputs() -> None:
    text = (
        "SELECT i4, i4 AS x, i4 + 1, sum(i4), count(*), case when b then 1 end, coalesce(i4, 1), "
        "i4::text, '1'::int4, upper(s), extract(year from d) FROM t GROUP BY i4, b, s, d"
    )
    names = [name for name, _ in bind_query(text, SCHEMAS).outputs]
    assert names == [
        *("i4", "x", "?column?", "sum", "count", "case", "coalesce", "i4", "int4", "upper"),
        "extract",
    ]


def test_stars() -> None:
    names = [
        name for name, _ in bind_query("SELECT *, u.* FROM t JOIN u USING (i4)", SCHEMAS).outputs
    ]
    rest = [name for name in ALL.names if name != "i4"]
    assert names == ["i4", *rest, "x", "Odd", "i4", "x", "Odd"]


def test_parameters_take_their_types_from_where_they_stand() -> None:
    plan = bind_query("SELECT i4 FROM t WHERE i4 = $2 AND s LIKE $1 LIMIT $3", SCHEMAS)
    assert plan.parameters == (TEXT, INT4, INT8)
    assert bind_query("SELECT $1 FROM t", SCHEMAS, [INT4]).parameters == (INT4,)


def test_nulls_are_last_but_in_descending_order() -> None:
    text = "SELECT i4 FROM t ORDER BY i4, i8 DESC, i2 NULLS FIRST, f8 DESC NULLS LAST"
    plan = bind_query(text, SCHEMAS)
    assert plan.order == (
        Order(0, False, False),
        Order(1, True, True),
        Order(2, False, True),
        Order(3, True, False),
    )
    assert plan.hidden == 3


REFUSALS = [
    ("SELECT FROM t", "0A000"),
    ("SELECT i4 FROM t WHERE s = '\ud800'", "22021"),
    ("SELECT 1", "0A000"),
    ("SELECT i4 FROM missing", "42P01"),
    ("SELECT i4 FROM public.t", "42P01"),
    ("SELECT i4 FROM t; SELECT i4 FROM t", "42601"),
    ("DELETE FROM t", "0A000"),
    ("SELECT i4 FROM t UNION SELECT i4 FROM t", "0A000"),
    ("WITH q AS (SELECT 1) SELECT i4 FROM t", "0A000"),
    ("SELECT i4 FROM (SELECT i4 FROM t) q", "0A000"),
    ("SELECT i4 FROM t LEFT JOIN u ON t.i4 = u.i4", "0A000"),
    ("SELECT 1 FROM t JOIN u ON t.i4 < u.i4", "0A000"),
    ("SELECT 1 FROM t CROSS JOIN u", "0A000"),
    ("SELECT 1 FROM t JOIN u ON t.i4 = u.i4 JOIN u v ON t.i4 = v.i4", "0A000"),
    ("SELECT 1 FROM t JOIN t ON true", "42712"),
    ("SELECT i4 FROM t JOIN u ON t.i4 = u.i4", "42702"),
    ("SELECT v.* FROM t", "42P01"),
    ("SELECT i4 FROM t GROUP BY i8", "42803"),
    ("SELECT sum(sum(i4)) FROM t", "42803"),
    ("SELECT i4 FROM t WHERE sum(i4) > 1", "42803"),
    ("SELECT count(*) FROM t GROUP BY 1", "42803"),
    ("SELECT i4 FROM t GROUP BY 2", "42P10"),
    ("SELECT i4 FROM t ORDER BY 'x'", "42601"),
    ("SELECT i4 FROM t ORDER BY i8, 2", "42P10"),  # not what is there for the order alone
    ("SELECT i4 FROM t GROUP BY ROLLUP (i4)", "0A000"),
    ("SELECT DISTINCT i4 FROM t ORDER BY i8", "42P10"),
    ("SELECT DISTINCT ON (i4) i8 FROM t", "0A000"),
    ("SELECT i4 FROM t LIMIT 1.5", "0A000"),
    ("SELECT i4 FROM t FOR UPDATE", "0A000"),
    ("SELECT i4 FROM t WHERE i4", "42804"),
    ("SELECT i4 FROM t HAVING i4", "42804"),
    ("SELECT sum(s) FROM t", "42883"),
    ("SELECT avg(d) FROM t", "42883"),
    ("SELECT max(b) FROM t", "42883"),
    ("SELECT bool_and(i4) FROM t", "42883"),
    ("SELECT string_agg(s, ',') FROM t", "0A000"),
    ("SELECT sum(i4) OVER () FROM t", "0A000"),
    ("SELECT $1 FROM t WHERE $3 = 1", "42P18"),
]


@pytest.mark.parametrize(("text", "sqlstate"), REFUSALS)
def test_refusals(text: str, sqlstate: str) -> None:
    with pytest.raises(QueryError) as raised:
        bind_query(text, SCHEMAS)
    assert raised.value.sqlstate == sqlstate, raised.value


def test_a_parameter_of_no_known_number() -> None:
    with pytest.raises(QueryError, match=r"there is no parameter \$2"):
        bind_query("SELECT $2 FROM t", SCHEMAS, [INT4])
