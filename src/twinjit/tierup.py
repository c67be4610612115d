"""Programs that run code which was made fast, until they prove to be worth fast code."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter

from twinjit._native import _llvm
from twinjit.engine import Engine
from twinjit.errors import ArtifactError, ConfigError, TwinjitError
from twinjit.executable import Executable, LoadedCode, code_of
from twinjit.forks import fork_lock, start_anew_in_children
from twinjit.jobs.jobs import Jobs
from twinjit.report import Clock, Report
from twinjit.source import Source
from twinjit.stop import Stop

__all__ = ["Candidate", "TierUp", "TieredExecutable", "compile_in_tiers"]

_PRIORITY = -1  # of the background: after what someone waits for

_log = logging.getLogger("twinjit.compile")


@dataclass(frozen=True)
class Candidate:
    """A program of which the optimised code is, or is not, to be compiled.

    Attributes
    ----------
    function
        Its function that has been called so often; empty where none has been called yet.
    calls
        How often that was called; 0 before anything is compiled.
    seconds
        Since its first code was there.
    first
        The report of that; None where nothing is compiled yet.
    """

    function: str
    calls: int
    seconds: float
    first: Report | None


@dataclass(frozen=True)
class TierUp:
    """When a program gets optimised code.

    It is compiled at a low level of optimisation first, unless its optimised code is known. That
    is compiled in the background, and then all its functions run it from their next call on.

    Attributes
    ----------
    calls
        Calls of one function after which the optimised code is compiled.
    first_level
        LLVM's optimisation level to begin with, 0 to 3.
    gate
        Says whether to compile the optimised code, for those who know more than how often a
        program is called: what it is estimated to cost, say. It is asked before anything is
        compiled, and if it says no, after `calls` calls of a function and each time that those have
        doubled, in the thread that makes the call. By default, after `calls` calls.

    Raises
    ------
    ConfigError
        If one of them cannot be used.
    """

    calls: int = 32
    first_level: int = 0
    gate: Callable[[Candidate], bool] | None = None

    def __post_init__(self) -> None:
        for name, least, most in (("calls", 1, None), ("first_level", 0, 3)):
            value = getattr(self, name)
            is_number = isinstance(value, int) and not isinstance(value, bool)
            if not is_number or value < least or (most is not None and value > most):
                bounds = f"{least} or more" if most is None else f"{least} to {most}"
                raise ConfigError(f"TierUp({name}={value!r}): give a whole number, {bounds}")
        if self.gate is not None and not callable(self.gate):
            raise ConfigError(f"TierUp(gate={self.gate!r}): give a function of a Candidate")

    @classmethod
    def of(cls, option: TierUp | bool) -> TierUp:
        """Read the option `tier_up` of `Compiler.compile`, where that is not False.

        Raises
        ------
        ConfigError
            If it is neither.
        """
        if isinstance(option, TierUp):
            return option
        if option is not True:
            raise ConfigError(f"tier_up is {option!r}; give True, False or a TierUp")
        return cls()

    def lets_pass(self, candidate: Candidate) -> bool:
        """Ask the gate, if there is one."""
        return bool(self.gate(candidate)) if self.gate else candidate.calls >= self.calls


class _Tiering:
    """A program in two tiers: its code, its functions, and the way to better code.

    Functions hold it, and it holds none of them.

    Parameters
    ----------
    first
        The program as it was compiled first.
    options
        When there is to be more.
    begin
        Has the optimised code compiled in the background.

    Attributes
    ----------
    code : LoadedCode
        What new calls run.
    report : Report
        Of the first code, and of the optimised once that runs.
    """

    def __init__(
        self, first: Executable, options: TierUp, begin: Callable[[], Future[Executable]]
    ) -> None:
        self.code = code_of(first)
        self.report = first.report
        self._refined = first._refined
        self._options = options
        self._begin = begin
        self._since = perf_counter()
        self._lock = fork_lock()  # guards `code` and `_functions`; held while functions are bound
        self._functions: dict[str, weakref.ref[_llvm.Function]] = {}
        self.start_anew()
        start_anew_in_children(self)

    def start_anew(self) -> None:
        """Count from the beginning: in a forked child, what was begun is the parent's."""
        # Whoever takes it begins. No lock: calls that are counted may be a signal handler's.
        self._to_begin = [self._begin]
        self._promotion: Future[Executable] = Future()
        self._promotion.set_running_or_notify_cancel()  # nobody else is to end it
        if self.report.promoted is None:
            for name, function in self._living():
                self._count(function, name, self._options.calls, 0)

    def function(self, name: str) -> _llvm.Function:
        """Return a function whose code gets better; see `LoadedCode.function`."""
        with self._lock:
            known = self._functions.get(name)
            function = known() if known else None
            if function is None:
                signature = self._refined.get(name) or self.code.signature(name)
                function = self.code.make_function(signature)
                self._functions[name] = weakref.ref(function)
                if self.report.promoted is None:
                    self._count(function, name, self._options.calls, 0)
        return function

    def promote(self) -> Future[Executable]:
        """Have the optimised code compiled, if that has not begun."""
        try:
            begin = self._to_begin.pop()
        except IndexError:
            return self._promotion
        promotion = self._promotion
        try:
            begin().add_done_callback(partial(self._take, promotion))
        except TwinjitError as error:  # the compiler is closed
            self._fail(promotion, error)
        return promotion

    def _living(self) -> list[tuple[str, _llvm.Function]]:
        found = ((name, known()) for name, known in list(self._functions.items()))
        return [(name, function) for name, function in found if function is not None]

    def _count(self, function: _llvm.Function, name: str, calls: int, before: int) -> None:
        function.count_calls(calls, lambda: self._reached(name, before + calls))

    def _reached(self, name: str, calls: int) -> None:
        candidate = Candidate(name, calls, perf_counter() - self._since, self.report)
        if self._options.lets_pass(candidate):
            self.promote()
            return
        for living, function in self._living():
            if living == name:
                self._count(function, name, calls, calls)

    def _take(self, promotion: Future[Executable], compiled: Future[Executable]) -> None:
        """Run the optimised code, once that is there."""
        try:
            final = compiled.result()
            self._swap(code_of(final))
        except (TwinjitError, CancelledError) as error:
            self._fail(promotion, error)
            return
        self.report = replace(self.report, promoted=final.report)
        promotion.set_result(final)

    def _swap(self, code: LoadedCode) -> None:
        if code.signatures != self.code.signatures:
            raise ArtifactError("the optimised code has other functions than the first")
        with self._lock:
            for _, function in self._living():
                code.give_to(function)
            self.code = code

    def _fail(self, promotion: Future[Executable], error: BaseException) -> None:
        _log.warning("a program goes on without optimised code: %s", error)
        promotion.set_exception(error)


