"""Lazy functions by name, as users hold them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

from twinjit.errors import ExecutorError
from twinjit.lazy.function import LazyFunction
from twinjit.lazy.report import LazyReport
from twinjit.lazy.session import Session

__all__ = ["LazyFunctions"]


class LazyFunctions:
    """The functions of a session, as attributes and items."""

    __slots__ = ("__weakref__", "_session")

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def report(self) -> LazyReport:
        """What was done so far."""
        return self._session.report()

    def address(self, name: str) -> int:
        """Return the address of a function for native callers.

        It has the function's own calling convention, is there before the function is compiled, and
        stays the same, as long as this object lives. If the function then cannot be compiled, a
        native caller gets zero, `sys.unraisablehook` the exception, and `take_native_error` gives
        it to the thread.

        Raises
        ------
        EntryNotFoundError
            If there is no such function.
        """
        return self._session[name].address

    def __getitem__(self, name: str) -> LazyFunction:
        return self._session[name]

    def __getattr__(self, name: str) -> LazyFunction:
        if name.startswith("_"):  # protocol probes, and this class's own before they are made
            raise AttributeError(name)
        return self._session[name]

    def __contains__(self, name: object) -> bool:
        return name in self._session

    def __iter__(self) -> Iterator[str]:
        return iter(self._session.names())

    def __len__(self) -> int:
        return len(self._session.names())

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._session.names()]

    def __reduce__(self) -> NoReturn:
        raise ExecutorError(
            f"a {type(self).__name__} is code in this process, and can neither be copied nor sent "
            "to another; make one there, which finds the code in a store that both use"
        )

    def __repr__(self) -> str:
        return f"<twinjit.{type(self).__name__} {self.report}>"
