"""Kernels as programs, and loaded: what one is known by before any of its IR is made."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from twinjit.forks import held_off
from twinjit.sql.codegen.layout import ColumnLayout
from twinjit.sql.codegen.lifting import Lifted, lift
from twinjit.sql.tree import Expression, Value

__all__ = ["Kernel", "KernelProgram", "Signature"]


class Signature:
    """What is the same for kernels that are the same code; hashed once.

    Parameters
    ----------
    *parts
        Equal, in turn, where signatures are.
    """

    __slots__ = ("_hash", "_parts")

    def __init__(self, *parts: object) -> None:
        self._parts = parts
        self._hash = hash(parts)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Signature) and self._parts == other._parts)


@dataclass(frozen=True, eq=False)
class KernelProgram:
    """What a kernel is to do.

    Attributes
    ----------
    layouts
        Of the columns.
    lifted
        The condition, then the outputs.
    is_exact
        Whether the kernel only says that a row failed if one did; others are faster.
    """

    layouts: tuple[ColumnLayout, ...]
    lifted: Lifted
    is_exact: bool = False

    @classmethod
    def of(
        cls,
        layouts: tuple[ColumnLayout, ...],
        where: Expression | None,
        outputs: Sequence[Expression],
        parameters: Sequence[Value] = (),
        constant_columns: Mapping[int, bool] = MappingProxyType({}),
    ) -> KernelProgram:
        """Make one of expressions with values, which are lifted; see `lift`."""
        return cls(layouts, lift([where, *outputs], parameters, constant_columns))

    @cached_property
    def signature(self) -> Signature:
        """What the code depends on, without making it."""
        return Signature(self.layouts, self.lifted.expressions, self.is_exact)

    def generate(self) -> Any:
        """Make the IR: a module of llvmlite's."""
        with held_off():
            from twinjit.sql.codegen.kernels import kernel_module

        where, *outputs = self.lifted.expressions
        kept = [each for each in outputs if each is not None]
        return kernel_module(self.layouts, where, kept, is_exact=self.is_exact)


class Kernel:
    """A kernel that is loaded.

    Parameters
    ----------
    address
        Of its code.
    owner
        Keeps that mapped.

    Attributes
    ----------
    address
        The same.
    """

    def __init__(self, address: int, owner: object) -> None:
        self.address = address
        self._owner = owner
        word = ctypes.c_int64
        pointer = ctypes.c_void_p
        prototype = ctypes.CFUNCTYPE(word, pointer, pointer, pointer, word, word, pointer)
        self._call = prototype(address)

    def run(
        self,
        inputs: npt.NDArray[np.int64],
        slots: npt.NDArray[np.int64],
        outputs: npt.NDArray[np.int64],
        begin: int,
        end: int,
        arena: int,
    ) -> int:
        """Handle rows, without the GIL.

        Returns
        -------
        int
            How many were written; negative if a row failed, or may have.
        """
        addresses = [each.ctypes.data for each in (inputs, slots, outputs)]
        written: int = self._call(*addresses, begin, end, arena)
        return written
