"""What users hand in as a program, sorted into two ways of taking it: bytes, or a live module."""

from __future__ import annotations

import os
from dataclasses import dataclass

from twinjit.errors import ParseError, UnsupportedProgramError

__all__ = ["LiveModule", "Source", "SourceBytes", "open_source"]

_PATH_ENDINGS = (".mlir", ".mlirbc")


@dataclass(frozen=True)
class SourceBytes:
    """MLIR text or bytecode.

    Attributes
    ----------
    data
        UTF-8 text, or bytecode.
    name
        For diagnostics: the path, or a placeholder.
    """

    data: bytes
    name: str


@dataclass(frozen=True)
class LiveModule:
    """A module or operation in its user's own context.

    Attributes
    ----------
    capsule
        Its ``_CAPIPtr``.
    owner
        The Python object, kept so that the operation lives.
    """

    capsule: object
    owner: object


Source = SourceBytes | LiveModule


def open_source(program: object) -> Source:
    """Sort a program.

    Parameters
    ----------
    program
        MLIR text (`str`), a path (`os.PathLike`, or a `str` of one line that names a file or ends
        in ``.mlir`` or ``.mlirbc``), text or bytecode (`bytes`), or an ``mlir.ir`` Module or
        Operation.

    Raises
    ------
    ParseError
        If it is text that UTF-8 cannot express.
    UnsupportedProgramError
        If it is none of these.
    OSError
        If it names a file that cannot be read.
    """
    if isinstance(program, str) and not _is_path(program):
        return SourceBytes(_encode(program), "<text>")
    if isinstance(program, (str, os.PathLike)):
        with open(program, "rb") as file:
            # Diagnostics are UTF-8, which a path need not be.
            return SourceBytes(file.read(), os.fsencode(program).decode(errors="replace"))
    if isinstance(program, (bytes, bytearray, memoryview)):
        return SourceBytes(bytes(program), "<bytes>")
    operation = getattr(program, "operation", program)
    capsule = getattr(operation, "_CAPIPtr", None)
    if capsule is not None:
        return LiveModule(capsule, program)
    raise UnsupportedProgramError(
        f"cannot take a {type(program).__module__}.{type(program).__qualname__} as a program: give "
        "MLIR text, a path, bytecode, or an mlir.ir Module or Operation"
    )


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ParseError(f"the program's text is not valid Unicode: {error}") from error


def _is_path(text: str) -> bool:
    if "\n" in text or "\0" in text or len(text) > 4096:
        return False
    return text.endswith(_PATH_ENDINGS) or os.path.isfile(text)
