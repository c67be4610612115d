"""Errors as plain values, to raise them in another process."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from twinjit import errors
from twinjit.code_difference import CodeDifference
from twinjit.errors import Diagnostic, TwinjitError

__all__ = ["error_from_plain", "error_to_plain"]

_EVERYWHERE = ("message", "diagnostics")
_FIELDS = frozenset(each.name for each in fields(Diagnostic))


def error_to_plain(error: TwinjitError) -> dict[str, Any]:
    """Give what JSON can hold of an error: its class, and what that is made with.

    An error of a class that is not of `errors` goes as the nearest that is.
    """
    known = (
        each.__name__ for each in type(error).__mro__ if vars(errors).get(each.__name__) is each
    )
    return {
        "class": next(known),
        "message": error.message,
        "diagnostics": [asdict(each) for each in error.diagnostics],
        "attributes": {
            name: value.to_data() if isinstance(value, CodeDifference) else value
            for name, value in vars(error).items()
            if name not in _EVERYWHERE
        },
    }


def error_from_plain(data: dict[str, Any]) -> TwinjitError:
    """Make the error that `error_to_plain` was given.

    Raises
    ------
    ValueError
        If this is none that it gives.
    """
    try:
        kind = vars(errors).get(data["class"])
        message = data["message"]
        diagnostics = tuple(map(_diagnostic, data["diagnostics"]))
        if not (isinstance(kind, type) and issubclass(kind, TwinjitError)):
            raise TypeError(f"{data['class']!r} is no class of ours")
        attributes = data["attributes"]
        if attributes.get("difference"):
            found = CodeDifference.from_data(attributes["difference"])
            attributes = {**attributes, "difference": found}
        return kind(message, diagnostics=diagnostics, **attributes)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"not an error: {data!r}") from error


def _diagnostic(data: dict[str, Any]) -> Diagnostic:
    if set(data) != _FIELDS:
        raise TypeError(f"not a diagnostic: {data!r}")
    return Diagnostic(**{**data, "notes": tuple(map(_diagnostic, data["notes"]))})
