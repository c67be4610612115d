"""INTERVAL literals."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from sqlglot import expressions as ast

from twinjit.sql.binder.places import refuse, unsupported

__all__ = ["Interval", "interval", "kept_whole"]


@dataclass(frozen=True)
class Interval:
    """So many months, then days, then microseconds, each with a sign of its own."""

    months: int
    days: int
    microseconds: int

    def negated(self) -> Interval:
        """Give the interval backwards."""
        return Interval(-self.months, -self.days, -self.microseconds)


_SECOND = 1_000_000
_MONTHS: Final = {"month": 1, "mon": 1, "year": 12, "yr": 12, "y": 12, "decade": 120}
_DAYS: Final = {"day": 1, "d": 1, "week": 7, "w": 7}
_MICROSECONDS: Final = {
    "microsecond": 1,
    "us": 1,
    "millisecond": 1_000,
    "ms": 1_000,
    "second": _SECOND,
    "sec": _SECOND,
    "s": _SECOND,
    "minute": 60 * _SECOND,
    "min": 60 * _SECOND,
    "m": 60 * _SECOND,
    "hour": 3600 * _SECOND,
    "hr": 3600 * _SECOND,
    "h": 3600 * _SECOND,
}
_PART = re.compile(
    r"\s*(?:(?P<sign>[+-])?(?P<hours>\d+):(?P<minutes>\d\d)(?::(?P<seconds>\d\d(?:\.\d+)?))?"
    r"|(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+))\s*(?P<unit>[a-z]+))(?=\s|[+-]|\d|$)"
)


# sqlglot takes a text with one number and one word apart, and drops the rest: "1 day 02:03:04" is
# a day then, and ".5 s" five seconds. It keeps one with several (30.31.0; sqlglot's tests of
# INTERVAL show when that has changed).
_SEVERAL = " 0 s 0 s"


def kept_whole(text: str) -> str:
    """Give a text of an interval so that sqlglot keeps all of it."""
    is_one = ast.INTERVAL_STRING_RE.fullmatch(text) is not None
    return text if is_one or len(ast.INTERVAL_STRING_RE.findall(text)) != 1 else text + _SEVERAL


def interval(node: ast.Interval) -> Interval:
    """Read an interval that stands in a query.

    Raises
    ------
    QueryError
        If it is no constant, not in a form that is known, or of parts of months or days.
    """
    literal = node.this
    if isinstance(literal, ast.Neg):
        return interval(ast.Interval(this=literal.this, unit=node.args.get("unit"))).negated()
    if not isinstance(literal, ast.Literal):
        unsupported(node, "an interval that is no constant", "write interval '1 day' or the like")
    unit = node.args.get("unit")
    if unit and "." in literal.this and not node.args.get("fraction_in_string"):
        unsupported(node, f"a fraction before {unit.name}", "write the unit into the quotes")
    written = literal.this.removesuffix(_SEVERAL)
    # PostgreSQL ignores @, too.
    text = f"{written} {unit.name if unit else ''}".replace("@", " ").strip().lower()
    parts: list[Interval] = []
    end = 0
    while end < len(text) or not parts:
        found = _PART.match(text, end)
        if not found:
            refuse(node, "22007", f'invalid input syntax for type interval: "{text}"')
        parts.append(_part(node, found))
        end = found.end()
    months = sum(part.months for part in parts)
    days = sum(part.days for part in parts)
    microseconds = sum(part.microseconds for part in parts)
    if max(abs(months), abs(days)) >= 1 << 31 or abs(microseconds) >= 1 << 63:
        refuse(node, "22015", f'interval field value out of range: "{written}"')
    return Interval(months, days, microseconds)


def _part(node: ast.Interval, found: re.Match[str]) -> Interval:
    if found["hours"]:
        minutes, fraction = int(found["minutes"]), Decimal(found["seconds"] or 0)
        if minutes > 59 or fraction > 60:
            refuse(node, "22015", f'interval field value out of range: "{found[0].strip()}"')
        micros = round((int(found["hours"]) * 3600 + minutes * 60 + fraction) * _SECOND)
        return Interval(0, 0, -micros if found["sign"] == "-" else micros)
    number, unit = Decimal(found["number"]), found["unit"]
    singular = unit if unit in ("s", "us", "ms") else unit.removesuffix("s")
    whole = int(number)
    if singular in _MICROSECONDS:
        return Interval(0, 0, round(number * _MICROSECONDS[singular]))
    if singular not in _MONTHS and singular not in _DAYS:
        refuse(node, "22007", f'invalid input syntax for type interval: unit "{unit}"')
    if whole != number:
        unsupported(node, f"{number} {unit} in an interval", "write whole months and days")
    if singular in _MONTHS:
        return Interval(whole * _MONTHS[singular], 0, 0)
    return Interval(0, whole * _DAYS[singular], 0)
