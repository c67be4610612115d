"""A program whose functions are compiled when they are first called."""

from __future__ import annotations

from twinjit.engine import Engine
from twinjit.lazy.functions import LazyFunctions
from twinjit.lazy.session import Session
from twinjit.source import Source

__all__ = ["LazyExecutable"]


class LazyExecutable(LazyFunctions):
    """A program of which only those functions are compiled that are called.

    Its functions are attributes (``exe.main(x)``) and items (``exe["main"](x)``), as those of an
    `Executable`. Each is compiled, cached and shared by itself, so that an edited function of many
    is compiled alone. Variables of the program are this object's own.
    """

    __slots__ = ()

    @classmethod
    def read(cls, engine: Engine, source: Source) -> LazyExecutable:
        """Read a program; see `Compiler.compile`."""
        session = Session(engine, engine.intake.open, source.options.symbols, speculate=False)
        session.add_source(source)
        return cls(session)
