"""A lazy function: what is known of it, and how Python calls it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from twinjit._native import _llvm
from twinjit.lazy.function_type import FunctionType
from twinjit.lazy.parts import LazyCode
from twinjit.lazy.unit import Unit

if TYPE_CHECKING:
    from twinjit.lazy.group import Group

__all__ = ["LazyFunction", "Member"]


@dataclass(eq=False)
class Member:
    """A function of a group. What changes does so in its turn (`Group`) alone.

    Attributes
    ----------
    name
        As users call it.
    cell
        Index of its cell, and its own.
    type
        With the calling convention, as LLVM writes them.
    is_public
        Whether it can be asked for by name.
    unit, symbol
        The module that defines it, and its name there; None until it is generated.
    generate
        What gives that module; None where it was there from the beginning.
    declared
        The type of one that is generated.
    code
        None until it is compiled.
    callees
        Cells of the functions that its code calls.
    failure
        Why it can never be compiled.
    is_started
        Whether anyone called it.
    """

    name: str
    cell: int
    type: str
    is_public: bool
    unit: Unit | None = None
    symbol: str = ""
    generate: Callable[[], object] | None = None
    declared: FunctionType | None = None
    code: LazyCode | None = None
    callees: Sequence[int] = ()
    failure: Exception | None = None
    is_started: bool = False


class LazyFunction:
    """A function that is compiled when it is first called, from Python or by compiled code.

    Calls pass arguments and give results as those of an `Executable`'s functions do, and raise
    what `Compiler.compile` raises if it cannot be compiled.

    Attributes
    ----------
    __name__
        Its name.
    """

    __slots__ = ("__name__", "__weakref__", "_bound", "_group", "_member")

    def __init__(self, group: Group, member: Member) -> None:
        self.__name__ = member.name
        self._group = group
        self._member = member
        self._bound: _llvm.Function | None = None

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call it."""
        return (self._bound or self._bind())(*arguments, **options)

    @property
    def address(self) -> int:
        """Address for native callers, valid before the function is compiled; see `Jit.address`."""
        return self._group.address(self._member)

    @property
    def is_compiled(self) -> bool:
        """Whether its code is at hand."""
        return self._member.code is not None

    def __repr__(self) -> str:
        state = "" if self.is_compiled else ", not compiled yet"
        return f"<twinjit lazy function {self.__name__}: {self._member.type}{state}>"

    def _bind(self) -> _llvm.Function:
        # Threads that come here at once make one each; any is as good.
        self._bound = self._group.bind(self._member)
        return self._bound
