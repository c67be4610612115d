"""What lazy functions take and return, before there is IR."""

from __future__ import annotations

from functools import lru_cache

from twinjit._native import _llvm
from twinjit.c_types import CType, Prototype
from twinjit.errors import ConfigError, ParseError, VerificationError

__all__ = ["FunctionType", "read_function_type"]

_DECLARED = "f"

# Attributes and type in LLVM of C's numbers, as the C ABI passes them: narrow integers are extended
# by the caller.
_NUMBERS = {
    "i1": ("zeroext", "i1"),
    "i8": ("signext", "i8"),
    "si8": ("signext", "i8"),
    "ui8": ("zeroext", "i8"),
    "si16": ("signext", "i16"),
    "ui16": ("zeroext", "i16"),
    "si32": ("", "i32"),
    "ui32": ("", "i32"),
    "si64": ("", "i64"),
    "ui64": ("", "i64"),
    "f16": ("", "half"),
    "bf16": ("", "bfloat"),
    "f32": ("", "float"),
    "f64": ("", "double"),
}


class FunctionType:
    """A function's type and calling convention in LLVM.

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


def read_function_type(name: str, signature: object) -> FunctionType:
    """Read the signature of a function.

    Parameters
    ----------
    name
        The function's, for errors.
    signature
        LLVM's text of a function type, such as ``"i64(i64, ptr)"``, with what a declaration may
        have around the types: ``"fastcc i64(ptr byval({i64, i64}))"``. Or its type in C, as
        `Compiler.compile` takes it in `signatures`: ``"int64_t (int64_t, void *)"``, or a prototype
        of ctypes.

    Raises
    ------
    ConfigError
        If it is none of these.
    """
    place = f"the signature of {name!r}"
    if not isinstance(signature, str):
        return _parse(_text_of(Prototype.of(place, signature)))
    try:
        return _parse(signature)
    except (ParseError, VerificationError) as error:
        try:
            return _parse(_text_of(Prototype.of(place, signature)))
        except ConfigError:
            raise ConfigError(
                f"{place} is {signature!r}, which is no function type; write it in LLVM's words, "
                f"such as 'i64(i64, ptr)', or in C's, such as 'int64_t (int64_t, void *)': {error}"
            ) from None


@lru_cache(maxsize=256)
def _parse(text: str) -> FunctionType:
    opening = _find_parameters(text)
    declared = f"declare {text[:opening]} @{_DECLARED}{text[opening:]}\n"
    declaration = _llvm.split(declared.encode(), f"<signature {text}>")
    functions = declaration.functions()
    if len(functions) != 1:
        raise ParseError("it is more than one type")
    return FunctionType(declaration, functions[0][1])


def _find_parameters(text: str) -> int:
    """Return where the last group of parentheses opens."""
    depth = 0
    if text.rstrip().endswith(")"):
        for position in range(len(text) - 1, -1, -1):
            depth += {")": 1, "(": -1}.get(text[position], 0)
            if text[position] == "(" and depth == 0:
                return position
    raise ParseError("it has no parameters")


def _text_of(prototype: Prototype) -> str:
    """Write a type in C as LLVM does, attributes of the result before its type."""
    result = " ".join(_in_llvm(prototype.result)) if prototype.result else "void"
    arguments = (" ".join(reversed(_in_llvm(each))) for each in prototype.arguments)
    return f"{result}({', '.join(arguments)})"


def _in_llvm(type_: CType) -> tuple[str, str]:
    return ("", "ptr") if type_.is_pointer else _NUMBERS[type_.dtype]
