"""A program on its way to code: what was handed in, read as far as a lookup needs it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from twinjit import reader
from twinjit.constants import NO_CONSTANTS, Constants
from twinjit.errors import UnfingerprintableError
from twinjit.lazily import lazily
from twinjit.policy import Policy
from twinjit.report import Clock
from twinjit.source import LiveModule, Source

if TYPE_CHECKING:
    from twinjit._native import _mlir

__all__ = ["Subject", "live_fingerprint", "load_mlir"]


class Subject:
    """A program to look up and compile, read when that is first needed, and once.

    Programs to compare, in either language, are `identity.Comparand`.

    Attributes
    ----------
    source
        What was handed in.
    """

    def __init__(self, source: Source, clock: Clock, policy: Policy) -> None:
        self.source = source
        self._clock = clock
        self._policy = policy

    @lazily
    def program(self) -> _mlir.Program:
        """In a private context. Compiling consumes it; ask for all else before."""
        parsed = _read(self.source, self._clock)
        self._clock.lap("parse")
        return parsed

    @lazily
    def fingerprint(self) -> bytes | None:
        """None for a program that has none."""
        return self._identity[0]

    @property
    def why_unknown(self) -> str:
        """Why it has no fingerprint, naming the part to blame; empty if it has."""
        return self._identity[1]

    def constants(self) -> Constants:
        """Return the large constants that the policy takes for parameters."""
        return self._constants

    @lazily
    def _identity(self) -> tuple[bytes | None, str]:
        from twinjit._native import _mlir

        program = self.program
        try:
            return _mlir.fingerprint(program, self._policy.text), ""
        except UnfingerprintableError as error:
            return None, error.message
        finally:
            self._clock.lap("fingerprint")

    @lazily
    def _constants(self) -> Constants:
        if self._policy.constants != "lift":
            return NO_CONSTANTS
        from twinjit._native import _mlir

        found = _mlir.constants(self.program, self._policy.text)
        return Constants(tuple(type_ for type_, _ in found), tuple(data for _, data in found))


def live_fingerprint(module: LiveModule, policy: Policy) -> bytes | None:
    """Return the fingerprint of a live module where it lives; None where it has none."""
    from twinjit._native import _mlir

    try:
        return _mlir.fingerprint(module.capsule, policy.text)
    except UnfingerprintableError:
        return None


def load_mlir(clock: Clock) -> None:
    """Load MLIR's library: 200 MB, which a hit on text must not need."""
    if "twinjit._native._mlir" not in sys.modules:
        from twinjit._native import _mlir  # noqa: F401 -- loading it is the point

        clock.lap("import")


def _read(source: Source, clock: Clock) -> _mlir.Program:
    """Bring a program into a private context."""
    load_mlir(clock)
    return reader.read_to_compile(source)
