"""What users say of functions that their program does not: their types in C."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from twinjit.errors import ConfigError, SignatureError
from twinjit.forks import held_off
from twinjit.signature import Signature

if TYPE_CHECKING:
    from twinjit.c_types import Prototype

__all__ = ["NO_PROTOTYPES", "Prototypes"]


class Prototypes:
    """Types in C of functions by name. Equal where these are."""

    def __init__(self, by_name: Mapping[str, Prototype]) -> None:
        self._by_name = tuple(by_name.items())

    @classmethod
    def of(cls, given: Mapping[str, object] | None) -> Prototypes:
        """Read the option `signatures` of `Compiler.compile`.

        Raises
        ------
        ConfigError
            If it is no mapping of names to types.
        """
        if not given:
            return NO_PROTOTYPES
        if not isinstance(given, Mapping):
            raise ConfigError(f"signatures is {given!r}; give a mapping of names to types")
        with held_off():
            from twinjit.c_types import Prototype
        return cls(
            {name: Prototype.of(f"signatures[{name!r}]", each) for name, each in given.items()}
        )

    def __len__(self) -> int:
        return len(self._by_name)

    def refine(self, signatures: Mapping[str, Signature]) -> Mapping[str, Signature]:
        """Make the signatures of the functions whose types were given.

        Raises
        ------
        SignatureError
            If one has another type, or there is none.
        """
        refined = {}
        for name, prototype in self._by_name:
            if name not in signatures:
                known = ", ".join(signatures) or "none at all"
                raise SignatureError(
                    f"signatures has {name!r}, and the program no such function; it has {known}"
                )
            refined[name] = prototype.refine(signatures[name])
        return refined

    def prototype(self, name: str) -> Prototype | None:
        """Return the type of a function, if it was given."""
        return dict(self._by_name).get(name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Prototypes) and self._by_name == other._by_name

    def __hash__(self) -> int:
        return hash(self._by_name)


NO_PROTOTYPES = Prototypes({})
