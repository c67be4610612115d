"""What users say of one program, beside what it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from twinjit.prototypes import NO_PROTOTYPES, Prototypes
from twinjit.symbols import NO_SYMBOLS, Symbols

__all__ = ["DEFAULT_OPTIONS", "Linkable", "ProgramOptions"]


class Linkable(Protocol):
    """Libraries that a program may import functions from: `twinjit.library.Libraries`.

    Equal where their identities are.
    """

    @property
    def identity(self) -> bytes:
        """Digest of all that is in them, 32 bytes."""

    def digest(self, names: Iterable[str]) -> bytes | None:
        """Digest all that can be imported for functions that a program calls; None for nothing."""

    def import_into(
        self, bitcode: bytes, names: Iterable[str], triple: str
    ) -> tuple[bytes, tuple[str, ...]]:
        """Return a program with functions imported, and which."""

    def to_plain(self) -> list[dict[str, Any]]:
        """Give what JSON can hold and another process can open them by."""


@dataclass(frozen=True)
class ProgramOptions:
    """Options of `Compiler.compile` that concern a program; programs travel with them.

    Attributes
    ----------
    signatures
        What Python passes to functions. No part of keys.
    symbols
        Addresses of what the program declares. No part of keys: the names are, as the program's.
    libraries
        What it may import functions from. Keys have what can be imported.
    """

    signatures: Prototypes = NO_PROTOTYPES
    symbols: Symbols = NO_SYMBOLS
    libraries: Linkable | None = None

    @classmethod
    def of(
        cls,
        *,
        signatures: Mapping[str, object] | None = None,
        symbols: Mapping[str, object] | None = None,
        libraries: Linkable | None = None,
    ) -> ProgramOptions:
        """Read them as users give them, but for libraries, which are joined already.

        Raises
        ------
        ConfigError
            If one cannot be used.
        """
        if not signatures and not symbols and libraries is None:
            return DEFAULT_OPTIONS
        return cls(Prototypes.of(signatures), Symbols.of(symbols), libraries)


DEFAULT_OPTIONS = ProgramOptions()
