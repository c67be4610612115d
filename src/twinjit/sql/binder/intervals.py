"""INTERVAL literals."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from sqlglot import expressions as ast

from twinjit.sql.binder.places import refuse, unsupported

__all__ = ["Interval", "interval"]


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
    r"|(?P<number>[+-]?\d+(?:\.\d+)?)\s*(?P<unit>[a-z]+))(?=\s|[+-]|\d|$)"
)


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
    text = f"{literal.this} {unit.name if unit else ''}".strip().lower()
    parts, end = [], 0
    while end < len(text):
        found = _PART.match(text, end)
        if not found:
            refuse(node, "22007", f'invalid input syntax for type interval: "{text}"')
        parts.append(_part(node, found))
        end = found.end()
    return Interval(
        sum(part.months for part in parts),
        sum(part.days for part in parts),
        sum(part.microseconds for part in parts),
    )


def _part(node: ast.Interval, found: re.Match[str]) -> Interval:
    if found["hours"]:
        seconds = int(found["hours"]) * 3600 + int(found["minutes"]) * 60
        micros = int((seconds + Decimal(found["seconds"] or 0)) * _SECOND)
        return Interval(0, 0, -micros if found["sign"] == "-" else micros)
    number, unit = Decimal(found["number"]), found["unit"]
    singular = unit if unit in ("s", "us", "ms") else unit.removesuffix("s")
    whole = int(number)
    if singular in _MICROSECONDS:
        return Interval(0, 0, int(number * _MICROSECONDS[singular]))
    if singular not in _MONTHS and singular not in _DAYS:
        refuse(node, "22007", f'invalid input syntax for type interval: unit "{unit}"')
    if whole != number:
        unsupported(node, f"{number} {unit} in an interval", "write whole months and days")
    if singular in _MONTHS:
        return Interval(whole * _MONTHS[singular], 0, 0)
    return Interval(0, whole * _DAYS[singular], 0)
