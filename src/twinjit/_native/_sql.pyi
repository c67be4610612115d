"""
SQL's runtime: what kernels call, and what the interpreter applies to vectors
"""

from collections.abc import Sequence
from typing import Any

import numpy
from numpy.typing import NDArray



class Arena:
    """Memory for what expressions make; for one thread at a time."""

    def __init__(self) -> None: ...

    @property
    def address(self) -> int:
        """What kernels are given."""

    @property
    def memory(self) -> int:
        """Bytes that it holds."""

    def reset(self) -> None:
        """Take all memory back."""

def symbols() -> dict[str, int]:
    """Addresses of the functions, by the names that kernels declare."""

def apply(name: str, arguments: Sequence[NDArray[Any] | int], active: NDArray[numpy.uint8], result: NDArray[Any], failures: NDArray[numpy.uint8], arena: Arena) -> None:
    """
    Call a function for each row that is active and has not failed, without the GIL.

    Results are written where it does not fail, and codes of failures where it does.
    """

def texts(pairs: NDArray[numpy.int64], validity: NDArray[numpy.uint8]) -> tuple[NDArray[numpy.int32], NDArray[numpy.uint8]]:
    """
    Copy texts into what an Arrow string array is made of: offsets, and bytes.

    `pairs` has the shape (rows, 2): addresses and lengths. Without the GIL.
    """

class Aggregator:
    """
    Aggregates dense columns; for one thread at a time.

    `keys` are kinds; `aggregates` functions, kinds of arguments (empty for count(*)), and
    whether only the first of equal values counts. ValueError for what there is not.
    """

    def __init__(self, keys: Sequence[str], aggregates: Sequence[tuple[str, str, bool]]) -> None: ...

    def update(self, words: NDArray[numpy.int64], rows: int) -> None:
        """
        Take rows in, without the GIL.

        `words` are the addresses of values and of validity, of the keys, then of arguments.
        """

    def run(self, kernel: int, inputs: NDArray[numpy.int64], slots: NDArray[numpy.int64], outputs: NDArray[numpy.int64], begin: int, end: int, step: int, arena: Arena, stop: NDArray[numpy.int64]) -> int:
        """
        Take in what a kernel writes, `step` rows at a time, without the GIL.

        Gives the first row that was not taken in: the kernel failed, an aggregate did, or
        `stop[0]` is not 0.
        """

    def merge(self, other: Aggregator) -> None:
        """Take the groups of another aggregator of the same in, in order."""

    def save(self) -> bytes:
        """Give it as bytes, for another process."""

    @staticmethod
    def load(data: bytes) -> Aggregator:
        """Read what `save` gave; ValueError for anything else."""

    def key(self, index: int) -> tuple[NDArray[Any], NDArray[numpy.uint8]]:
        """
        Values and validity of a key, for all groups; texts live as long as this does.
        """

    def states(self, index: int) -> list[tuple[NDArray[Any], NDArray[numpy.uint8]]]:
        """
        Values and validity of what an aggregate's states consist of: of the result, or, for
        avg, of the sum and the count.
        """

    @property
    def groups(self) -> int:
        """How many groups there are."""

    @property
    def failure(self) -> int:
        """The code of the failure of an aggregate; 0 for none."""

    @property
    def memory(self) -> int:
        """Bytes that it holds."""

class JoinTable:
    """
    Rows by their keys, of which kinds are given; for one thread at a time.
    """

    def __init__(self, kinds: Sequence[str]) -> None: ...

    def build(self, words: NDArray[numpy.int64], rows: int) -> None:
        """Add rows, which are numbered on."""

    def probe(self, words: NDArray[numpy.int64], rows: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]:
        """
        Give the numbers of rows looked up, and of rows with equal keys, as two arrays.
        """

    @property
    def memory(self) -> int:
        """Bytes that it holds."""
