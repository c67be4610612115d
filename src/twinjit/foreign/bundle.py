"""What all packages that hold programs have in common."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

from twinjit.errors import UnfingerprintableError, UnsupportedProgramError
from twinjit.forks import held_off
from twinjit.language import Language

__all__ = ["Bundle", "Unknown", "Written", "distribution_of"]


class Unknown(NamedTuple):
    """What of a program our MLIR does not know.

    Attributes
    ----------
    operations
        Names of operations.
    dialects
        Namespaces of attributes and types.
    properties
        Properties of operations that are known without, as ``operation property``.
    references
        Attributes and types, of these dialects, that refer to what their text does not hold.
    """

    operations: list[str]
    dialects: list[str]
    properties: list[str]
    references: list[str]


class Bundle(ABC):
    """The package, a build of MLIR of its own or none, that holds a program.

    Parameters
    ----------
    package
        The Python package, such as ``iree.compiler``.
    distribution
        What is installed, as name and version; None where that is not known.
    """

    def __init__(self, package: str, distribution: tuple[str, str] | None) -> None:
        self.package = package
        self._distribution = distribution

    def __str__(self) -> str:
        return " ".join(self._distribution) if self._distribution else self.package

    def domain(self, unknown: Unknown) -> str:
        """Name the dialects by which only this bundle knows what the program means.

        Text in these dialects is compared as text, which another version may spell otherwise; so
        the name has the bundle's version, and a fingerprint in one domain is never one in another.

        Parameters
        ----------
        unknown
            What of the program our MLIR does not know.

        Returns
        -------
        str
            Empty if that is unknown to the bundle as well: then it means the same everywhere.

        Raises
        ------
        UnfingerprintableError
            If the bundle's version is not known, or its text does not hold the whole program.
        """
        own = {name for name in unknown.dialects if self.registers_dialect(name)}
        operations = {name for name in unknown.operations if self.registers_operation(name)}
        own |= {name.partition(".")[0] for name in (*operations, *unknown.properties)}
        if not own:
            return ""
        names = ", ".join(sorted(own))
        if self._distribution is None:
            raise UnfingerprintableError(
                f"the program has dialects ({names}) that only {self.package} knows, and which "
                f"version that is cannot be found out: install {self.package} as a distribution"
            )
        return f"{self}: {names}"

    def failure(self, error: Exception) -> UnsupportedProgramError:
        """What to raise where the bundle raised `error`, of whatever kind, instead of printing."""
        return UnsupportedProgramError(
            f"{self} cannot print the program: {type(error).__name__}: {error}"
        )

    @abstractmethod
    def registers_operation(self, name: str) -> bool:
        """Whether an operation of the program is registered in the bundle."""

    @abstractmethod
    def registers_dialect(self, namespace: str) -> bool:
        """Whether a dialect of attributes or types of the program is."""


@dataclass(frozen=True)
class Written:
    """A program as its bundle wrote it.

    Attributes
    ----------
    data
        MLIR's generic text, or LLVM IR.
    language
        Which of the two.
    bundle
        Who wrote it.
    """

    data: bytes
    language: Language
    bundle: Bundle


@functools.cache
def distribution_of(package: str, file: str = "__init__.py") -> tuple[str, str] | None:
    """Name and version of the distribution that a package came with, by one of its files.

    Looks at all that is installed where the package's first name does not tell, some 0.2 s.
    """
    with held_off():
        import importlib.metadata  # 10 ms, which `import twinjit` must not take

    path = f"{package.replace('.', '/')}/{file}"
    try:
        likely = [importlib.metadata.distribution(package.partition(".")[0])]
    except importlib.metadata.PackageNotFoundError:
        likely = []
    for found in (*likely, *importlib.metadata.distributions()):
        if any(each.as_posix() == path for each in found.files or ()):
            return found.metadata["Name"], found.version
    return None
