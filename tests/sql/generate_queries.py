"""Random queries over tables t and u with the columns of `schemas.ALL`."""

from __future__ import annotations

from random import Random

__all__ = ["ROUNDED", "draw_query"]

_KEYS = ("b", "i2 % 5", "i4", "i8", "f4", "f8", "n", "d", "t", "s", "length(s)", "i2 IS NULL")
_CONDITIONS = (
    *("i2 > 0", "f8 > 'NaN'", "f8 < 1e10", "n >= 0", "b", "NOT b", "s LIKE '%a%'", "s IS NOT NULL"),
    *("d < date '2020-01-01'", "t >= timestamp '1980-05-05'", "i4 BETWEEN -500 AND 500"),
    *("coalesce(b, true)", "i2 IN (1, -1, 5) OR b", "n / 3 > 100", "f4 IS DISTINCT FROM 1.5"),
)
_TAME = "FILTER (WHERE abs(f8) < 1e15 AND abs(f4) < 1e15)"
ROUNDED = (
    f"sum(abs(f8)) {_TAME}",
    f"avg(abs(f8)) {_TAME}",
    f"avg(abs(f4)) {_TAME}",
    f"sum(DISTINCT abs(f8)) {_TAME}",
)
"""Aggregates that round, in another order of rows than PostgreSQL: of positive numbers, so that
the last digits alone can differ."""

_AGGREGATES = (
    *("count(*)", "count(s)", "count(DISTINCT s)", "count(DISTINCT i2 % 7)", "sum(i2)", "sum(i4)"),
    *("sum(i8)", "sum(n)", "avg(n)", "avg(i2)", "avg(i4)", "min(i8)", "max(i8)", "min(s)"),
    *("max(s)", "min(f8)", "max(f8)", "min(d)", "max(t)", "bool_and(b)", "bool_or(b)"),
    *("sum(DISTINCT i2)", "avg(DISTINCT n)", "min(n)", "max(f4)"),
    *(
        "sum(i2::float8)",
        "avg(i4::float8)",
        "avg(i8 % 1000)",
        "avg(DISTINCT i4)",
        "count(DISTINCT f8)",
    ),
    *("count(DISTINCT n)", "min(f4)", "max(d)", "min(t)", "sum(n * 2)", "count(DISTINCT t)"),
    "bool_and(i2 > 0)",
)
_OVER_AGGREGATES = (
    *("sum(i4) / count(*)", "max(i2) - min(i2)", "coalesce(max(s), '?')", "max(d) - min(d)"),
    *("CASE WHEN count(i4) > 1 THEN avg(i4) END", "sum(i2) IS NULL", "greatest(min(n), max(n))"),
)
_JOINS = (
    *(f"ON t.{key} = u.{key}" for key in ("i2", "s", "b", "f8", "f4", "d", "t", "n", "i4", "i8")),
    *("USING (i2)", "USING (b, i4)", "ON t.i2 = u.i2 AND t.b = u.b", "ON t.i2 = u.i4"),
    *("ON t.i4 = u.i8", "ON t.f4 = u.f8", "ON t.n = u.i2", "ON t.d = u.t", "ON length(t.s) = u.i2"),
    *("ON t.i4 % 3 = u.i4 % 3 AND t.b = u.b", "ON t.i2 = u.i2 AND t.i4 < u.i4"),
)
_OUTPUTS = ("i2 + 1", "i8", "f8", "n * 2", "upper(s)", "d", "t", "b", "coalesce(s, '?')", "i4 / 7")


def _where(random: Random) -> str:
    chosen = random.sample(_CONDITIONS, random.choice([0, 0, 1, 1, 2]))
    return f" WHERE {random.choice([' AND ', ' OR ']).join(f'({each})' for each in chosen)}" * bool(
        chosen
    )


def _limit(random: Random) -> str:
    return random.choice(["", "", "", " LIMIT 5", " LIMIT 7 OFFSET 3", " OFFSET 4", " LIMIT 0"])


def _order(random: Random, columns: int) -> str:
    """Order by all columns, so that the order is known but for rows that are equal."""
    places = list(range(1, columns + 1))
    random.shuffle(places)
    ways = ["", " DESC", " NULLS FIRST", " DESC NULLS LAST"]
    return " ORDER BY " + ", ".join(f"{place}{random.choice(ways)}" for place in places)


def _aggregating(random: Random) -> str:
    keys = random.sample(_KEYS, random.choice([0, 1, 1, 1, 2, 3]))
    aggregates = random.sample(_AGGREGATES, random.randint(1, 4))
    aggregates = [
        f"{each} FILTER (WHERE {random.choice(_CONDITIONS)})" if random.random() < 0.3 else each
        for each in aggregates
    ]
    aggregates += random.sample(_OVER_AGGREGATES, random.choice([0, 0, 1]))
    aggregates += random.sample(ROUNDED, random.choice([0, 0, 1]))
    listed = [*keys, *aggregates]
    text = f"SELECT {', '.join(f'{each} AS c{n}' for n, each in enumerate(listed))} FROM t"
    text += _where(random)
    if keys:
        text += f" GROUP BY {', '.join(str(n + 1) for n in range(len(keys)))}"
    if random.random() < 0.3:
        text += f" HAVING {random.choice(['count(*) > 1', 'max(i4) > 0', 'min(n) IS NOT NULL'])}"
    return text + _order(random, len(listed)) + _limit(random)


def _selecting(random: Random) -> str:
    outputs = random.sample(_OUTPUTS, random.randint(1, 4))
    distinct = random.choice(["", "", "DISTINCT "])
    text = f"SELECT {distinct}{', '.join(f'{each} AS c{n}' for n, each in enumerate(outputs))}"
    return f"{text} FROM t{_where(random)}{_order(random, len(outputs))}{_limit(random)}"


def _joining(random: Random) -> str:
    outputs = ["t.i2 AS c0", "u.s AS c1", "t.n + u.n AS c2", "u.t AS c3"]
    condition = random.choice(["", " WHERE t.i2 > 0", " WHERE u.b AND t.s <> u.s"])
    text = f"FROM t JOIN u {random.choice(_JOINS)}{condition}"
    form = random.choice(["rows", "rows", "all", "groups"])
    if form == "all":
        return f"SELECT count(*) AS c0, sum(t.i2) AS c1, max(u.s) AS c2 {text}"
    if form == "groups":
        grouped = f"SELECT t.b AS c0, u.i2 AS c1, count(*) AS c2, sum(u.n) AS c3 {text}"
        return f"{grouped} GROUP BY 1, 2{_order(random, 4)}{_limit(random)}"
    return f"SELECT {', '.join(outputs)} {text}{_order(random, 4)}{_limit(random)}"


def draw_query(random: Random) -> str:
    """Draw a query, whose result's order is known but for rows that are equal."""
    return random.choice([_aggregating, _aggregating, _selecting, _joining])(random)
