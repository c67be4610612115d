"""What lazy functions take and return, before there is IR."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any

from twinjit._native import _llvm
from twinjit.errors import ConfigError, ParseError, VerificationError

__all__ = ["Prototype", "parse_prototype"]

_DECLARED = "f"

# As the C ABI passes them: narrow integers are extended by the caller.
_SCALARS: dict[Any, str] = {
    None: "void",
    ctypes.c_bool: "i1 zeroext",
    ctypes.c_int8: "i8 signext",
    ctypes.c_uint8: "i8 zeroext",
    ctypes.c_int16: "i16 signext",
    ctypes.c_uint16: "i16 zeroext",
    ctypes.c_int32: "i32",
    ctypes.c_uint32: "i32",
    ctypes.c_int64: "i64",
    ctypes.c_uint64: "i64",
    ctypes.c_float: "float",
    ctypes.c_double: "double",
    ctypes.c_void_p: "ptr",
    ctypes.c_char_p: "ptr",
    ctypes.c_wchar_p: "ptr",
    ctypes.py_object: "ptr",
}

_C_FUNCTION: type = ctypes.CFUNCTYPE(None).__mro__[1]
"""The class of all functions of ctypes."""

_POINTERS = (_C_FUNCTION, ctypes.POINTER(ctypes.c_int).__mro__[1])


class Prototype:
    """A function's type and calling convention.

    Attributes
    ----------
    text
        As LLVM writes them; equal texts are equal types.
    declaration
        A module that declares a function ``f`` of that type.
    """

    __slots__ = ("declaration", "text")

    def __init__(self, declaration: _llvm.Split, text: str) -> None:
        self.declaration = declaration
        self.text = text

    def stub(self) -> tuple[bytes, list[tuple[str, str, str]]]:
        """Make the part that has a stub for functions of this type."""
        return self.declaration.public_stub(_DECLARED)


def parse_prototype(signature: object) -> Prototype:
    """Read a signature.

    Parameters
    ----------
    signature
        LLVM's text of a function type, such as ``"i64(i64, ptr)"``, with what a declaration may
        have around the types: ``"fastcc i64(ptr byval({i64, i64}))"``. Or a ctypes prototype
        (``ctypes.CFUNCTYPE(…)``).

    Raises
    ------
    ConfigError
        If it is neither, or LLVM does not know a type.
    """
    if isinstance(signature, str):
        return _parse_text(signature)
    if isinstance(signature, type) and hasattr(signature, "_argtypes_"):
        return _parse_text(_text_of(signature))
    raise ConfigError(
        f"a signature is text, such as 'i64(i64, ptr)', or a ctypes prototype, not {signature!r}"
    )


@lru_cache(maxsize=256)
def _parse_text(signature: str) -> Prototype:
    opening = _find_parameters(signature)
    result, parameters = signature[:opening], signature[opening:]
    text = f"declare {result} @{_DECLARED}{parameters}\n"
    try:
        declaration = _llvm.split(text.encode(), f"<signature {signature}>")
    except (ParseError, VerificationError) as error:
        raise ConfigError(f"cannot read the signature {signature!r}: {error}") from error
    functions = declaration.functions()
    if len(functions) != 1:
        raise ConfigError(f"the signature {signature!r} is more than one type")
    return Prototype(declaration, functions[0][1])


def _find_parameters(signature: str) -> int:
    """Return where the last group of parentheses opens."""
    depth = 0
    if signature.rstrip().endswith(")"):
        for position in range(len(signature) - 1, -1, -1):
            depth += {")": 1, "(": -1}.get(signature[position], 0)
            if signature[position] == "(" and depth == 0:
                return position
    raise ConfigError(f"the signature {signature!r} has no parameters: write 'i64(i64, ptr)'")


def _text_of(prototype: Any) -> str:
    result = _scalar(prototype._restype_)
    parameters = ", ".join(map(_scalar, prototype._argtypes_))
    words = result.split()  # attributes of a result stand before its type
    return f"{' '.join(reversed(words))}({parameters})"


def _scalar(kind: Any) -> str:
    found = _SCALARS.get(kind)
    if found is None and isinstance(kind, type) and issubclass(kind, _POINTERS):
        return "ptr"
    if found is None:
        raise ConfigError(f"ctypes passes {kind!r} in a way that is not known here: give text")
    return found
