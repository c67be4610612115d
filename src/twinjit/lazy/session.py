"""What `Jit` and lazy executables are made of."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from twinjit.engine import Engine
from twinjit.errors import ExecutorError
from twinjit.jobs.pool import Pool
from twinjit.lazy.function import LazyFunction, Member
from twinjit.lazy.function_type import read_function_type
from twinjit.lazy.group import Group
from twinjit.lazy.lowered import read_unit
from twinjit.lazy.parts import PartCompiler
from twinjit.lazy.report import LazyReport
from twinjit.lazy.unit import Unit
from twinjit.source import Source
from twinjit.symbols import Symbols

__all__ = ["Session"]

_SPECULATIVE = -1  # priority


class Session:
    """A group, and its functions as Python calls them."""

    def __init__(
        self,
        engine: Engine,
        open_program: Callable[[object, str], Source],
        symbols: Symbols,
        *,
        speculate: bool,
    ) -> None:
        self._engine = engine
        self._open = open_program
        self._symbols = symbols  # keeps what they point to

        def read(program: object) -> tuple[Unit, dict[str, str]]:
            return read_unit(open_program(program, "auto"), engine.options)

        started = _Speculation() if speculate else None
        self._group = Group(PartCompiler(engine), engine.options, read, symbols.addresses, started)
        self._functions: dict[str, LazyFunction] = {}
        self.is_closed = False

    def define(self, name: str, signature: object, generate: Callable[[], object]) -> LazyFunction:
        """Take in a function; see `Jit.define`."""
        self._group.define(name, read_function_type(name, signature), generate)
        return self[name]

    def add(self, program: object, language: str) -> list[str]:
        """Take in a program; see `Jit.add`."""
        return self.add_source(self._open(program, language))

    def add_source(self, source: Source) -> list[str]:
        """Take in a program that was opened."""
        unit, names = read_unit(source, self._engine.options)
        self._group.add(unit, names)
        return [names.get(each.symbol, each.symbol) for each in unit.public()]

    def __getitem__(self, name: str) -> LazyFunction:
        found = self._functions.get(name)
        if found is None:
            made = LazyFunction(self._group, self._group.member(name))
            found = self._functions.setdefault(name, made)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._group.names()

    def names(self) -> list[str]:
        """List the functions that can be asked for."""
        return self._group.names()

    def report(self) -> LazyReport:
        """Give account of what was done so far."""
        return self._group.report()

    def close(self) -> None:
        """Compile nothing more."""
        self.is_closed = True
        self._group.close()


class _Speculation:
    """Compiles what a function that was started calls, in a thread of its own."""

    def __init__(self) -> None:
        self._pool = Pool(1)

    def __call__(self, group: Group, member: Member) -> None:
        for callee in group.callees(member):
            if callee.code is None:
                try:
                    self._pool.add(partial(_try_to_compile, group, callee), _SPECULATIVE)
                except ExecutorError:  # no thread: who calls it compiles it
                    return


def _try_to_compile(group: Group, member: Member) -> None:
    # Whoever calls the function is told; a SystemExit of what generates it would end the thread.
    with suppress(BaseException):
        group.compile(member)
