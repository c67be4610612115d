"""A program whose functions are compiled when they are first called."""

from __future__ import annotations

from collections.abc import Iterator

from twinjit.engine import Engine
from twinjit.lazy.function import LazyFunction
from twinjit.lazy.report import LazyReport
from twinjit.lazy.session import Session
from twinjit.source import Source

__all__ = ["LazyExecutable"]


class LazyExecutable:
    """A program of which only those functions are compiled that are called.

    Its functions are attributes (``exe.main(x)``) and items (``exe["main"](x)``), as those of an
    `Executable`. Each is compiled, cached and shared by itself, so that an edited function of many
    is compiled alone. Variables of the program are this object's own.
    """

    __slots__ = ("__weakref__", "_session")

    def __init__(self, session: Session) -> None:
        self._session = session

    @classmethod
    def read(cls, engine: Engine, source: Source) -> LazyExecutable:
        """Read a program; see `Compiler.compile`."""
        session = Session(engine, engine.intake.open, source.options.symbols, speculate=False)
        session.add_source(source)
        return cls(session)

    @property
    def report(self) -> LazyReport:
        """What was done so far."""
        return self._session.report()

    def address(self, name: str) -> int:
        """Return the address of a function for native callers; see `Jit.address`."""
        return self._session[name].address

    def __getitem__(self, name: str) -> LazyFunction:
        return self._session[name]

    def __getattr__(self, name: str) -> LazyFunction:
        if name.startswith("_"):  # protocol probes
            raise AttributeError(name)
        return self._session[name]

    def __contains__(self, name: object) -> bool:
        return name in self._session

    def __iter__(self) -> Iterator[str]:
        return iter(self._session.names())

    def __len__(self) -> int:
        return len(self._session.names())

    def __repr__(self) -> str:
        return f"<twinjit.LazyExecutable {self.report}>"
