"""What fills an array, or stands alone as a scalar: numbers, counting up, random data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

import numpy as np

__all__ = [
    "Arange",
    "Constant",
    "Fill",
    "Number",
    "Random",
    "bfloat16",
    "numpy_dtype",
    "parse_fill",
]

Number = bool | int | float | complex
Shape = tuple[int, ...]

_RANDOM_INTEGERS = 100


@dataclass(frozen=True)
class Constant:
    """One number throughout."""

    number: Number

    def array(self, shape: Shape, dtype: np.dtype, _position: int) -> np.ndarray:
        """Make the array.

        Raises
        ------
        ValueError
            If the number has no place in the dtype.
        """
        if not _holds(dtype, self.number):
            raise ValueError(f"{self.number} is not a value of {dtype}")
        return np.full(shape, self.number, dtype)


@dataclass(frozen=True)
class Arange:
    """0, 1, 2, … in row-major order."""

    def array(self, shape: Shape, dtype: np.dtype, _position: int) -> np.ndarray:
        """Make the array; integers that do not fit wrap around."""
        return np.arange(prod(shape)).reshape(shape).astype(dtype)


@dataclass(frozen=True)
class Random:
    """Random data: integers from 0 to 99, other numbers from 0 up to 1.

    Attributes
    ----------
    seed
        Of ``numpy.random.default_rng``; by default the argument's position, so that arguments
        differ but runs do not.
    """

    seed: int | None = None

    def array(self, shape: Shape, dtype: np.dtype, position: int) -> np.ndarray:
        """Make the array."""
        source = np.random.default_rng(position if self.seed is None else self.seed)
        if dtype.kind == "b":
            return source.integers(0, 2, shape).astype(dtype)
        if dtype.kind in "iu":
            return source.integers(0, _RANDOM_INTEGERS, shape).astype(dtype)
        if dtype.kind == "c":
            return (source.random(shape) + 1j * source.random(shape)).astype(dtype)
        if dtype == np.float32:  # drawn as such, as users who want the same data would
            return source.random(shape, np.float32)
        return source.random(shape).astype(dtype)


Fill = Constant | Arange | Random

_WORDS: dict[str, Fill] = {
    "zeros": Constant(0),
    "ones": Constant(1),
    "arange": Arange(),
    "random": Random(),
    "true": Constant(True),
    "false": Constant(False),
}


def parse_fill(text: str) -> Fill | None:
    """Understand ``zeros``, ``ones``, ``arange``, ``random``, ``random:SEED``, or a number."""
    if text in _WORDS:
        return _WORDS[text]
    kind, colon, seed = text.partition(":")
    if kind == "random" and colon:
        return Random(int(seed)) if seed.isascii() and seed.isdigit() else None
    number = _parse_number(text)
    return None if number is None else Constant(number)


def numpy_dtype(name: str) -> np.dtype | None:
    """Return the dtype that holds array elements of an MLIR type, or None."""
    if name == "bf16":
        return bfloat16()
    known = _DTYPES.get(name)
    return None if known is None else np.dtype(known)


def bfloat16() -> np.dtype:
    """Return NumPy's bfloat16."""
    import ml_dtypes  # rarely wanted

    dtype: np.dtype = np.dtype(ml_dtypes.bfloat16)
    return dtype


_DTYPES = {
    "i1": "bool",
    "index": "int64",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
    **{f"{sign}i{bits}": f"int{bits}" for sign in ("", "s") for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
}


def _parse_number(text: str) -> Number | None:
    readers: tuple[Callable[[str], Number], ...] = (int, lambda t: int(t, 0), float, complex)
    return next((each for each in (_try(read, text) for read in readers) if each is not None), None)


def _try(read: Callable[[str], Number], text: str) -> Number | None:
    try:
        return read(text)
    except ValueError:
        return None


def _holds(dtype: np.dtype, number: Number) -> bool:
    if dtype.kind == "b":
        return number in (0, 1)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return isinstance(number, int) and limits.min <= number <= limits.max
    return dtype.kind == "c" or not isinstance(number, complex)
