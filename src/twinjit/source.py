"""What users hand in as a program, sorted into two ways of taking it: bytes, or a live module."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar

from twinjit.errors import ParseError, UnsupportedProgramError
from twinjit.forks import held_off
from twinjit.language import Language, check_language, language_of
from twinjit.program_options import DEFAULT_OPTIONS, ProgramOptions

if TYPE_CHECKING:
    from twinjit.foreign import Bundle

__all__ = ["CapturedModule", "LiveModule", "Source", "SourceBytes", "open_source"]

_LLVM_ENDINGS = (".ll", ".bc")
_PATH_ENDINGS = (".mlir", ".mlirbc", *_LLVM_ENDINGS)

# The package whose bindings hold modules of the MLIR that we are built on.
_OWN_PACKAGE = "mlir"


@dataclass(frozen=True)
class SourceBytes:
    """A program in text or binary form.

    Attributes
    ----------
    data
        UTF-8 text, bytecode or bitcode.
    name
        For diagnostics: the path, or a placeholder.
    language
        ``"mlir"`` or ``"llvm"``.
    bundle
        Who wrote it, if a program of another package was handed in. Its text is to be read with
        all that `bundle` may know and we do not: ``reader.py``.
    options
        What its user says of it.
    """

    data: bytes
    name: str
    language: Language = "mlir"
    bundle: Bundle | None = None
    options: ProgramOptions = DEFAULT_OPTIONS


@dataclass(frozen=True)
class CapturedModule(SourceBytes):
    """A live module as it was at some moment, as bytecode.

    Attributes
    ----------
    fingerprint
        That of the module; None if it has none.
    """

    fingerprint: bytes | None = None


@dataclass(frozen=True)
class LiveModule:
    """A module or operation of our MLIR in its user's own context.

    Attributes
    ----------
    capsule
        Its ``_CAPIPtr``.
    owner
        The Python object, kept so that the operation lives.
    options
        What its user says of it.
    """

    capsule: object
    owner: object
    options: ProgramOptions = DEFAULT_OPTIONS

    language: ClassVar[Language] = "mlir"

    name: ClassVar[str] = "<module>"
    """For diagnostics."""


Source = SourceBytes | LiveModule


def open_source(program: object, *, language: str = "auto", locations: bool = False) -> Source:
    """Sort a program.

    Parameters
    ----------
    program
        MLIR or LLVM IR, as text (`str`), a path (`os.PathLike`, or a `str` of one line that names
        a file or ends in ``.mlir``, ``.mlirbc``, ``.ll`` or ``.bc``), or text, bytecode or bitcode
        (`bytes`); a Module, Operation or OpView of ``mlir.ir`` or of the same bindings in another
        package (``jaxlib.mlir``, ``iree.compiler``, ``torch_mlir`` …); what JAX has lowered; an
        xDSL operation; or a Module of ``llvmlite.ir`` or ModuleRef of ``llvmlite.binding``.
    language
        ``"mlir"`` or ``"llvm"`` to say which language it is in; ``"auto"`` to find out.
    locations
        Whether source locations matter, which other packages then write as well.

    Raises
    ------
    ParseError
        If it is text that UTF-8 cannot express.
    UnsupportedProgramError
        If it is none of these, or cannot be in that language.
    ConfigError
        If `language` is not one of the three.
    OSError
        If it names a file that cannot be read.
    """
    check_language(language)
    if isinstance(program, str) and not _is_path(program):
        return _of_bytes(_encode(program), "<text>", language)
    if isinstance(program, (str, os.PathLike)):
        with open(program, "rb") as file:
            # Diagnostics are UTF-8, which a path need not be.
            name = os.fsencode(program).decode(errors="replace")
            return _of_bytes(file.read(), name, language)
    if isinstance(program, (bytes, bytearray, memoryview)):
        return _of_bytes(bytes(program), "<bytes>", language)
    source = _of_object(program, locations=locations)
    found = source.language if isinstance(source, SourceBytes) else "mlir"
    if language not in ("auto", found):
        raise UnsupportedProgramError(
            f"a {_kind(program)} is not in the language {language!r} that was asked for"
        )
    return source


def _of_bytes(data: bytes, name: str, language: str) -> SourceBytes:
    if language == "auto":
        is_llvm = name.endswith(_LLVM_ENDINGS)
        return SourceBytes(data, name, language_of(data, "llvm" if is_llvm else "mlir"))
    return SourceBytes(data, name, "llvm" if language == "llvm" else "mlir")


@cache
def _foreign() -> ModuleType:
    """Import what a hit on text need not load."""
    with held_off():
        from twinjit import foreign
    return foreign


def _of_object(program: object, *, locations: bool) -> Source:
    foreign = _foreign()
    lowered = getattr(program, "compiler_ir", None)  # of jax.stages.Lowered
    held = lowered() if callable(lowered) else program
    operation = getattr(held, "operation", held)
    package = foreign.package_of(operation)
    if package == _OWN_PACKAGE:
        return LiveModule(operation._CAPIPtr, held)  # type: ignore[attr-defined]  # found by package_of
    written = foreign.write_down(held, locations=locations)
    if written is None:
        raise UnsupportedProgramError(
            f"cannot take a {_kind(program)} as a program: give MLIR or LLVM IR as text, a path, "
            "bytecode or bitcode, or a module of mlir.ir, another package with MLIR's Python "
            "bindings, xDSL or llvmlite"
        )
    return SourceBytes(written.data, f"<{written.bundle}>", written.language, written.bundle)


def _kind(program: object) -> str:
    return f"{type(program).__module__}.{type(program).__qualname__}"


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ParseError(f"the program's text is not valid Unicode: {error}") from error


def _is_path(text: str) -> bool:
    if "\n" in text or "\0" in text or len(text) > 4096:
        return False
    return text.endswith(_PATH_ENDINGS) or os.path.isfile(text)
