"""Errors as plain values, to raise them in another process."""

from __future__ import annotations

import reprlib
from dataclasses import asdict, fields
from typing import Any

from twinjit import errors
from twinjit.code_difference import CodeDifference
from twinjit.errors import Diagnostic, TwinjitError

__all__ = ["error_from_plain", "error_to_plain"]

_EVERYWHERE = ("message", "diagnostics")
_PLACES = ("line", "column")
_KINDS = {"str": (str,), "int": (int,), "tuple[Diagnostic, ...]": (list, tuple)}
_FIELDS = {each.name: _KINDS[str(each.type)] for each in fields(Diagnostic)}


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
            if name not in _EVERYWHERE and not name.startswith("__")  # Python's own notes
        },
    }


def error_from_plain(data: Any) -> TwinjitError:
    """Make the error that `error_to_plain` was given.

    Raises
    ------
    ValueError
        If this is none that it gives.
    """
    try:
        kind = vars(errors).get(data["class"])
        if not (isinstance(kind, type) and issubclass(kind, TwinjitError)):
            raise TypeError(f"{data['class']!r} is no class of ours")
        message = _checked(data["message"], str)
        diagnostics = tuple(map(_diagnostic, data["diagnostics"]))
        attributes = {**data["attributes"]}
        found = attributes.pop("difference", None)
        for name, value in attributes.items():
            _checked(value, int if name in _PLACES else str, type(None))
        if found is not None:
            attributes["difference"] = CodeDifference.from_data(found)
        return kind(message, diagnostics=diagnostics, **attributes)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"not an error: {_shortened(data)}") from error


def _diagnostic(data: dict[str, Any]) -> Diagnostic:
    if set(data) != set(_FIELDS):
        raise TypeError("not a diagnostic")
    for name, kinds in _FIELDS.items():
        _checked(data[name], *kinds)
    return Diagnostic(**{**data, "notes": tuple(map(_diagnostic, data["notes"]))})


def _checked(value: Any, *kinds: type) -> Any:
    if type(value) not in kinds:
        raise TypeError(f"{_shortened(value)} where {kinds[0].__name__} belongs")
    return value


def _shortened(data: object) -> str:
    """Tell what came, which may be anything, of any size."""
    try:
        return reprlib.repr(data)
    except RecursionError:
        return f"a {type(data).__name__}"
