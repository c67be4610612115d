"""Kernels as programs, and loaded: what one is known by before any of its IR is made."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from twinjit.sql.codegen.layout import ColumnLayout
from twinjit.sql.codegen.lifting import Lifted, lift
from twinjit.sql.failures import Failure, failure_error
from twinjit.sql.tree import Expression, Value

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
        The condition, then what is done with rows.
    """

    layouts: tuple[ColumnLayout, ...]
    lifted: Lifted
    kind: str
    make_consumer: Callable[[Sequence[Expression]], Any] = field(compare=False)

    @classmethod
    def of(
        cls,
        layouts: tuple[ColumnLayout, ...],
        where: Expression | None,
        expressions: Sequence[Expression],
        kind: str,
        make_consumer: Callable[[Sequence[Expression]], Any],
        parameters: Sequence[Value] = (),
        columns: Mapping[int, Value] = MappingProxyType({}),
    ) -> KernelProgram:
        """Make one of expressions with values, which are lifted; see `lift`.

        Parameters
        ----------
        kind
            What is the same for consumers that do the same with the same expressions.
        make_consumer
            Makes a `Consumer` of them.
        """
        lifted = lift([where, *expressions], parameters, columns)
        return cls(layouts, lifted, kind, make_consumer)

    @property
    def signature(self) -> Signature:
        """What the code depends on, without making it."""
        return self.layouts, self.lifted.expressions, self.kind

    def generate(self) -> Any:
        """Make the IR: a module of llvmlite's."""
        from twinjit.sql.codegen.kernels import kernel_module

        where, *expressions = self.lifted.expressions
        consumer = self.make_consumer([each for each in expressions if each is not None])
        return kernel_module(self.layouts, where, consumer)


class Kernel:
    """A kernel that is loaded.

    Parameters
    ----------
    address
        Of its code.
    owner
        Keeps that mapped.
    """

    def __init__(self, address: int, owner: object) -> None:
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
            How many were written.

        Raises
        ------
        SqlError
            If a row failed.
        """
        status = np.array([0, 0, arena], np.int64)
        words = (inputs, slots, outputs)
        addresses = [each.ctypes.data for each in words]
        written: int = self._call(*addresses, begin, end, status.ctypes.data)
        if written < 0:
            raise failure_error(Failure(int(status[0])))
        return written
