"""What a compiled function takes and returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from twinjit.errors import ArtifactError

if TYPE_CHECKING:
    from twinjit._native import _llvm

__all__ = ["Signature", "Value"]

_T = TypeVar("_T")
_KINDS = ("scalar", "memref", "tensor", "pointer", "unsupported")


@dataclass(frozen=True)
class Value:
    """One parameter or result.

    Attributes
    ----------
    kind
        ``"scalar"``, ``"memref"``, ``"tensor"``, ``"pointer"``, or ``"unsupported"``.
    dtype
        Of a scalar or of an array's elements, as MLIR writes it: ``"i32"``, ``"ui8"``, ``"index"``,
        ``"bf16"``, ``"complex<f64>"``; of what a pointer points to, if its user has said so.
    text
        The type as MLIR writes it.
    shape
        Sizes of an array; -1 where only the call knows.
    strides
        In elements, -1 where only the call knows; None for a row-major array.
    offset
        Of the first element, in elements from the aligned pointer; -1 where only the call knows,
        None for 0.
    read_only
        The function promises not to write the array.
    """

    kind: str
    dtype: str
    text: str
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] | None = None
    offset: int | None = None
    read_only: bool = False

    @property
    def is_by_value(self) -> bool:
        """Whether C passes what this pointer points to: text is such as ``"ptr byval(i64)"``."""
        return self.kind == "pointer" and " byval(" in self.text

    def to_json(self) -> dict[str, Any]:
        """Return what `from_json` and the native ``Function`` read."""
        return {
            "kind": self.kind,
            "dtype": self.dtype,
            "shape": list(self.shape),
            "strides": None if self.strides is None else list(self.strides),
            "offset": self.offset,
            "text": self.text,
            "read_only": self.read_only,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Value:
        """Read what `to_json` gave.

        Raises
        ------
        ArtifactError
            If the data has another form.
        """
        return _checked("value", data, cls._read)

    @classmethod
    def _read(cls, data: Mapping[str, Any]) -> Value:
        strides = data["strides"]
        value = cls(
            kind=_typed(data["kind"], str),
            dtype=_typed(data["dtype"], str),
            text=_typed(data["text"], str),
            shape=_integers(data["shape"]),
            strides=None if strides is None else _integers(strides),
            offset=None if data["offset"] is None else _typed(data["offset"], int),
            read_only=_typed(data["read_only"], bool),
        )
        if value.kind not in _KINDS:
            raise ValueError(f"unknown kind {value.kind!r}")
        return value

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, repr=False)
class Signature:
    """Name, parameters and results of a public function.

    Attributes
    ----------
    name
        As the program has it.
    arguments, results
        In order.
    uncallable
        Why the function cannot be called from Python; empty where it can.
    slots
        What compilation made of it: how many 8-byte slots its parameters take (its arguments, and
        results that it writes into arrays handed over), and how many its other results. None
        before compilation, and where the function is uncallable.
    convention
        LLVM's name, or number, of the calling convention of the function; empty for C's.
    """

    name: str
    arguments: tuple[Value, ...] = ()
    results: tuple[Value, ...] = ()
    uncallable: str = ""
    slots: tuple[int, int] | None = None
    convention: str = ""

    @classmethod
    def from_native(cls, data: Mapping[str, Any]) -> Signature:
        """Read one of ``Program.signatures()``: a signature before compilation."""
        return cls.from_json({**data, "slots": None})

    def with_convention(self, slots: tuple[int, int]) -> Signature:
        """Return the signature as compiled, with the slots that ``emit`` reported.

        It is uncallable if these do not fit its values: a pipeline of the user's own may have
        changed what the function takes, to bare pointers for instance.
        """
        from twinjit._native import _llvm

        compiled = replace(self, slots=slots)
        mismatch = _llvm.check_convention(*compiled._native_description())
        return replace(self, uncallable=mismatch) if mismatch else compiled

    def bind(
        self, image: _llvm.Image, keeps: object = None, entry: str | None = None
    ) -> _llvm.Function:
        """Make the function callable.

        Parameters
        ----------
        image
            That has the code.
        keeps
            What the image is linked to, to be kept as well.
        entry
            What the image calls the function, where that is not its name.

        Raises
        ------
        ArtifactError
            If the code in the image is not what this signature describes.
        """
        from twinjit._native import _llvm

        name, arguments, results, slots = self._native_description()
        return _llvm.Function(image, name, arguments, results, slots, keeps, entry)

    def _native_description(self) -> tuple[Any, ...]:
        return (
            self.name,
            [value.to_json() for value in self.arguments],
            [value.to_json() for value in self.results],
            self.slots,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the form that artifacts hold."""
        data = {
            "name": self.name,
            "arguments": [value.to_json() for value in self.arguments],
            "results": [value.to_json() for value in self.results],
            "uncallable": self.uncallable,
            "slots": None if self.slots is None else list(self.slots),
        }
        return {**data, "convention": self.convention} if self.convention else data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Signature:
        """Read what `to_json` gave.

        Raises
        ------
        ArtifactError
            If the data has another form.
        """
        return _checked("signature", data, cls._read)

    @classmethod
    def _read(cls, data: Mapping[str, Any]) -> Signature:
        slots = data["slots"]
        if slots is not None:
            taken, given = _integers(slots)
            slots = (taken, given)
        return cls(
            name=_typed(data["name"], str),
            arguments=tuple(map(Value.from_json, _typed(data["arguments"], list))),
            results=tuple(map(Value.from_json, _typed(data["results"], list))),
            uncallable=_typed(data["uncallable"], str),
            slots=slots,
            convention=_typed(data.get("convention", ""), str),
        )

    def __repr__(self) -> str:
        return f"<Signature {self}>"

    def __str__(self) -> str:
        """``main(arg0: tensor<8x64xf32>) -> tensor<8x10xf32>``."""
        arguments = ", ".join(f"arg{i}: {value}" for i, value in enumerate(self.arguments))
        results = ", ".join(map(str, self.results)) or "None"
        if len(self.results) > 1:
            results = f"({results})"
        return f"{self.name}({arguments}) -> {results}"


def _checked(what: str, data: Mapping[str, Any], read: Callable[[Mapping[str, Any]], _T]) -> _T:
    try:
        return read(data)
    except (KeyError, TypeError, ValueError) as error:
        raise ArtifactError(f"malformed {what} in the artifact: {error!r}") from error


def _typed(value: Any, kind: type[_T]) -> _T:
    if type(value) is not kind:  # not isinstance: a bool is no size
        raise TypeError(f"{value!r} is not {kind.__name__}")
    return value


def _integers(values: Any) -> tuple[int, ...]:
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"{values!r} is not a list")
    for value in values:
        _typed(value, int)
    return tuple(values)
