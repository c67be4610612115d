"""The libraries of a program, searched in order."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from json import dumps, loads
from typing import Any

from twinjit.errors import ConfigError
from twinjit.key import start_digest
from twinjit.lazily import lazily
from twinjit.library.library import Library

__all__ = ["Libraries", "libraries_of"]


class Libraries:
    """Some libraries; a function is imported from the first that defines it.

    Equal where their identities are.

    Parameters
    ----------
    several
        At least one.
    """

    def __init__(self, several: tuple[Library, ...]) -> None:
        self._several = several

    @lazily
    def identity(self) -> bytes:
        """Digest of all that is in them, 32 bytes."""
        parts = ((str(number), each.identity) for number, each in enumerate(self._several))
        return start_digest(tuple(parts)).digest()

    def digest(self, names: Iterable[str]) -> bytes | None:
        """Digest all that can be imported; None for nothing. Raises as `Library.digest` does."""
        asked = self._asked(names)
        found = [each.digest(wanted) for each, wanted in asked]
        parts = [digest for digest in found if digest is not None]
        if not parts:
            return None
        return start_digest(tuple((str(i), part) for i, part in enumerate(parts))).digest()

    def import_into(
        self, bitcode: bytes, names: Iterable[str], triple: str
    ) -> tuple[bytes, tuple[str, ...]]:
        """Import what libraries define, as `Library.import_into` does for one."""
        asked = self._asked(names)
        functions: list[str] = []
        variables: list[str] = []
        before = -1
        while len(functions) + len(variables) != before:  # one may use what only another defines
            before = len(functions) + len(variables)
            for library, wanted in asked:
                bitcode, *imported = library.import_among(
                    bitcode, wanted, triple, functions + variables
                )
                functions += imported[0]
                variables += imported[1]
            if len(asked) == 1:
                break
        return bitcode, tuple(functions)

    def to_plain(self) -> list[dict[str, Any]]:
        """Give what JSON can hold; see `Library.to_plain`."""
        return [each.to_plain() for each in self._several]

    @classmethod
    def from_plain(cls, data: list[dict[str, Any]]) -> Libraries:
        """Open what `to_plain` was called on, each library once in a process.

        Raises
        ------
        LibraryError
            As `Library.from_plain` does.
        """
        return cls(tuple(_opened(dumps(each, sort_keys=True)) for each in data))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Libraries) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)

    def _asked(self, names: Iterable[str]) -> list[tuple[Library, list[str]]]:
        """Which library is asked for which names: those of the program, and of other libraries."""
        if len(self._several) == 1:
            return [(self._several[0], list(names))]
        asked: list[dict[str, None]] = [{} for _ in self._several]
        pending = list(names)
        seen = set(pending)
        while pending:
            name = pending.pop()
            for library, wanted in zip(self._several, asked, strict=True):
                if library.defines(name):
                    wanted[name] = None
                    more = [each for each in library.externals([name]) if each not in seen]
                    seen.update(more)
                    pending += more
                    break
        return [(each, list(wanted)) for each, wanted in zip(self._several, asked, strict=True)]


@lru_cache(maxsize=32)
def _opened(plain: str) -> Library:
    return Library.from_plain(loads(plain))


def libraries_of(given: Iterable[Library] | Library | None) -> Libraries | None:
    """Take what a user gave as libraries; None for none.

    Raises
    ------
    ConfigError
        If something else than libraries is among them.
    """
    wanted = "give what Library.from_bitcode, from_c or from_mlir returns, or several of these"
    if isinstance(given, str | bytes) or not isinstance(given, Iterable | Library | None):
        raise ConfigError(f"libraries is {given!r:.200}, which is no library; {wanted}")
    several = (given,) if isinstance(given, Library) else tuple(given or ())
    for each in several:
        if not isinstance(each, Library):
            raise ConfigError(f"libraries has {each!r:.200}, which is no library; {wanted}")
    return Libraries(several) if several else None
