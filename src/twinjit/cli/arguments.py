"""What ``--arg`` may say, and the values that it stands for."""

from __future__ import annotations

import re
import zipfile
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import typer

import twinjit
from twinjit.cli.fills import Fill, bfloat16, numpy_dtype, parse_fill
from twinjit.errors import ArgumentTypeError, ArgumentValueError

__all__ = ["ArgumentSpec", "bind_arguments", "parse_argument"]

# spec    := file | typed | fill
# file    := PATH ".npy" | PATH ".npz:" NAME
# typed   := (SIZE "x")* DTYPE "=" fill         8x64xf32=random:7, f32=1.5
# fill    := "zeros" | "ones" | "arange" | "random" [":" SEED] | number
# number  := "true" | "false" | an integer, a float or a complex number as Python writes it
#
# A fill alone takes its shape and dtype from the function's parameter.
_TYPED = re.compile(r"(?P<sizes>(?:\d+x)*)(?P<dtype>[a-z]\w*(?:<f\d+>)?)=(?P<fill>.*)", re.ASCII)

_FORMS = (
    "give FILE.npy, FILE.npz:NAME, a typed fill such as 8x64xf32=random:SEED, 16xf32=1.5 or "
    "4x4xi32=arange, or just a fill: zeros, ones, arange, random, random:SEED, or a number such as "
    "3, 2.5, true or 1+2j"
)

# numpy.save writes bfloat16 as two bytes of no meaning.
_RAW_BF16 = np.dtype("V2")


class ArgumentSpec(ABC):
    """One ``--arg``, understood."""

    @abstractmethod
    def value(self, parameter: twinjit.Value, position: int) -> object:
        """Make the value for the function's parameter at a position.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError
            If none can be made for it.
        OSError
            If a file cannot be read.
        """


@dataclass(frozen=True)
class _File(ArgumentSpec):
    path: str
    member: str = ""

    def value(self, parameter: twinjit.Value, position: int) -> object:
        try:
            array = self._load()
        except (ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
            why = str(error.args[0] if error.args else error)  # KeyError quotes its message
            raise ArgumentValueError(
                f"argument {position}: cannot read an array from {self.path}: "
                f"{why.partition('. ')[0]}"  # NumPy goes on with advice that does not apply
            ) from error
        if array.dtype == _RAW_BF16 and parameter.dtype == "bf16":
            return array.view(bfloat16())
        return array[()] if parameter.kind == "scalar" else array

    def _load(self) -> np.ndarray:
        loaded = np.load(self.path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        with loaded:
            array: np.ndarray = loaded[self.member]
            return array


@dataclass(frozen=True)
class _Filled(ArgumentSpec):
    text: str
    fill: Fill
    shape: tuple[int, ...] | None = None  # None: the parameter's, as is the dtype
    dtype: np.dtype | None = None

    def value(self, parameter: twinjit.Value, position: int) -> object:
        if self.dtype is None and parameter.kind in ("scalar", "pointer"):
            number = getattr(self.fill, "number", None)
            if number is not None:
                return number  # the call itself checks it best
        shape, dtype = self._type_for(parameter, position)
        try:
            array = self.fill.array(shape, dtype, position)
        except (ValueError, OverflowError, MemoryError) as error:
            raise ArgumentValueError(f"argument {position}: {self.text!r}: {error}") from error
        return array.item() if parameter.kind == "scalar" and not shape else array

    def _type_for(
        self, parameter: twinjit.Value, position: int
    ) -> tuple[tuple[int, ...], np.dtype]:
        if self.shape is not None and self.dtype is not None:
            return self.shape, self.dtype
        dtype = numpy_dtype(parameter.dtype)
        if dtype is None:
            raise ArgumentTypeError(
                f"argument {position}: {self.text!r} makes no value for {parameter}"
            )
        if -1 in parameter.shape:
            sizes = "x".join("N" if size < 0 else str(size) for size in parameter.shape)
            raise ArgumentValueError(
                f"argument {position}: the shape of {parameter} is known only at the call; give it "
                f"in the form {sizes}x{parameter.dtype}={self.text}"
            )
        return parameter.shape, dtype


def parse_argument(text: str) -> ArgumentSpec:
    """Understand one ``--arg``, reading no file.

    Raises
    ------
    typer.BadParameter
        If it has none of the forms.
    """
    spec = _parse_file(text) or _parse_typed(text)
    if spec:
        return spec
    fill = parse_fill(text)
    if fill is None:
        raise typer.BadParameter(f"{text!r} is no argument: {_FORMS}")
    return _Filled(text, fill)


def bind_arguments(specs: list[ArgumentSpec], signature: twinjit.Signature) -> list[object]:
    """Make the values that a function is called with.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If the arguments are not as many as the parameters, or one cannot be made for its own.
    OSError
        If a file cannot be read.
    """
    wanted, given = len(signature.arguments), len(specs)
    if wanted != given:
        raise ArgumentTypeError(
            f"{signature.name}: {wanted} {'argument is' if wanted == 1 else 'arguments are'} "
            f"expected, but {given} {'was' if given == 1 else 'were'} given ({signature})"
        )
    return [
        spec.value(parameter, position)
        for position, (spec, parameter) in enumerate(zip(specs, signature.arguments, strict=True))
    ]


def _parse_file(text: str) -> _File | None:
    if text.endswith(".npy"):
        return _File(text)
    path, found, member = text.rpartition(".npz")
    if not found:
        return None
    if not member.startswith(":") or member == ":":
        raise typer.BadParameter(f"{text!r} names no array of the archive: give FILE.npz:NAME")
    return _File(path + found, member[1:])


def _parse_typed(text: str) -> _Filled | None:
    match = _TYPED.fullmatch(text)
    if not match:
        return None
    dtype = numpy_dtype(match["dtype"])
    if dtype is None:
        raise typer.BadParameter(
            f"{text!r}: arrays have no elements of type {match['dtype']!r}; give i1, i8 … i64, "
            "ui8 … ui64, index, f16, bf16, f32, f64, complex<f32> or complex<f64>"
        )
    fill = parse_fill(match["fill"])
    if fill is None:
        raise typer.BadParameter(f"{text!r}: {match['fill']!r} is no fill: {_FORMS}")
    shape = tuple(int(size) for size in match["sizes"].split("x")[:-1])
    return _Filled(text, fill, shape, dtype)
