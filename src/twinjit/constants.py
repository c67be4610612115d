"""Large constants that a policy takes for parameters: what code expects, and what programs have."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from blake3 import blake3

from twinjit.artifact import Artifact
from twinjit.errors import ArtifactError
from twinjit.lazily import lazily

__all__ = ["LIFTED_SECTION", "NO_CONSTANTS", "Constants", "LiftedConstant"]

LIFTED_SECTION = "constants"
"""The section of artifacts that lists the constants which the code looks for, in canonical order.

A JSON list, not empty, of objects ``{"name": text, "type": text, "size": int, "alignment": int}``,
which mean what `LiftedConstant` says.
"""


@dataclass(frozen=True)
class LiftedConstant:
    """A constant that code looks for outside of its object.

    Attributes
    ----------
    name
        The symbol by which code refers to it.
    type
        The elements' type, as MLIR writes it.
    size
        In bytes.
    alignment
        In bytes; a power of 2, and at most a page.
    """

    name: str
    type: str
    size: int
    alignment: int

    @classmethod
    def all_of(cls, artifact: Artifact) -> tuple[LiftedConstant, ...]:
        """Return those of an artifact's code, in canonical order.

        Raises
        ------
        ArtifactError
            If the artifact's list of them cannot be read.
        """
        section = artifact.section(LIFTED_SECTION)
        if section is None:
            return ()
        try:
            return tuple(map(cls._read, _items(json.loads(bytes(section)))))
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise ArtifactError(f"the artifact's constants cannot be read: {error!r}") from error

    @classmethod
    def _read(cls, data: dict[str, Any]) -> LiftedConstant:
        constant = cls(**data)
        kinds = (str, str, int, int)
        if tuple(type(value) for value in asdict(constant).values()) != kinds:
            raise TypeError(f"not a constant: {data!r}")
        if constant.alignment not in (1 << power for power in range(13)):
            raise ValueError(f"no alignment: {constant.alignment}")
        return constant

    @staticmethod
    def to_section(lifted: Sequence[LiftedConstant]) -> bytes:
        """Write what `all_of` reads."""
        return json.dumps([asdict(constant) for constant in lifted]).encode()


@dataclass(frozen=True)
class Constants:
    """The large constants of one program, in canonical order.

    Attributes
    ----------
    types
        Of the elements of each, as MLIR writes them.
    contents
        The elements of each, as they lie in memory.
    """

    types: tuple[str, ...] = ()
    contents: tuple[bytes, ...] = ()

    @lazily
    def digest(self) -> bytes:
        """BLAKE3-256 over the contents and their sizes; empty where there are none."""
        if not self.contents:
            return b""
        hasher = blake3()
        for content in self.contents:
            hasher.update(len(content).to_bytes(8, "little"))
            hasher.update(content)
        return hasher.digest()

    def bind(self, lifted: Sequence[LiftedConstant]) -> list[tuple[str, bytes, int]]:
        """Give code what it looks for: name, content and alignment of each constant.

        Raises
        ------
        ArtifactError
            If the code looks for other constants than these.
        """
        wanted = [(constant.type, constant.size) for constant in lifted]
        given = list(zip(self.types, map(len, self.contents), strict=True))
        if wanted != given:
            raise ArtifactError(f"the code is for the constants {wanted}, the program has {given}")
        return [
            (constant.name, content, constant.alignment)
            for constant, content in zip(lifted, self.contents, strict=True)
        ]


NO_CONSTANTS = Constants()


def _items(data: object) -> list[dict[str, Any]]:
    if not isinstance(data, list) or not data:
        raise TypeError("not a list of constants")
    return data