class _Settled:
    """A program in the only tier that it needs, in place of a `_Tiering`."""

    def __init__(self, final: Executable) -> None:
        self.code = code_of(final)
        self.report = final.report
        self.function = final._function
        self._final = final

    def promote(self) -> Future[Executable]:
        """Say that there is nothing to wait for."""
        done: Future[Executable] = Future()
        done.set_result(self._final)
        return done


class TieredExecutable(Executable):
    """An `Executable` whose functions, also those handed out, get better code while in use.

    Each is equal to itself only. Its `report` has ``promoted``, the report of the optimised code,
    once that runs in place of the first. Where the optimised code was there from the beginning, it
    is the only code.
    """

    __slots__ = ("_functions", "_tiering")

    def __init__(self, first: Executable, tiering: _Tiering | _Settled) -> None:
        super().__init__(code_of(first), first.report, first._prototypes)
        self._tiering = tiering
        self._functions: dict[str, _llvm.Function] = {}  # with their counts

    @property
    def report(self) -> Report:
        """Where the first code came from, and the optimised once that runs."""
        return self._tiering.report

    def promote(self) -> Future[Executable]:
        """Have the optimised code compiled in the background now, if that has not begun.

        Returns
        -------
        Future of Executable
            Done when the functions run it; it raises what compiling raised, which calls do not.
        """
        return self._tiering.promote()

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    @property
    def _code(self) -> LoadedCode:
        return self._tiering.code

    def _function(self, name: str) -> _llvm.Function:
        known = self._functions.get(name)
        return known or self._functions.setdefault(name, self._tiering.function(name))


def compile_in_tiers(
    engine: Engine, jobs: Jobs, options: TierUp, source: Source, clock: Clock, stop: Stop
) -> TieredExecutable:
    """Return a program's optimised code if that is known, else code that was made fast.

    Parameters
    ----------
    engine
        Of the optimised code.
    jobs
        Have that compiled in the background.
    options
        When to do so.
    source, clock, stop
        As for `Engine.compile`.
    """
    if options.first_level >= engine.options.opt_level:
        return _settled(engine.compile(source, clock, stop))
    source, request = engine.intake.take(source)
    found = engine.find(source, request, clock)
    if found:
        return _settled(found)
    if options.lets_pass(Candidate("", 0, 0.0, None)):
        return _settled(engine.compile(source, clock, stop, request))
    first = engine.at_level(options.first_level).compile(source, clock, stop)
    begin = partial(jobs.submit, source, request, _PRIORITY, None)
    return TieredExecutable(first, _Tiering(first, options, begin))


def _settled(final: Executable) -> TieredExecutable:
    return TieredExecutable(final, _Settled(final))
