"""Bitcode whose functions can become part of programs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from twinjit._native import _llvm
from twinjit.errors import ConfigError, LibraryError
from twinjit.forks import held_off
from twinjit.key import start_digest
from twinjit.lazily import lazily
from twinjit.library.decisions import ImportDecision, decision_trees
from twinjit.library.files import Bitcode, LibraryFiles
from twinjit.library.policy import ImportPolicy

__all__ = ["Library"]

# Bytes of programs after which a context is given up: what they leave in it is of that order.
_CONTEXT_BYTES = 32 << 20


class Library:
    """Functions that can become part of programs, one by one; made by the ``from_`` methods.

    Nothing is parsed before it is needed, and what was parsed is shared by all programs. A library
    is as its files were when it was opened. Any number of threads may use one.

    Attributes
    ----------
    provided
        Whether the process defines the functions, too.
    policy
        What is imported if so.
    identity
        Digest of all of it, 32 bytes: of the files' content, `provided` and `policy`.
    """

    def __init__(
        self, files: LibraryFiles, *, provided: bool = False, policy: ImportPolicy | None = None
    ) -> None:
        if not isinstance(policy, ImportPolicy | None):
            raise ConfigError(f"policy is {policy!r}; give a twinjit.ImportPolicy or None")
        self.provided = bool(provided)
        self.policy = policy or ImportPolicy()
        self._files = files
        read, index = files.read()
        self._limits = self.policy.limits if self.provided else None
        self.identity = start_digest(
            (
                ("bitcode", read.identity()),
                ("index", index or b""),
                ("limits", repr(self._limits)),
            )
        ).digest()
        self._native = _llvm.Library(read, index, self._limits, _CONTEXT_BYTES)

    @classmethod
    def from_bitcode(
        cls,
        bitcode: Bitcode | Iterable[Bitcode],
        *,
        provided: bool = False,
        policy: ImportPolicy | None = None,
    ) -> Library:
        """Open bitcode, which no newer LLVM than Twinjit's may have written.

        Parameters
        ----------
        bitcode
            Path of a file (bitcode, or LLVM IR as text), of a folder with files that end in
            ``.bc``, or of a ThinLTO summary index that ends in ``.index.bc``; the content of a file
            (`bytes`); or several of these, searched in this order. A folder beside which lies an
            index of its name is opened by that, as PostgreSQL installs them.
        provided
            True if this process defines the functions as well: programs call those, and see the
            bodies of small ones to optimise with. False to give each program copies of all that it
            reaches.
        policy
            How much programs see if `provided`.

        Raises
        ------
        LibraryError, ParseError
            If a file is neither bitcode nor LLVM IR, or cannot be read. With an index, what is in
            files and index is read, and refused, when a function is looked for.
        ConfigError
            If `bitcode` is none of these, or the text of a program, or `policy` is not one.
        OSError
            If a file cannot be opened.
        """
        return cls(LibraryFiles.find(bitcode), provided=provided, policy=policy)

    @classmethod
    def from_c(
        cls,
        sources: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        *,
        flags: Sequence[str] = (),
        clang: str | None = None,
        provided: bool = False,
        policy: ImportPolicy | None = None,
    ) -> Library:
        """Compile C files with an installed clang.

        Parameters
        ----------
        sources
            Path of a file, or paths.
        flags
            For clang, after ours (``-O2 -fPIC``, and no vectorising or unrolling, which the
            program's own optimisation does).
        clang
            Name or path of a clang; by default the ``clang`` in PATH, or the newest ``clang-NN``
            there that Twinjit's LLVM can read.
        provided, policy
            As for `from_bitcode`.

        Raises
        ------
        LibraryError
            If there is no clang, it refuses a file (its diagnostics are the error's), or is newer
            than Twinjit's LLVM.
        ConfigError
            If `flags` is text, or `policy` no policy.
        """
        with held_off():
            from twinjit.library.clang import compile_c, find_clang
        if isinstance(flags, str):
            raise ConfigError(f"flags is {flags!r}; give a list, such as {flags.split()!r}")
        several = [sources] if isinstance(sources, (str, os.PathLike)) else list(sources)
        found = find_clang(clang)
        bitcode = tuple(compile_c(source, flags, found) for source in several)
        return cls(LibraryFiles(bitcode), provided=provided, policy=policy)

    @classmethod
    def from_mlir(cls, program: object) -> Library:
        """Make a library of an MLIR program's public functions, which programs get copies of.

        Parameters
        ----------
        program
            As for `Compiler.compile`.

        Raises
        ------
        CompilationError
            As `Compiler.compile` does.
        """
        with held_off():
            from twinjit.library.from_mlir import lower_to_bitcode
        return cls(LibraryFiles((lower_to_bitcode(program),)))

    def __repr__(self) -> str:
        count = len(self._files.items)
        files = "1 file" if count == 1 else f"{count} files"
        return f"<twinjit.Library of {files}{', provided' if self.provided else ''}>"

    @lazily
    def functions(self) -> tuple[str, ...]:
        """The functions that it defines for others, sorted. Opens all files.

        Raises
        ------
        LibraryError
            If one cannot be read.
        """
        return tuple(self._native.functions())

    def explain(self, name: str) -> ImportDecision:
        """Say whether a function would be imported, and which of those that it calls, and why.

        Raises
        ------
        LibraryError
            If the library does not define it, or cannot be read.
        """
        decision = decision_trees(self._native.explain([name]))[0] if _is_unicode(name) else None
        if decision is None or decision.file is None:
            raise LibraryError(
                f"the library defines no function {name!r} for others; its attribute functions "
                "lists those that it does"
            )
        return decision

    def defines(self, name: str) -> bool:
        """Say whether it defines a function for others."""
        return self._native.explain([name])[0][2] is not None

    def digest(self, names: Iterable[str]) -> bytes | None:
        """Digest all that can be imported for functions which a program calls.

        It depends on the bodies that can be imported and nothing else in the library, and is the
        same in every process.

        Returns
        -------
        bytes or None
            32 bytes; None where the library defines none of them.

        Raises
        ------
        LibraryError
            If the library cannot be read, or a function cannot be copied, for what it uses.
        """
        found = self._native.digest(list(names))
        if found is None:
            return None
        return start_digest((("functions", found), ("limits", repr(self._limits)))).digest()

    def externals(self, names: Iterable[str]) -> tuple[str, ...]:
        """Name what a program needs of others once functions were imported."""
        return tuple(self._native.externals(list(names)))

    def import_into(
        self, bitcode: bytes, names: Iterable[str], triple: str = ""
    ) -> tuple[bytes, tuple[str, ...]]:
        """Import functions that a program declares, into it.

        Parameters
        ----------
        bitcode
            The program.
        names
            What may be imported for; what the program defines is left alone.
        triple
            What the program is compiled for.

        Returns
        -------
        bytes, tuple of str
            The program's bitcode, and which functions it got.

        Raises
        ------
        LibraryError
            As `digest` does, or if the library is for another machine.
        """
        imported, functions, _ = self.import_among(bitcode, names, triple, ())
        return imported, functions

    def import_among(
        self, bitcode: bytes, names: Iterable[str], triple: str, before: Iterable[str]
    ) -> tuple[bytes, tuple[str, ...], tuple[str, ...]]:
        """Import functions as `import_into` does, beside what came from other libraries.

        Parameters
        ----------
        before
            The functions and variables that the program has got of others.

        Returns
        -------
        bytes, tuple of str, tuple of str
            The program's bitcode, and which functions and which variables it got.
        """
        imported, functions, variables = self._native.import_into(
            bitcode, list(names), triple, list(before)
        )
        return imported, tuple(functions), tuple(variables)

    def to_plain(self) -> dict[str, Any]:
        """Give what JSON can hold and another process can open it by: paths, or the bytes."""
        return {
            "files": self._files.to_plain(),
            "provided": self.provided,
            "limits": self.policy.limits,
            "identity": self.identity.hex(),
        }

    @classmethod
    def from_plain(cls, data: dict[str, Any]) -> Library:
        """Open the library that `to_plain` was called on.

        Raises
        ------
        LibraryError
            If its files are other ones here, or missing.
        """
        try:
            opened = cls(
                LibraryFiles.from_plain(data["files"]),
                provided=data["provided"],
                policy=ImportPolicy(*data["limits"]),
            )
        except OSError as error:
            raise LibraryError(
                f"a library's file cannot be opened where the program is compiled: {error}. "
                "Libraries travel by path: have the same files there, or open it from bytes"
            ) from error
        if opened.identity.hex() != data["identity"]:
            raise LibraryError(
                "a library's files are other ones where the program is compiled, or were changed "
                "since it was opened; open it again, or from bytes"
            )
        return opened


def _is_unicode(name: str) -> bool:
    """Say whether a name can be one in bitcode: Python's strings may hold lone surrogates."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
