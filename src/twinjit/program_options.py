"""What users say of one program, beside what it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from twinjit.prototypes import NO_PROTOTYPES, Prototypes
from twinjit.symbols import NO_SYMBOLS, Symbols

__all__ = ["DEFAULT_OPTIONS", "ProgramOptions"]


@dataclass(frozen=True)
class ProgramOptions:
    """Options of `Compiler.compile` that concern a program; programs travel with them.

    Attributes
    ----------
    signatures
        What Python passes to functions. No part of keys.
    symbols
        Addresses of what the program declares. No part of keys: the names are, as the program's.
    """

    signatures: Prototypes = NO_PROTOTYPES
    symbols: Symbols = NO_SYMBOLS

    @classmethod
    def of(
        cls,
        *,
        signatures: Mapping[str, object] | None = None,
        symbols: Mapping[str, object] | None = None,
    ) -> ProgramOptions:
        """Read them as users give them.

        Raises
        ------
        ConfigError
            If one cannot be used.
        """
        if not signatures and not symbols:
            return DEFAULT_OPTIONS
        return cls(Prototypes.of(signatures), Symbols.of(symbols))


DEFAULT_OPTIONS = ProgramOptions()
