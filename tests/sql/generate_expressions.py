"""Random expressions of SQL over the columns of `schemas.ALL`, as text."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

__all__ = ["Expressions"]

_COLUMNS = {
    "bool": "b",
    "int2": "i2",
    "int4": "i4",
    "int8": "i8",
    "float4": "f4",
    "float8": "f8",
    "numeric": "n",
    "date": "d",
    "timestamp": "t",
    "text": "s",
}
_INTEGERS = ("int2", "int4", "int8")
_NUMBERS = (*_INTEGERS, "float4", "float8", "numeric")
# What operands of two types give.
_MIXED = {
    "int4": [("int2", "int4")],
    "int8": [("int2", "int8"), ("int8", "int4")],
    "float8": [
        *[("float4", other) for other in (*_INTEGERS, "float8", "numeric")],
        *[(other, "float8") for other in (*_INTEGERS, "float4", "numeric")],
    ],
    "numeric": [("numeric", "int2"), ("int4", "numeric"), ("int8", "numeric")],
}
_COMPARABLE = [_INTEGERS, _NUMBERS, _NUMBERS, ("date", "timestamp"), *[[each] for each in _COLUMNS]]
_CONSTANTS = {
    "bool": ["true", "false", "null::bool"],
    "int2": ["1::int2", "(-3)::int2", "100::int2"],
    "int4": ["0", "1", "-1", "7", "2147483647", "null::int4"],
    "int8": ["1::int8", "-9::int8", "4611686018427387904", "null::int8"],
    "float4": ["0.5::float4", "'NaN'::float4", "3::float4"],
    "float8": ["0.0::float8", "2.5::float8", "'Infinity'::float8", "'-0'::float8", "1e200::float8"],
    "numeric": ["0.0", "1.5", "-2.25", "100.001", "null::numeric(5,2)"],
    "date": ["date '2000-02-29'", "date '1969-12-31'"],
    "timestamp": ["timestamp '2024-02-29 12:34:56.789'", "timestamp '1970-01-01'"],
    "text": ["'a'", "''", "'été'", "'12'", "'%b_'"],
}
_FIELDS = {
    "date": "year month day quarter week isoyear dow isodow doy decade century epoch julian",
    "timestamp": "year month day hour minute second milliseconds microseconds epoch week doy "
    "quarter isoyear dow isodow decade century millennium",
}
_UNITS = (
    "microseconds milliseconds second minute hour day week month quarter year decade century "
    "millennium"
)


class Expressions:
    """Draws expressions of a type.

    Each contains a column, also each of its parts but for single constants: PostgreSQL computes
    what is constant before any row is there, and fails then.
    """

    def __init__(self, random: Random) -> None:
        self._random = random

    def draw(self, depth: int = 3) -> tuple[str, str]:
        """Draw a type, and an expression of it."""
        type_ = self._random.choice(list(_COLUMNS))
        return type_, self.of(type_, depth)

    def of(self, type_: str, depth: int) -> str:
        """Draw an expression of a type."""
        if depth == 0 or self._random.random() < 0.1:
            return _COLUMNS[type_]
        makers = [*self._makers(type_), self._case, self._coalesce, self._extreme, self._null_if]
        return self._random.choice(makers)(type_, depth - 1)

    def _or_constant(self, type_: str, depth: int) -> str:
        if self._random.random() < 0.4:
            return self._random.choice(_CONSTANTS[type_])
        return self.of(type_, depth)

    def _makers(self, type_: str) -> list[Callable[[str, int], str]]:
        common = [self._cast]
        if type_ == "bool":
            return [self._compare, self._compare, self._logic, self._in, self._like, self._test]
        if type_ in _NUMBERS:
            found = [*common, self._arithmetic, self._arithmetic, self._function]
            found += [self._mixed] * (type_ in _MIXED)
            return (
                found + [self._extract] * (type_ == "numeric") + [self._length] * (type_ == "int4")
            )
        if type_ == "text":
            return [*common, self._text, self._text]
        return [*common, self._moment, self._moment]

    # Of any type

    def _case(self, type_: str, depth: int) -> str:
        kind = self._random.choice(["bool", "bool", *_COLUMNS])
        operand = "" if kind == "bool" else f"{self.of(kind, depth)} "
        condition, other = self.of(kind, depth), self.of(kind, depth)
        branches = f"{operand}WHEN {condition} THEN {self._or_constant(type_, depth)}"
        if self._random.random() < 0.3:
            branches += f" WHEN {other} THEN {self.of(type_, depth)}"
        end = f" ELSE {self._or_constant(type_, depth)}" if self._random.random() < 0.7 else ""
        return f"(CASE {branches}{end} END)"

    def _coalesce(self, type_: str, depth: int) -> str:
        return f"coalesce({self.of(type_, depth)}, {self._or_constant(type_, depth)})"

    def _extreme(self, type_: str, depth: int) -> str:
        name = self._random.choice(["greatest", "least"])
        more = f", {self.of(type_, depth)}" if self._random.random() < 0.3 else ""
        return f"{name}({self.of(type_, depth)}, {self._or_constant(type_, depth)}{more})"

    def _null_if(self, type_: str, depth: int) -> str:
        return f"nullif({self.of(type_, depth)}, {self._or_constant(type_, depth)})"

    def _cast(self, type_: str, depth: int) -> str:
        sources = [*_NUMBERS, "text"] if type_ in _NUMBERS else ["text"]
        if type_ in ("date", "timestamp"):
            if self._random.random() < 0.2:  # no float's text: we have no infinite dates
                return f"(s)::{type_}"
            sources = ["date", "timestamp"]
        elif type_ == "int4":
            sources.append("bool")
        elif type_ == "text":
            sources = list(_COLUMNS)
            if self._random.random() < 0.15:  # of a column: other scales are ours alone
                return "(n)::text"
            sources.remove("numeric")
        name = "numeric(12,2)" if type_ == "numeric" else type_
        return f"({self.of(self._random.choice(sources), depth)})::{name}"

    # Conditions

    def _compare(self, _: str, depth: int) -> str:
        types = self._random.choice(_COMPARABLE)
        type_, other = self._random.choice(types), self._random.choice(types)
        left, right = self.of(type_, depth), self._or_constant(other, depth)
        symbols = ["=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"]
        if self._random.random() < 0.15:
            word = self._random.choice(["BETWEEN", "NOT BETWEEN"])
            return f"({left} {word} {right} AND {self._or_constant(type_, depth)})"
        return f"({left} {self._random.choice(symbols)} {right})"

    def _logic(self, _: str, depth: int) -> str:
        left, right = self.of("bool", depth), self._or_constant("bool", depth)
        if self._random.random() < 0.2:
            return f"(NOT {left})"
        return f"({left} {self._random.choice(['AND', 'OR'])} {right})"

    def _in(self, _: str, depth: int) -> str:
        type_ = self._random.choice([*_NUMBERS, "text"])
        listed = ", ".join(self._random.choices(_CONSTANTS[type_], k=self._random.randint(1, 3)))
        word = self._random.choice(["IN", "NOT IN"])
        return f"({self.of(type_, depth)} {word} ({listed}))"

    def _like(self, _: str, depth: int) -> str:
        word = self._random.choice(["LIKE", "ILIKE", "NOT LIKE", "NOT ILIKE"])
        pattern = self._random.choice(
            ["'%a%'", "'_'", "'é%'", "'a\\%b'", "s", "''", "'%1_'", "'a!%%' ESCAPE '!'"]
        )
        return f"({self.of('text', depth)} {word} {pattern})"

    def _test(self, _: str, depth: int) -> str:
        type_ = self._random.choice(list(_COLUMNS))
        tests = ["IS NULL", "IS NOT NULL"]
        if type_ == "bool":
            tests += [
                f"IS {no}{name}" for no in ("", "NOT ") for name in ("TRUE", "FALSE", "UNKNOWN")
            ]
        return f"({self.of(type_, depth)} {self._random.choice(tests)})"

    # Numbers

    def _arithmetic(self, type_: str, depth: int) -> str:
        symbols = ["+", "-", "*", "/"] + ["%"] * (type_ not in ("float4", "float8"))
        symbol = self._random.choice(symbols)
        if type_ == "numeric" and symbol == "*":  # whose digits would grow beyond what there is
            return f"({self.of(type_, 0)} * {self._or_constant(type_, 0)})"
        if type_ == "numeric" and symbol == "/":
            return f"({self.of(type_, 0)} / {self._or_constant(type_, 0)})::numeric(20,6)"
        return f"({self.of(type_, depth)} {symbol} {self._or_constant(type_, depth)})"

    def _mixed(self, type_: str, depth: int) -> str:
        one, other = self._random.choice(_MIXED[type_])
        if type_ == "numeric":
            symbol = self._random.choice("+-%*")
            depth = 0 if symbol == "*" else depth
        else:
            symbol = self._random.choice("+-*/" + "%" * (type_ != "float8"))
        return f"({self.of(one, depth)} {symbol} {self._or_constant(other, depth)})"

    def _function(self, type_: str, depth: int) -> str:
        names = ["-", "abs"]
        if type_ == "float8":
            names += ["floor", "ceil", "round", "trunc", "sqrt", "exp", "ln", "power"]
        if type_ == "numeric":
            names += ["floor", "ceil", "round", "trunc", "digits"]
        name = self._random.choice(names)
        # Of these, PostgreSQL has none for floats alone: integers are converted.
        is_any = type_ == "float8" and name not in ("-", "abs")
        operand = self.of(
            self._random.choice([type_, "int4", "float4"]) if is_any else type_, depth
        )
        if name == "power":
            form = self._random.choice(["power({}, {})", "({} ^ {})"])
            return form.format(operand, self._or_constant(type_, depth))
        if name == "digits":
            name = self._random.choice(["round", "trunc"])
            return f"{name}({operand}, {self._random.choice('012')})"
        return f"(- {operand})" if name == "-" else f"{name}({operand})"

    def _extract(self, _: str, depth: int) -> str:
        type_ = self._random.choice(["date", "timestamp"])
        field = self._random.choice(_FIELDS[type_].split())
        return f"extract({field} FROM {self.of(type_, depth)})"

    def _length(self, _: str, depth: int) -> str:
        if self._random.random() < 0.5:
            return f"({self.of('date', depth)} - {self._or_constant('date', depth)})"
        return f"length({self.of('text', depth)})"

    # Texts, dates and timestamps

    def _text(self, _: str, depth: int) -> str:
        operand = self.of("text", depth)
        start = self._random.choice(["1", "2", "0", "-1", "i2::int4"])
        count = self._random.choice(["", ", 2", ", 0", ", i2::int4"])
        other = self._or_constant(self._random.choice(["text", "int4"]), depth)
        forms = [f"lower({operand})", f"upper({operand})", f"substring({operand}, {start}{count})"]
        forms.append(f"substring({operand} FROM {start}{count.replace(', ', ' FOR ')})")
        return self._random.choice([*forms, f"({operand} || {other})"])

    def _moment(self, type_: str, depth: int) -> str:
        operand = self.of(type_, depth)
        if type_ == "date":
            return f"({operand} {self._random.choice('+-')} {self._or_constant('int4', depth)})"
        if self._random.random() < 0.4:
            return f"date_trunc('{self._random.choice(_UNITS.split())}', {operand})"
        intervals = ["1 month", "-13 months", "40 days", "90061.5 seconds", "1 year 2 mons -3 days"]
        interval = self._random.choice(intervals)
        operand = self.of(self._random.choice(["date", "timestamp"]), depth)
        return f"({operand} {self._random.choice('+-')} interval '{interval}')"
