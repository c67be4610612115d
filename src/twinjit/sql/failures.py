"""How expressions can fail: the codes that kernels and the interpreter give for a row.

The texts are PostgreSQL 15's, but for values that it shows in some and for what its numeric holds
and 128 bits do not.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from twinjit.errors import SqlError

__all__ = ["Failure", "failure_error", "raise_first", "raise_if_failed"]


class Failure(IntEnum):
    """Codes; 0 is no failure."""

    INT2_RANGE = 1
    INT4_RANGE = 2
    INT8_RANGE = 3
    FLOAT_OVERFLOW = 4
    FLOAT_UNDERFLOW = 5
    DIVISION_BY_ZERO = 6
    NUMERIC_RANGE = 7
    NUMERIC_SPECIAL = 8
    DATE_RANGE = 9
    TIMESTAMP_RANGE = 10
    NEGATIVE_SUBSTRING = 11
    SQUARE_ROOT_OF_NEGATIVE = 12
    LOGARITHM_OF_ZERO = 13
    LOGARITHM_OF_NEGATIVE = 14
    ZERO_TO_NEGATIVE_POWER = 15
    COMPLEX_POWER = 16
    PATTERN_ENDS_WITH_ESCAPE = 17
    LONG_ESCAPE = 18
    BOOL_SYNTAX = 19
    INT2_SYNTAX = 20
    INT4_SYNTAX = 21
    INT8_SYNTAX = 22
    FLOAT4_SYNTAX = 23
    FLOAT8_SYNTAX = 24
    NUMERIC_SYNTAX = 25
    DATE_SYNTAX = 26
    TIMESTAMP_SYNTAX = 27
    DATETIME_FIELD_RANGE = 28
    INT2_TEXT_RANGE = 29
    INT4_TEXT_RANGE = 30
    INT8_TEXT_RANGE = 31
    FLOAT4_TEXT_RANGE = 32
    FLOAT8_TEXT_RANGE = 33
    OUT_OF_MEMORY = 34


_TEXTS: dict[Failure, tuple[str, str]] = {
    Failure.INT2_RANGE: ("22003", "smallint out of range"),
    Failure.INT4_RANGE: ("22003", "integer out of range"),
    Failure.INT8_RANGE: ("22003", "bigint out of range"),
    Failure.FLOAT_OVERFLOW: ("22003", "value out of range: overflow"),
    Failure.FLOAT_UNDERFLOW: ("22003", "value out of range: underflow"),
    Failure.DIVISION_BY_ZERO: ("22012", "division by zero"),
    Failure.NUMERIC_RANGE: ("22003", "numeric field overflow: 38 digits do not hold the value"),
    Failure.NUMERIC_SPECIAL: ("22003", "numeric holds neither NaN nor infinity here"),
    Failure.DATE_RANGE: ("22008", "date out of range"),
    Failure.TIMESTAMP_RANGE: ("22008", "timestamp out of range"),
    Failure.NEGATIVE_SUBSTRING: ("22011", "negative substring length not allowed"),
    Failure.SQUARE_ROOT_OF_NEGATIVE: ("2201F", "cannot take square root of a negative number"),
    Failure.LOGARITHM_OF_ZERO: ("2201E", "cannot take logarithm of zero"),
    Failure.LOGARITHM_OF_NEGATIVE: ("2201E", "cannot take logarithm of a negative number"),
    Failure.ZERO_TO_NEGATIVE_POWER: ("2201F", "zero raised to a negative power is undefined"),
    Failure.COMPLEX_POWER: (
        "2201F",
        "a negative number raised to a non-integer power yields a complex result",
    ),
    Failure.PATTERN_ENDS_WITH_ESCAPE: (
        "22025",
        "LIKE pattern must not end with escape character",
    ),
    Failure.LONG_ESCAPE: ("22025", "invalid escape string"),
    Failure.BOOL_SYNTAX: ("22P02", "invalid input syntax for type boolean"),
    Failure.INT2_SYNTAX: ("22P02", "invalid input syntax for type smallint"),
    Failure.INT4_SYNTAX: ("22P02", "invalid input syntax for type integer"),
    Failure.INT8_SYNTAX: ("22P02", "invalid input syntax for type bigint"),
    Failure.FLOAT4_SYNTAX: ("22P02", "invalid input syntax for type real"),
    Failure.FLOAT8_SYNTAX: ("22P02", "invalid input syntax for type double precision"),
    Failure.NUMERIC_SYNTAX: ("22P02", "invalid input syntax for type numeric"),
    Failure.DATE_SYNTAX: ("22007", "invalid input syntax for type date"),
    Failure.TIMESTAMP_SYNTAX: ("22007", "invalid input syntax for type timestamp"),
    Failure.DATETIME_FIELD_RANGE: ("22008", "date/time field value out of range"),
    Failure.INT2_TEXT_RANGE: ("22003", "value is out of range for type smallint"),
    Failure.INT4_TEXT_RANGE: ("22003", "value is out of range for type integer"),
    Failure.INT8_TEXT_RANGE: ("22003", "value is out of range for type bigint"),
    Failure.FLOAT4_TEXT_RANGE: ("22003", "value is out of range for type real"),
    Failure.FLOAT8_TEXT_RANGE: ("22003", "value is out of range for type double precision"),
    Failure.OUT_OF_MEMORY: ("53200", "out of memory"),
}


def failure_error(failure: Failure) -> SqlError:
    """Make the exception for a code."""
    sqlstate, message = _TEXTS[failure]
    return SqlError(message, sqlstate)


def raise_first(failures: npt.NDArray[np.uint8]) -> None:
    """Raise the error of the first row that failed, if one did.

    Parameters
    ----------
    failures
        Shape (rows,): codes.

    Raises
    ------
    SqlError
        If one is not 0.
    """
    failed = np.flatnonzero(failures)
    if len(failed):
        raise_if_failed(int(failures[failed[0]]))


def raise_if_failed(code: int) -> None:
    """Raise the error of a code, unless it is 0.

    Raises
    ------
    SqlError
        If it is not.
    """
    if code:
        raise failure_error(Failure(code))
