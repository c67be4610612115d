"""Functions that call one another, each compiled when it is first called."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from typing import Any

from twinjit._native import _llvm
from twinjit.build import BuildOptions
from twinjit.errors import (
    CompilationError,
    EntryNotFoundError,
    ExecutorError,
    RedefinitionError,
    SignatureError,
    TwinjitError,
    UnresolvedSymbolError,
    UnsupportedProgramError,
)
from twinjit.forks import fork_lock
from twinjit.lazy.flights import Flights
from twinjit.lazy.function import Member
from twinjit.lazy.function_type import FunctionType
from twinjit.lazy.generation import generate
from twinjit.lazy.parts import FUNCTION, LazyCode, PartCompiler, link_privately
from twinjit.lazy.report import LazyReport
from twinjit.lazy.unit import Unit
from twinjit.report import Clock

__all__ = ["Group"]


class Group:
    """Owns the cells of functions, and the code that these lead to.

    Whoever can call any of its code holds it. It holds no `_llvm.Function`, which hold it.

    Parameters
    ----------
    compiler
        Compiles parts.
    options
        For what is compiled and is no function of the user's.
    read
        Reads a program, and gives its module and the names of functions that have other symbols.
    symbols
        Addresses of external symbols by name.
    started
        Is told of each function that is called for the first time.
    """

    def __init__(
        self,
        compiler: PartCompiler,
        options: BuildOptions,
        read: Callable[[object], tuple[Unit, dict[str, str]]],
        symbols: Mapping[str, int],
        started: Callable[[Group, Member], None] | None = None,
    ) -> None:
        self._compiler = compiler
        self._options = options
        self._read = read
        self._symbols = dict(symbols)
        self._started = started
        self._cells = _llvm.Cells(_resolver_of(weakref.ref(self)))
        self._members: list[Member] = []  # by cell; never shorter
        self._public: dict[str, Member] = {}
        self._stubs: dict[int, _llvm.Image] = {}  # by cell; in the turn of the stub
        self._flights = Flights()
        self._lock = fork_lock()  # guards the members and names, `_counts`, `_phases`
        self._counts: Counter[str] = Counter()
        self._phases: dict[str, float] = {}
        self._is_closed = False

    # What there is

    def add(self, unit: Unit, names: Mapping[str, str]) -> None:
        """Take in a module.

        Parameters
        ----------
        names
            What users call the functions that it defines, by symbol, where that is another name.

        Raises
        ------
        RedefinitionError
            If there is a function of a name already; nothing is taken in then.
        """
        with self._lock:
            self._check_new(names.get(each.symbol, each.symbol) for each in unit.public())
            for each in unit.defined.values():
                name = names.get(each.symbol, each.symbol)
                self._admit(name, each.type, each.symbol, unit, is_public=each.is_public)

    def define(self, name: str, type_: FunctionType, generator: Callable[[], object]) -> None:
        """Take in a function that is generated when it is called.

        Raises
        ------
        RedefinitionError
            If there is one of that name already.
        """
        with self._lock:
            self._check_new([name])
            member = self._admit(name, type_.text, name, None, is_public=True)
            member.generate, member.declared = generator, type_

    def member(self, name: str) -> Member:
        """Find a function by name.

        Raises
        ------
        EntryNotFoundError
            If there is none.
        """
        found = self._public.get(name)
        if found is None:
            with self._lock:
                names = sorted(self._public)
            known = ", ".join(names[:20]) + (" …" if len(names) > 20 else "")
            raise EntryNotFoundError(f"there is no function {name!r}; there are {known or 'none'}")
        return found

    def names(self) -> list[str]:
        """List the functions that can be asked for."""
        with self._lock:
            return list(self._public)

    def close(self) -> None:
        """Compile nothing more. What is compiled can be called still."""
        self._is_closed = True

    # Calls

    def resolve(self, cell: int) -> int:
        """Give the address of the code of a function that is called."""
        return self.start(self._members[cell]).address

    def bind(self, member: Member) -> _llvm.Function:
        """Make a function callable from Python, compiling it if it is not.

        Raises
        ------
        SignatureError
            If Python cannot call it.
        TwinjitError
            If it cannot be compiled.
        """
        code = self.start(member)
        known = member.unit.signatures.get(member.symbol) if member.unit else None
        signature = known or code.signature
        if signature.uncallable:
            raise SignatureError(
                f"{member.name!r} cannot be called from Python: {signature.uncallable}"
            )
        return code.bind(member.name, signature, self)

    def start(self, member: Member) -> LazyCode:
        """Have callers of a function run its code from now on."""
        code = self.compile(member)
        self._cells.swap(member.cell, code.address)
        if not member.is_started:
            member.is_started = True
            if self._started:
                self._started(self, member)
        return code

    def callees(self, member: Member) -> list[Member]:
        """List the functions that the code of one calls."""
        return [self._members[cell] for cell in member.callees]

    def compile(self, member: Member) -> LazyCode:
        """Return a function's code, which callers do not run for that.

        Raises
        ------
        TwinjitError
            If it cannot be compiled.
        """
        if member.code is None:
            self._compile_once(member)
        if member.code is None:
            assert member.failure  # noqa: S101 -- one of both is there
            failure = copy(member.failure)
            failure.__cause__ = member.failure.__cause__
            raise failure
        return member.code

    def address(self, member: Member) -> int:
        """Address of a function for whoever does not go through its cell."""
        with self._flights.turn(("stub", member.cell), member.name):
            image = self._stubs.get(member.cell)
            if image is None:
                image = self._stubs[member.cell] = self._make_stub(member)
            return image.exported(FUNCTION)

    def report(self) -> LazyReport:
        """Give account of what was done so far."""
        with self._lock:
            members, counts = list(self._members), self._counts.copy()
            phases = dict(self._phases)
        done = [each for each in members if each.code]
        tiers = Counter(each.code.tier for each in done if each.code)
        compiled = tiers.pop("compiled", 0)
        return LazyReport(
            functions=len(members),
            compiled=compiled,
            hits=dict(tiers),
            skipped=len(members) - len(done),
            generated=counts["generated"],
            generation_skipped=sum(each.unit is None for each in members) - counts["failed"],
            speculated=sum(not each.is_started for each in done),
            imported=sum(
                each.code.imported for each in done if each.code and each.code.tier == "compiled"
            ),
            phases=phases,
            object_bytes=sum(each.code.object_bytes for each in done if each.code),
        )

    # Taking in; under the lock

    def _check_new(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self._public:
                raise RedefinitionError(
                    f"there is a function {name!r} already, which compiled code may call; give "
                    "the other one another name, or define it in another Jit"
                )

    def _admit(
        self, name: str, type_: str, symbol: str, unit: Unit | None, *, is_public: bool
    ) -> Member:
        cell = self._cells.add()
        member = Member(name, cell, type_, is_public, unit, symbol)
        self._members.append(member)
        if unit:
            unit.cells[symbol] = cell
        if is_public:
            self._public[name] = member
        return member

    # Compilation

    def _compile_once(self, member: Member) -> None:
        with self._flights.turn(member.cell, member.name):
            if member.code or member.failure:
                return
            if self._is_closed:
                raise ExecutorError(
                    f"{member.name!r} is called for the first time after its Jit was closed"
                )
            clock = Clock()
            try:
                self._compile(member, clock)
            except UnresolvedSymbolError:
                raise  # who has it may come yet
            except (CompilationError, UnsupportedProgramError, SignatureError) as error:
                member.failure = error.with_traceback(None)
            finally:
                self._note(clock)

    def _compile(self, member: Member, clock: Clock) -> None:
        unit = member.unit or self._generated(member, clock)
        known = self._public
        bitcode, links, outside = unit.extract(member.symbol, known)
        for _, kind, name in links:
            if kind != "data" and name not in unit.cells:
                self._check_type(member, unit, known[name])
        clock.lap("extract")
        found = self._compiler.find(bitcode, unit.libraries, clock)
        given = dict(unit.given)
        given |= {name: self._symbols[name] for name in outside if name in self._symbols}
        given |= self._bind_links(unit, links)
        code = found.link(given)
        clock.lap("load")
        cells = (self._cell_of(unit, name) for _, kind, name in links if kind == "cell")
        member.callees = tuple(dict.fromkeys(cells))
        member.code = code

    def _generated(self, member: Member, clock: Clock) -> Unit:
        """Have a function generated. Once: its module is kept, and so is what that raises."""
        assert member.generate  # noqa: S101 -- for it has no unit
        assert member.declared  # noqa: S101 -- with what generates it
        try:
            unit, member.symbol = generate(
                member.name, member.declared, member.generate, self._read
            )
        except TwinjitError:
            with self._lock:
                self._counts["failed"] += 1
            raise
        finally:
            clock.lap("generation")
        with self._lock:
            self._counts["generated"] += 1
            for each in unit.defined.values():
                if each.symbol != member.symbol:  # others are known to this module alone
                    self._admit(each.symbol, each.type, each.symbol, unit, is_public=False)
        unit.cells[member.symbol] = member.cell
        member.unit, member.generate = unit, None
        return unit

    def _check_type(self, caller: Member, unit: Unit, callee: Member) -> None:
        declared = unit.declared[callee.name].type
        if declared != callee.type:
            raise SignatureError(
                f"{caller.name!r} declares {callee.name!r} as {declared}, but it is {callee.type}"
            )

    def _cell_of(self, unit: Unit, symbol: str) -> int:
        cell = unit.cells.get(symbol)
        return self._public[symbol].cell if cell is None else cell

    def _bind_links(self, unit: Unit, links: list[tuple[str, str, str]]) -> dict[str, int]:
        given = {}
        for symbol, kind, name in links:
            if kind == "data":
                given[symbol] = self._data_of(unit)[name]
            elif kind == "cell":
                given[symbol] = self._cells.address(self._cell_of(unit, name))
            else:
                given[symbol] = self.address(self._members[self._cell_of(unit, name)])
        return given

    def _data_of(self, unit: Unit) -> Mapping[str, int]:
        """Addresses of a module's variables, which are there from the first use of one on."""
        with self._flights.turn(unit, "its variables"):
            if unit.data is None:
                lazy = [name for name in unit.declared if name in self._public]
                bitcode, links, symbols = unit.split.data(lazy)
                given = {**unit.given, **self._symbols, **self._bind_links(unit, links)}
                exports = list(symbols.values())
                unit.image = link_privately(bitcode, given, exports, self._options)
                unit.data = {name: unit.image.exported(symbol) for name, symbol in symbols.items()}
            return unit.data

    def _make_stub(self, member: Member) -> _llvm.Image:
        if member.declared:
            bitcode, links = member.declared.stub()
        else:
            assert member.unit  # noqa: S101 -- for it was not declared
            bitcode, links = member.unit.split.public_stub(member.symbol)
        given = {symbol: self._cells.address(member.cell) for symbol, _, _ in links}
        return link_privately(bitcode, given, [FUNCTION], self._options)

    def _note(self, clock: Clock) -> None:
        with self._lock:
            for phase, seconds in clock.phases.items():
                self._phases[phase] = self._phases.get(phase, 0.0) + seconds


def _resolver_of(group: weakref.ref[Group]) -> Callable[[int], int]:
    """Make what cells ask; it does not hold the group, which holds the cells."""

    def resolve(cell: int) -> int:
        owner: Any = group()
        if owner is None:
            raise ExecutorError("a lazy function was called after its Jit was dropped")
        address: int = owner.resolve(cell)
        return address

    return resolve
