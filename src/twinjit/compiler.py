"""The public face: options, and what can be done with a compiler at once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Literal, NoReturn, overload

from twinjit.background import BackgroundCompiler
from twinjit.build import BuildOptions
from twinjit.engine import Engine
from twinjit.errors import ConfigError, ExecutorError
from twinjit.executable import Executable
from twinjit.executors import make_builder
from twinjit.explanation import Explanation
from twinjit.forks import held_off
from twinjit.observer import Observer
from twinjit.options import (
    check_options,
    check_switch,
    choose_target,
    choose_workers,
    join_libraries,
    open_shared_store,
    open_store,
    open_tracer,
    show_code,
)
from twinjit.pipeline import AUTO
from twinjit.policy import Policy
from twinjit.report import Clock
from twinjit.settings import Confirm, Settings
from twinjit.source import Source
from twinjit.stop import check_timeout, stop_after
from twinjit.store.base import Backend
from twinjit.target import Target

if TYPE_CHECKING:
    from twinjit.lazy.executable import LazyExecutable
    from twinjit.library import Library
    from twinjit.memory import MemoryReport
    from twinjit.tierup import TieredExecutable, TierUp

__all__ = ["Compiler"]


class Compiler(BackgroundCompiler):
    """Compiles programs, each distinct one once.

    Any number of threads may share one. A store that fails is a `CacheWarning`, never an error. In
    a ``with`` statement, it is closed at the end.

    Parameters
    ----------
    pipeline
        ``"auto"`` to choose by the program's dialects, a name in `NAMED_PIPELINES`, or a pass
        pipeline over ``builtin.module`` in MLIR's syntax.
    opt_level
        LLVM's optimisation level, 0 to 3.
    target
        What to make code for; the host by default.
    policy
        What counts as the same program; by default, whatever can reach the code. Programs that are
        the same under it share their code, but for large constants that it takes for parameters.
    confirm
        ``"always"`` to compare the program of each hit in full with the one that the code was
        compiled from, which artifacts then contain; ``"never"``; by default what `settings` says.
        Code of another program is discarded and counted (``refuted``), and the program compiled.
    cache
        True for the disk store that `settings` names; False, None or ``"off"`` for none; or a
        directory. Other compilers, threads and processes may use it, too.
    shared
        True for the store that `settings` names and several machines share; False or None for
        none; a URL; or a `Backend` to make it on.
    executor
        Where programs that are new are compiled: ``"thread"`` or None for the calling thread, which
        for those that are submitted is one of the compiler's own; ``"process"`` for isolated
        workers, so that the compiler's crashes end those (``docs/parallel.md``); a
        `concurrent.futures.Executor`, a `distributed.Client` or ``"ray"`` (``docs/clusters.md``).
    max_workers
        How many programs that were submitted are compiled at a time; by default what `settings`
        says.
    libraries
        What all programs may import functions from: a `Library`, or several, searched in order
        (``docs/library.md``).
    trace
        Path of a file to write a trace of all calls to, for Perfetto and Chrome, with ``%p`` for
        the number of the process; by default what `settings` says.
    settings
        Settings; by default ``Settings.load()``: of the environment and the settings file.

    Attributes
    ----------
    store, shared
        The `DiskStore` and the `SharedStore`, for their ``stats``; None where there is none.
    target
        The `Target` in use.
    max_workers
        How many programs are compiled at a time.

    Raises
    ------
    ConfigError
        If an option or a setting of the environment cannot be used.
    TargetError
        If code for `target`, or for the target that `settings` names, cannot run in this process.
    """

    def __init__(
        self,
        *,
        pipeline: str = AUTO,
        opt_level: int = 3,
        target: Target | None = None,
        policy: Policy | None = None,
        confirm: Confirm | None = None,
        cache: bool | str | os.PathLike[str] | None = True,
        shared: bool | str | Backend | None = True,
        settings: Settings | None = None,
        executor: object = None,
        trace: str | os.PathLike[str] | None = None,
        max_workers: int | None = None,
        libraries: Iterable[Library] | Library | None = None,
    ) -> None:
        check_options(pipeline, opt_level, target, policy, confirm, settings)
        settings = settings or Settings.load()
        self.pipeline = pipeline
        self.opt_level = opt_level
        self.target = target or choose_target(settings)
        self.target.check_runs_here()
        self.policy = policy or Policy()
        self.confirm = confirm or settings.confirm
        workers = choose_workers(max_workers, settings)
        joined = join_libraries(libraries)
        self.store = open_store(cache, settings)
        self.shared = open_shared_store(shared, settings, self.store)
        show_code(settings)
        keeps_program = self.confirm == "always"
        options = BuildOptions(pipeline, opt_level, self.target, self.policy, keeps_program)
        engine = Engine(
            options,
            self.confirm,
            partial(make_builder, executor, settings=settings, max_workers=workers),
            self.store,
            self.shared,
            settings,
            Observer(open_tracer(trace, settings)),
        )
        super().__init__(engine, workers, joined)

    @overload
    def compile(
        self,
        program: object,
        *,
        language: str = "auto",
        timeout: float | None = None,
        tier_up: TierUp | Literal[True],
        signatures: Mapping[str, object] | None = None,
        symbols: Mapping[str, object] | None = None,
        libraries: Iterable[Library] | Library | None = None,
        lazy: Literal[False] = False,
    ) -> TieredExecutable: ...

    @overload
    def compile(
        self,
        program: object,
        *,
        language: str = "auto",
        timeout: float | None = None,
        tier_up: bool = False,
        signatures: Mapping[str, object] | None = None,
        symbols: Mapping[str, object] | None = None,
        libraries: Iterable[Library] | Library | None = None,
        lazy: Literal[False] = False,
    ) -> Executable: ...

    @overload
    def compile(
        self,
        program: object,
        *,
        language: str = "auto",
        symbols: Mapping[str, object] | None = None,
        libraries: Iterable[Library] | Library | None = None,
        lazy: Literal[True],
    ) -> LazyExecutable: ...

    def compile(
        self,
        program: object,
        *,
        language: str = "auto",
        timeout: float | None = None,
        tier_up: TierUp | bool = False,
        signatures: Mapping[str, object] | None = None,
        symbols: Mapping[str, object] | None = None,
        libraries: Iterable[Library] | Library | None = None,
        lazy: bool = False,
    ) -> Executable | LazyExecutable:
        """Return the executable of a program, compiling it if it is new.

        Parameters
        ----------
        program
            MLIR or LLVM IR: text, a path, bytecode or bitcode; a live Module or Operation of
            ``mlir.ir``, of MLIR's bindings in another package, or of xDSL (never modified; no other
            thread may modify it meanwhile); or a Module of ``llvmlite.ir`` or ModuleRef of
            ``llvmlite.binding``.
        language
            ``"mlir"`` or ``"llvm"``, where it should not be found out by content.
        timeout
            Seconds after which compiling stops, often within the pass that runs then; None for no
            limit.
        tier_up
            True, or options, to compile fast first, and to have the optimised code compiled in the
            background once a function has been called often (``docs/tiers.md``).
        signatures
            Types in C of functions, by name, for what the program's types do not say: prototypes of
            ctypes, or declarations such as ``"double (const double *x, int64_t n)"``. They are
            checked, and no part of keys (``docs/llvm.md``).
        symbols
            What the program declares and the process does not define, by name: ctypes functions,
            addresses, or objects with an ``address``, such as a ``numba.cfunc``. The code keeps
            them alive. Addresses are no part of keys.
        libraries
            What it may import functions from, in place of what the compiler has.
        lazy
            True to compile each function by itself when it is first called (``docs/lazy.md``);
            without a `timeout`, `tier_up` and `signatures`.

        Raises
        ------
        CompilationTimeoutError
            If it took longer than `timeout`.
        CompilationError
            Or one of its subclasses, for a program that cannot be compiled.
        UnresolvedSymbolError
            If it calls functions that nothing in this process defines.
        UnsupportedProgramError
            If it is no program, or has dialects that only the package that holds it knows.
        ConfigError
            If `language` is not a language, `timeout` no time, or another option cannot be used; or
            if options exclude one another.
        SignatureError
            If `signatures` has another type than the program, or a function that it lacks.
        LibraryError
            If a library cannot be read, or the program needs a copy of what cannot be copied.
        ExecutorError
            If the compiler is closed.
        OSError
            If it names a file that cannot be read.
        """
        check_timeout(timeout)
        clock = Clock()
        stop = stop_after(timeout)
        source = self._open(
            program, language, signatures=signatures, symbols=symbols, libraries=libraries
        )
        if check_switch("lazy", lazy):
            return self._compile_lazily(source, timeout, tier_up)
        if tier_up is False:
            return self._engine.compile(source, clock, stop)
        with held_off():
            from twinjit.tierup import TierUp, compile_in_tiers
        tiers = TierUp.of(tier_up)
        return compile_in_tiers(self._engine, self._submitted(), tiers, source, clock, stop)

    def _compile_lazily(
        self, source: Source, timeout: float | None, tier_up: TierUp | bool
    ) -> LazyExecutable:
        if timeout is not None or tier_up is not False or source.options.signatures:
            raise ConfigError("lazy=True takes no timeout, tier_up or signatures: leave them out")
        with held_off():
            from twinjit.lazy.executable import LazyExecutable
        return LazyExecutable.read(self._engine, source)

    def __enter__(self) -> Compiler:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        """Close; after an exception, cancel."""
        self.close(cancel=error is not None)

    def __reduce__(self) -> NoReturn:
        raise ExecutorError("a Compiler cannot be copied, nor sent to a process; make another")

    def explain(
        self,
        program: object,
        *,
        language: str = "auto",
        libraries: Iterable[Library] | Library | None = None,
    ) -> Explanation:
        """Say how a program would be looked up, compiling nothing.

        Raises
        ------
        CompilationError
            If the program cannot be read, or no pipeline takes it.
        UnsupportedProgramError, OSError
            As for `compile`.
        """
        return self._engine.explain(self._open(program, language, libraries=libraries))

    def would_hit(
        self,
        program: object,
        *,
        language: str = "auto",
        libraries: Iterable[Library] | Library | None = None,
    ) -> bool:
        """Say whether `compile` would find the code of a program, compiling nothing.

        What is found is examined, but neither loaded nor counted as a lookup.

        Raises
        ------
        CompilationError
            If the program has to be read and cannot, or no pipeline takes it.
        UnsupportedProgramError, OSError
            As for `compile`.
        """
        return self._engine.would_hit(self._open(program, language, libraries=libraries))

    def stats(self) -> Mapping[str, int]:
        """Count what this compiler did.

        Returns
        -------
        Mapping of str to int
            ``memory``, ``disk``, ``shared`` and ``compiled``: calls of `compile` by where the code
            came from; ``uncacheable``: compilations whose result has no identity, for a part of the
            program or a pass that reads files; ``confirmed`` and ``refuted``: hits that turned out
            to be of the very program, and of another; ``checked``: calls in check mode whose code
            was compiled again and compared; ``code_bytes``: code held in memory.
        """
        return {**self._engine.counts.by_name(), "code_bytes": self._engine.tiers.code_bytes}

    def memory(self) -> MemoryReport:
        """Account for the memory of this process, and what this compiler has of it.

        Takes some milliseconds: the kernel goes through all pages.

        Raises
        ------
        OSError
            If the kernel does not tell (``/proc`` is not mounted).
        """
        with held_off():
            from twinjit.memory import measure
        return measure(self._engine.tiers, self._engine.index)

    def clear_memory(self) -> None:
        """Forget all executables; those that someone still holds stay valid."""
        self._engine.clear_memory()
