"""Random queries over tables t and u with the columns of `schemas.ALL`."""

from __future__ import annotations

from random import Random

__all__ = ["draw_query"]

_KEYS = ("b", "i2 % 5", "i4", "i8", "f4", "f8", "n", "d", "t", "s", "length(s)", "i2 IS NULL")
_CONDITIONS = (
    *("i2 > 0", "f8 > 'NaN'", "f8 < 1e10", "n >= 0", "b", "NOT b", "s LIKE '%a%'", "s IS NOT NULL"),
    *("d < date '2020-01-01'", "t >= timestamp '1980-05-05'", "i4 BETWEEN -500 AND 500"),
    *("coalesce(b, true)", "i2 IN (1, -1, 5) OR b", "n / 3 > 100", "f4 IS DISTINCT FROM 1.5"),
)
# Of which the last rounds differently, whose sums depend on the order of rows.
_AGGREGATES = (
    *("count(*)", "count(s)", "count(DISTINCT s)", "count(DISTINCT i2 % 7)", "sum(i2)", "sum(i4)"),
    *("sum(i8)", "sum(n)", "avg(n)", "avg(i2)", "avg(i4)", "min(i8)", "max(i8)", "min(s)"),
    *("max(s)", "min(f8)", "max(f8)", "min(d)", "max(t)", "bool_and(b)", "bool_or(b)"),
    *("sum(DISTINCT i2)", "avg(DISTINCT n)", "min(n)", "max(f4)"),
    *("sum(i2::float8)", "avg(i4::float8)"),
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
    key = random.choice(["i2", "s", "b", "f8", "d", "n", "i4"])
    outputs = ["t.i2 AS c0", "u.s AS c1", "t.n + u.n AS c2", "u.t AS c3"]
    condition = random.choice(["", " WHERE t.i2 > 0", " WHERE u.b AND t.s <> u.s"])
    text = f"FROM t JOIN u ON t.{key} = u.{key}{condition}"
    if random.random() < 0.4:
        return f"SELECT count(*) AS c0, sum(t.i2) AS c1, max(u.s) AS c2 {text}"
    return f"SELECT {', '.join(outputs)} {text}{_order(random, 4)}{_limit(random)}"


def draw_query(random: Random) -> str:
    """Draw a query, whose result's order is known but for rows that are equal."""
    return random.choice([_aggregating, _aggregating, _selecting, _joining])(random)
