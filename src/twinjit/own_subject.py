"""What subjects share that read and compile in the calling thread; see `subject.Subject`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from twinjit._native._llvm import note_phase
from twinjit.artifact import Artifact
from twinjit.build import BuildOptions
from twinjit.constants import NO_CONSTANTS, Constants
from twinjit.errors import UnfingerprintableError
from twinjit.lazily import lazily
from twinjit.lowering import Imports
from twinjit.report import Clock
from twinjit.source import Source
from twinjit.stop import Stop

__all__ = ["OwnSubject"]


class _Declaring(Protocol):
    def declarations(self) -> Sequence[str]: ...


_Program = TypeVar("_Program", bound=_Declaring)


class OwnSubject(ABC, Generic[_Program]):
    """A program that is read and compiled in the calling thread, in either language."""

    def __init__(self, source: Source, clock: Clock, stop: Stop, options: BuildOptions) -> None:
        self.source = source
        self._clock = clock
        self._stop = stop
        self._options = options

    @lazily
    def program(self) -> _Program:
        """In a context of its own. Compiling consumes it."""
        self._stop.check()
        self._load()
        note_phase("parse")
        parsed = self._parse()
        self._clock.lap("parse")
        self._stop.check()
        return parsed

    @lazily
    def fingerprint(self) -> bytes | None:
        """None for a program that has none."""
        return self._identity[0]

    @property
    def why_unknown(self) -> str:
        """Why it has no fingerprint."""
        return self._identity[1]

    @lazily
    def imports(self) -> bytes | None:
        """Digest of what can be imported into it."""
        return self._imports.digest() if self._imports else None

    def constants(self) -> Constants:
        """Return the large constants that the policy takes for parameters."""
        return self._constants

    def check_hit(self, artifact: Artifact) -> None:
        """Do nothing: that is for those of `checking`."""

    def close(self) -> None:
        """Let go of the program."""
        self.__dict__.pop("program", None)

    def _load(self) -> None:
        """Load what reading needs."""

    @abstractmethod
    def _parse(self) -> _Program: ...

    @abstractmethod
    def _find_fingerprint(self) -> bytes: ...

    @abstractmethod
    def _find_constants(self) -> Sequence[tuple[str, bytes]]:
        """Types and contents of the large constants that the policy takes for parameters."""

    @lazily
    def _imports(self) -> Imports | None:
        libraries = self.source.options.libraries
        return Imports(libraries, tuple(self.program.declarations())) if libraries else None

    @lazily
    def _identity(self) -> tuple[bytes | None, str]:
        self.program  # noqa: B018 -- read before the phase begins
        note_phase("fingerprint")
        try:
            return self._find_fingerprint(), ""
        except UnfingerprintableError as error:
            return None, error.message
        finally:
            self._clock.lap("fingerprint")

    @lazily
    def _constants(self) -> Constants:
        if self._options.policy.constants != "lift":
            return NO_CONSTANTS
        found = self._find_constants()
        return Constants(tuple(type_ for type_, _ in found), tuple(data for _, data in found))
