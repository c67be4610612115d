"""A module whose functions are compiled one by one."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from twinjit._native import _llvm
from twinjit.program_options import Linkable
from twinjit.signature import Signature

__all__ = ["Unit", "UnitFunction"]


@dataclass(frozen=True)
class UnitFunction:
    """A function of a module.

    Attributes
    ----------
    symbol
        Its name in the module.
    type
        With the calling convention, as LLVM writes them.
    is_public
        Whether others may call it.
    """

    symbol: str
    type: str
    is_public: bool


@dataclass(eq=False)
class Unit:
    """A module, and where its variables are.

    Attributes
    ----------
    split
        The module itself.
    defined, declared
        Its functions by symbol.
    signatures
        By symbol, where they are not what LLVM's types tell.
    cells
        Cells of the functions that it defines, by symbol.
    given
        Addresses of external symbols that it means.
    libraries
        What its functions may import from.
    data
        Addresses of its variables by symbol; None as long as nobody needed one.
    image
        The memory that these are in.
    """

    split: _llvm.Split
    defined: Mapping[str, UnitFunction]
    declared: Mapping[str, UnitFunction]
    signatures: Mapping[str, Signature] = field(default_factory=dict)
    cells: dict[str, int] = field(default_factory=dict)
    given: Mapping[str, int] = field(default_factory=dict)
    libraries: Linkable | None = None
    data: Mapping[str, int] | None = None
    image: _llvm.Image | None = None

    @classmethod
    def read(
        cls, source: bytes, name: str, signatures: Mapping[str, Signature] | None = None
    ) -> Unit:
        """Read LLVM IR text or bitcode.

        Parameters
        ----------
        signatures
            Of the public functions, by symbol, where LLVM's types and linkage do not tell.

        Raises
        ------
        ParseError, VerificationError
            If it is not valid.
        """
        split = _llvm.split(source, name)
        defined: dict[str, UnitFunction] = {}
        declared: dict[str, UnitFunction] = {}
        for symbol, type_, is_defined, is_public in split.functions():
            group = defined if is_defined else declared
            if signatures is not None:
                is_public = symbol in signatures
            group[symbol] = UnitFunction(symbol, type_, is_public)
        # What MLIR's lowerings allocate with has no way to fail; LLVM IR means the C library's.
        given = {"malloc": _llvm.malloc_address()} if signatures is None else {}
        return cls(split, defined, declared, signatures or {}, given=given)

    def public(self) -> Iterator[UnitFunction]:
        """Give the functions that others may call."""
        return (each for each in self.defined.values() if each.is_public)

    def extract(
        self, symbol: str, known: Container[str]
    ) -> tuple[bytes, list[tuple[str, str, str]], Sequence[str]]:
        """Make a function's part.

        Parameters
        ----------
        symbol
            Of the function.
        known
            Names of lazy functions outside of the module.

        Returns
        -------
        bytes, list of tuple, Sequence of str
            The bitcode; its links (symbol, kind, name); and the functions outside of the module
            that are not lazy, and thus external symbols of the part.
        """
        outside = self.split.outside(symbol)
        lazy = [name for name in outside if name in known]
        bitcode, links = self.split.extract(symbol, lazy)
        return bitcode, links, [name for name in outside if name not in known]
