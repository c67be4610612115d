"""Types of functions in C, by ctypes or a declaration, beside the types of programs."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from twinjit.errors import ConfigError, SignatureError
from twinjit.signature import Signature, Value

__all__ = ["CType", "Prototype", "prototype_of"]


@dataclass(frozen=True)
class CType:
    """A type of C, as far as calls can pass it.

    Attributes
    ----------
    dtype
        As `Value` has it: of a number, or of what a pointer points to; empty for ``void``, and for
        a pointer to anything.
    is_pointer
        Whether it points to that.
    is_const
        Whether what it points to is not written.
    text
        As C writes it, or ctypes.
    """

    dtype: str
    is_pointer: bool
    is_const: bool
    text: str

    def fits(self, value: Value) -> bool:
        """Say whether a value of the program can be passed so."""
        if self.is_pointer or value.kind != "scalar":
            return self.is_pointer and value.kind == "pointer"
        return self.dtype in _READINGS.get(value.dtype, (value.dtype,))

    def refine(self, value: Value) -> Value:
        """Make what Python passes of a value that fits."""
        read_only = value.read_only or self.is_const
        return replace(value, dtype=self.dtype, text=self.text, read_only=read_only)


_WIDTHS = (8, 16, 32, 64)

# Of a type of LLVM's or MLIR's, the ways to read it.
_READINGS: dict[str, tuple[str, ...]] = {
    f"i{bits}": (f"i{bits}", f"si{bits}", f"ui{bits}") for bits in _WIDTHS
}
_READINGS["i8"] += ("i1",)  # C's bool
_READINGS["index"] = _READINGS["i64"]


@dataclass(frozen=True)
class Prototype:
    """A function's type in C.

    Attributes
    ----------
    result
        None for ``void``.
    arguments
        In order.
    text
        For messages.
    kind
        The class of ctypes that it came from, if it did.
    """

    result: CType | None
    arguments: tuple[CType, ...]
    text: str
    kind: type | None = None

    @classmethod
    def of(cls, place: str, given: object) -> Prototype:
        """Read one that a user gave at some place, for errors.

        Raises
        ------
        ConfigError
            If it is neither a prototype of ctypes nor a declaration in C that is understood.
        """
        if isinstance(given, str):
            return _Declaration(place, given).read()
        if not (isinstance(given, type) and issubclass(given, _FUNCTION)):
            raise ConfigError(
                f"{place} is {given!r}; give ctypes.CFUNCTYPE(result, arguments...), "
                "or a declaration in C such as 'double (const double *, int64_t)'"
            )
        result, arguments = given._restype_, given._argtypes_  # type: ignore[attr-defined]  # of all prototypes
        return cls(
            None if result is None else _of_ctypes(place, result),
            tuple(_of_ctypes(place, each) for each in arguments),
            f"{getattr(result, '__name__', 'None')} "
            f"({', '.join(each.__name__ for each in arguments)})",
            given,
        )

    def refine(self, signature: Signature) -> Signature:
        """Make the signature by which Python calls a function that has this type.

        Raises
        ------
        SignatureError
            If it has another.
        """
        results = (self.result,) if self.result else ()
        for what, given, own in (
            ("argument", self.arguments, signature.arguments),
            ("result", results, signature.results),
        ):
            self._check(signature, what, given, own)
        return replace(
            signature,
            arguments=tuple(map(CType.refine, self.arguments, signature.arguments)),
            results=tuple(map(CType.refine, results, signature.results)),
        )

    def _check(
        self, signature: Signature, what: str, given: Sequence[CType], own: Sequence[Value]
    ) -> None:
        wrong = ""
        if len(given) != len(own):
            wrong = f"{len(given)} {what}s are given, and it has {len(own)}"
        for index, (type_, value) in enumerate(zip(given, own, strict=False)):
            if not wrong and not type_.fits(value):
                wrong = f"{what} {index} is {value}, which '{type_.text}' is not"
        if wrong:
            raise SignatureError(f"{signature} is not of the type '{self.text}': {wrong}")


# The class of all that ctypes can call.
_FUNCTION: type = ctypes.CFUNCTYPE(None).__mro__[1]

# Numbers by what C and ctypes call them. "int" is left out where other words tell the width.
_WORDS = {
    "bool": "i1",
    "_Bool": "i1",
    "char": "i8",
    "char signed": "si8",
    "char unsigned": "ui8",
    "short": "si16",
    "short unsigned": "ui16",
    "int": "si32",
    "signed": "si32",
    "unsigned": "ui32",
    "long": "si64",
    "long unsigned": "ui64",
    "long long": "si64",
    "long long unsigned": "ui64",
    "size_t": "ui64",
    "ssize_t": "si64",
    "ptrdiff_t": "si64",
    "intptr_t": "si64",
    "uintptr_t": "ui64",
    "_Float16": "f16",
    "__bf16": "bf16",
    "float": "f32",
    "double": "f64",
    **{f"int{bits}_t": f"si{bits}" for bits in _WIDTHS},
    **{f"uint{bits}_t": f"ui{bits}" for bits in _WIDTHS},
}
# What no parameter is called: 'long double' is no 'long'.
_RESERVED = {*" ".join(_WORDS).split(), "const", "void"}
_CTYPES = {  # by `_type_` of ctypes' simple types
    "?": "i1",
    "c": "i8",
    "b": "si8",
    "B": "ui8",
    "h": "si16",
    "H": "ui16",
    "i": "si32",
    "I": "ui32",
    "l": "si64",
    "L": "ui64",
    "q": "si64",
    "Q": "ui64",
    "f": "f32",
    "d": "f64",
}


class _Declaration:
    """A declaration in C: types of numbers, pointers to them and to ``void``, names of parameters.

    ::

        declaration := type name? "(" ("void" | type name? ("," type name?)*)? ")" ";"?
        type        := word+ "*"*      words in any order, with "const"
    """

    def __init__(self, place: str, text: str) -> None:
        self._place = place
        self._text = " ".join(text.split())

    def read(self) -> Prototype:
        match = re.fullmatch(r"([^()]+)\(([^()]*)\) ?;?", self._text)
        if not match:
            raise self._failure("it is not 'type (type, type ...)'")
        result = self._type(match[1])
        listed = match[2].strip()
        arguments = [] if listed in ("", "void") else listed.split(",")
        types = tuple(map(self._type, arguments))
        for each in types:
            if not each.dtype and not each.is_pointer:
                raise self._failure("no parameter is 'void'")
        is_void = not result.dtype and not result.is_pointer
        return Prototype(None if is_void else result, types, self._text)

    def _type(self, text: str) -> CType:
        words = re.findall(r"\w+|\S", text)
        is_named = bool(words) and words[-1].isidentifier() and words[-1] not in _RESERVED
        for end in (len(words), len(words) - is_named):
            if found := self._known(words[:end]):
                return found
        raise self._failure(f"'{text.strip()}' is no type of a number or a pointer")

    def _known(self, words: list[str]) -> CType | None:
        stars = words.count("*")
        base = [word for word in words if word not in ("const", "*")]
        if "*" in words and any(word not in ("*", "const") for word in words[words.index("*") :]):
            return None
        if len(base) > 1 and "int" in base:
            base.remove("int")
        dtype = "" if base == ["void"] else _WORDS.get(" ".join(sorted(base)), "?")
        if dtype == "?":
            return None
        is_const = stars == 1 and "const" in words[: words.index("*")]
        return CType("" if stars > 1 else dtype, stars > 0, is_const, " ".join(words))

    def _failure(self, why: str) -> ConfigError:
        return ConfigError(
            f"{self._place} is {self._text!r}, and cannot be read: {why}; write, for "
            "instance, 'double (const double *x, int64_t n)'"
        )


def _of_ctypes(place: str, type_: Any) -> CType:
    """Read a type of ctypes."""
    text = getattr(type_, "__name__", repr(type_))
    code = getattr(type_, "_type_", None)
    is_swapped = getattr(type_, "__ctype_be__", None) is type_  # such as c_int64.__ctype_be__
    if isinstance(code, str) and not is_swapped and issubclass(type_, ctypes._SimpleCData):
        if code in _CTYPES:
            return CType(_CTYPES[code], False, False, text)
        if code in "PzZ":  # c_void_p, c_char_p, c_wchar_p
            return CType("", True, code != "P", text)
    elif isinstance(type_, type) and issubclass(type_, ctypes._Pointer):
        pointed = getattr(type_._type_, "_type_", None)
        dtype = _CTYPES.get(pointed, "") if isinstance(pointed, str) else ""
        return CType(dtype, True, False, text)
    elif isinstance(type_, type) and issubclass(type_, _FUNCTION):
        return CType("", True, False, "function pointer")
    raise ConfigError(f"{place} has a {text}; give numbers and pointers, and structures by pointer")


def prototype_of(signature: Signature) -> Any:
    """Make the class of ctypes' functions that a signature describes.

    Raises
    ------
    SignatureError
        If ctypes has no type for a value.
    """
    if len(signature.results) > 1 or signature.uncallable:
        why = signature.uncallable or "it returns more than one value"
        raise SignatureError(f"ctypes cannot call {signature.name!r}: {why}")
    result = _to_ctypes(signature, signature.results[0]) if signature.results else None
    return ctypes.CFUNCTYPE(result, *(_to_ctypes(signature, each) for each in signature.arguments))


def _to_ctypes(signature: Signature, value: Value) -> Any:
    if value.kind == "pointer":
        return ctypes.c_void_p
    found = _OF_NUMBERS.get(value.dtype) if value.kind == "scalar" else None
    if found is None:
        raise SignatureError(
            f"ctypes has no type for the {value} of {signature.name!r}; call it as Python does, or "
            "by its address"
        )
    return found


_OF_NUMBERS = {
    "i1": ctypes.c_bool,
    "index": ctypes.c_int64,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
    **{
        f"{sign}{bits}": getattr(ctypes, f"c_int{bits}") for bits in _WIDTHS for sign in ("i", "si")
    },
    **{f"ui{bits}": getattr(ctypes, f"c_uint{bits}") for bits in _WIDTHS},
}
