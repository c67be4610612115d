"""Which language the bytes of a program are in."""

from __future__ import annotations

import re
from typing import Literal

from twinjit.errors import ConfigError

__all__ = ["Language", "check_language", "language_of"]

Language = Literal["mlir", "llvm"]

_BITCODE = b"BC\xc0\xde"
_WRAPPED_BITCODE = b"\xde\xc0\x17\x0b"  # 0x0B17C0DE, little-endian

_BLANK = re.compile(rb"[ \t\r\n\0]*")

# What LLVM IR can begin with after white space, and MLIR cannot.
_LLVM_BEGINNING = re.compile(
    rb"""
      ;                                                     # a comment; MLIR's begin with //
    | /\*
    | (?: define | declare | target | source_filename | uselistorder (?:_bb)? ) (?![\w.$-])
    | module \s+ asm (?![\w.$-])
    | attributes \s+ \#
    | [@$]                                                  # a global, a comdat
    | \^ \d+ \s* =                                          # a module summary
    | % (?: [\w.$-]+ | "[^"]*" ) \s* = \s* type (?![\w.$-]) # against MLIR's operation results
    | ! [\w.$\\-]+ \s* = \s*                                # metadata, against MLIR's type aliases
      (?: ! (?: [{"] | \w+ \( ) | distinct \b )
    """,
    re.VERBOSE,
)


def language_of(data: bytes, otherwise: Language = "mlir") -> Language:
    """Find out by content whether a program is MLIR or LLVM IR, text or binary.

    Parameters
    ----------
    data
        The whole program.
    otherwise
        What a program without any content is taken for.
    """
    start = _BLANK.match(data).end()  # type: ignore[union-attr]  # it matches everything
    if start == len(data):
        return otherwise
    is_bitcode = data.startswith((_BITCODE, _WRAPPED_BITCODE))
    return "llvm" if is_bitcode or _LLVM_BEGINNING.match(data, start) else "mlir"


def check_language(language: str) -> None:
    """Refuse a language that is not ``"auto"``, ``"mlir"`` or ``"llvm"``.

    Raises
    ------
    ConfigError
        If it is none of these.
    """
    if language not in ("auto", "mlir", "llvm"):
        raise ConfigError(f"language is {language!r}; give 'auto', 'mlir' or 'llvm'")
