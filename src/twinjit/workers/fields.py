"""A JSON object that others may have written, field by field."""

from __future__ import annotations

import json
from typing import TypeVar

from twinjit.errors import ReproducerError

__all__ = ["Fields"]

T = TypeVar("T", str, int, bool)


class Fields:
    """The fields of one object; what is wrong with them is a `ReproducerError`.

    Parameters
    ----------
    data
        What was parsed.
    place
        What messages begin with: the file, and the path to this object in it.
    """

    def __init__(self, data: object, place: str) -> None:
        self._place = place
        if not isinstance(data, dict):
            raise self.failure(f"{_kind(data)} where an object belongs")
        self._data = data

    @classmethod
    def parse(cls, text: bytes, place: str) -> Fields:
        """Read an object.

        Raises
        ------
        ReproducerError
            If the text is no JSON object.
        """
        try:
            return cls(json.loads(text), place)
        except ReproducerError:
            raise
        except (ValueError, RecursionError) as error:
            raise ReproducerError(f"{place}: this is not JSON: {error}") from None

    def failure(self, what: str) -> ReproducerError:
        """Make an error that names the place."""
        return ReproducerError(f"{self._place}: {what}")

    def names(self) -> tuple[str, ...]:
        """Name the fields that there are."""
        return tuple(self._data)

    def part(self, name: str) -> Fields:
        """Return the object in a field.

        Raises
        ------
        ReproducerError
            If there is none.
        """
        return Fields(self._data.get(name), f"{self._place}: {name}")

    def has(self, name: str) -> bool:
        """Whether a field is there, and not null."""
        return self._data.get(name) is not None

    def take(self, name: str, kind: type[T]) -> T:
        """Return the value of a field.

        Raises
        ------
        ReproducerError
            If it is missing, of another type, or text that is not valid Unicode.
        """
        value = self._data.get(name)
        if type(value) is not kind:
            raise self.failure(f"{name} is {_kind(value)}; it should be {_KINDS[kind]}")
        if isinstance(value, str):
            self._check_unicode(name, value)
        return value

    def count(self, name: str, most: int = (1 << 63) - 1) -> int:
        """Return a whole number from 0 up.

        Raises
        ------
        ReproducerError
            If it is missing, none, or more than `most`.
        """
        value = self.take(name, int)
        if not 0 <= value <= most:
            raise self.failure(f"{name} is {value}; it should be from 0 to {most}")
        return value

    def _check_unicode(self, name: str, value: str) -> None:
        try:
            value.encode()
        except UnicodeEncodeError:
            raise self.failure(f"{name} is not valid Unicode") from None


_KINDS: dict[type, str] = {str: "text", int: "a whole number", bool: "true or false"}


def _kind(value: object) -> str:
    if value is None:
        return "missing"
    names: dict[type, str] = {**_KINDS, list: "a list", dict: "an object", float: "a fraction"}
    return names[type(value)]
