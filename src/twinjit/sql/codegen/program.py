"""Kernels as programs, and loaded: what one is known by before any of its IR is made."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from twinjit.sql.codegen.layout import ColumnLayout
from twinjit.sql.codegen.lifting import Lifted, lift
from twinjit.sql.tree import Expression

__all__ = ["Kernel", "KernelProgram", "Signature"]

Signature = tuple[object, ...]
"""What is the same for kernels that are the same code."""


@dataclass(frozen=True)
class KernelProgram:
    """What a kernel is to do.

    Attributes
    ----------
    layouts
        Of the columns.
    lifted
        The condition, then the outputs.
    """

    layouts: tuple[ColumnLayout, ...]
    lifted: Lifted

    @classmethod
    def of(
        cls,
        layouts: tuple[ColumnLayout, ...],
        where: Expression | None,
        outputs: Sequence[Expression],
        null_parameters: Set[int] = frozenset(),
        constant_columns: Mapping[int, bool] = MappingProxyType({}),
    ) -> KernelProgram:
        """Make one of expressions with values, which are lifted; see `lift`."""
        return cls(layouts, lift([where, *outputs], null_parameters, constant_columns))

    @property
    def signature(self) -> Signature:
        """What the code depends on, without making it."""
        return self.layouts, self.lifted.expressions

    def generate(self) -> Any:
        """Make the IR: a module of llvmlite's."""
        from twinjit.sql.codegen.kernels import kernel_module

        where, *outputs = self.lifted.expressions
        return kernel_module(self.layouts, where, [each for each in outputs if each is not None])


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
