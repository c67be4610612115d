"""The public face: options, and what can be done with a compiler."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, overload

from twinjit.build import BuildOptions
from twinjit.engine import Engine
from twinjit.errors import ExecutorError
from twinjit.executable import Executable
from twinjit.executors import make_builder
from twinjit.explanation import Explanation
from twinjit.forks import fork_lock, held_off
from twinjit.observer import Observer
from twinjit.options import (
    check_options,
    check_priority,
    check_timeout,
    choose_target,
    choose_workers,
    open_shared_store,
    open_store,
    open_tracer,
    show_code,
)
from twinjit.pipeline import AUTO
from twinjit.policy import Policy
from twinjit.report import Clock
from twinjit.settings import Confirm, Settings
from twinjit.source import Source, open_source
from twinjit.stop import stop_after
from twinjit.store.base import Backend
from twinjit.target import Target

if TYPE_CHECKING:
    from twinjit.jobs.future import CompileFuture
    from twinjit.jobs.jobs import Jobs
    from twinjit.memory import MemoryReport

__all__ = ["Compiler"]


class Compiler:
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
    ) -> None:
        check_options(pipeline, opt_level, target, policy, confirm, settings)
        settings = settings or Settings.load()
        self.pipeline = pipeline
        self.opt_level = opt_level
        self.target = target or choose_target(settings)
        self.target.check_runs_here()
        self.policy = policy or Policy()
        self.confirm = confirm or settings.confirm
        self.max_workers = choose_workers(max_workers, settings)
        self.store = open_store(cache, settings)
        self.shared = open_shared_store(shared, settings, self.store)
        show_code(settings)
        keeps_program = self.confirm == "always"
        options = BuildOptions(pipeline, opt_level, self.target, self.policy, keeps_program)
        self._engine = Engine(
            options,
            self.confirm,
            make_builder(executor, options, settings, self.max_workers),
            self.store,
            self.shared,
            settings,
            Observer(open_tracer(trace, settings)),
        )
        self._lock = fork_lock()  # guards `_jobs` and `_is_closed`
        self._jobs: Jobs | None = None  # made by the first program that is submitted
        self._is_closed = False

    def compile(
        self, program: object, *, language: str = "auto", timeout: float | None = None
    ) -> Executable:
        """Return the executable of a program, compiling it if it is new.

        Parameters
        ----------
        program
            MLIR text, a path, bytecode, or a live Module or Operation of ``mlir.ir``, of MLIR's
            bindings in another package, or of xDSL (never modified; no other thread may modify it
            meanwhile).
        language
            ``"mlir"`` or ``"llvm"``, where it should not be found out by content.
        timeout
            Seconds after which compiling stops, often within the pass that runs then; None for no
            limit.

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
            If `language` is not a language, or `timeout` no time.
        ExecutorError
            If the compiler is closed.
        OSError
            If it names a file that cannot be read.
        """
        check_timeout(timeout)
        clock = Clock()
        stop = stop_after(timeout)
        return self._engine.compile(self._open(program, language), clock, stop)

    def submit(
        self,
        program: object,
        *,
        language: str = "auto",
        priority: int = 0,
        timeout: float | None = None,
    ) -> CompileFuture:
        """Have a program compiled in the background.

        The program is taken as it is now: a live module may be changed or dropped afterwards.
        The same text, or live modules with the same fingerprint, are compiled once while one is
        under way; who cancels or is late only leaves it, and the last one stops it.

        Parameters
        ----------
        program, language
            As for `compile`.
        priority
            The highest is compiled first; equals in the order of submission.
        timeout
            Seconds from now after which the future fails; None for no limit.

        Returns
        -------
        CompileFuture
            To await, and to cancel at any time; it raises what `compile` does, as its own object.

        Raises
        ------
        UnsupportedProgramError, VerificationError, ParseError
            If it is no program, LLVM IR, a live module that is not valid, or no Unicode.
        ConfigError
            If `language`, `priority` or `timeout` cannot be used.
        ExecutorError
            If the compiler is closed, or no thread can be had.
        OSError
            If it names a file that cannot be read.
        """
        check_priority(priority)
        check_timeout(timeout)
        source, request = self._engine.take(self._open(program, language))
        return self._submitted().submit(source, request, priority, timeout)

    @overload
    def map(
        self,
        programs: Iterable[object],
        *,
        language: str = "auto",
        progress: bool = False,
        priority: int = 0,
        timeout: float | None = None,
        return_exceptions: Literal[False] = False,
    ) -> list[Executable]: ...

    @overload
    def map(
        self,
        programs: Iterable[object],
        *,
        language: str = "auto",
        progress: bool = False,
        priority: int = 0,
        timeout: float | None = None,
        return_exceptions: bool,
    ) -> list[Executable | Exception]: ...

    def map(
        self,
        programs: Iterable[object],
        *,
        language: str = "auto",
        progress: bool = False,
        priority: int = 0,
        timeout: float | None = None,
        return_exceptions: bool = False,
    ) -> list[Executable] | list[Executable | Exception]:
        """Compile programs, `max_workers` at a time, and return their executables in order.

        Whatever ends it early, the first error or Ctrl-C, cancels what has not ended.

        Parameters
        ----------
        programs
            A generator is asked for the next program when one of those before ends.
        language, priority
            As for `submit`.
        progress
            Show how far it is, and how many were hits, on standard error if that is a terminal.
        timeout
            Seconds for each program from when it is submitted, a few before it is compiled.
        return_exceptions
            Return errors in place of executables, and go on.

        Raises
        ------
        CompilationCancelledError
            If the compiler was closed meanwhile.
        ConfigError
            If `programs` is a single program.
        TwinjitError, OSError
            As for `submit` and `compile`, the first error that there is.
        """
        with held_off():
            from twinjit.jobs.mapping import compile_all
            from twinjit.jobs.progress import shown_progress

        def submit(program: object) -> CompileFuture:
            return self.submit(program, language=language, priority=priority, timeout=timeout)

        options = {"return_exceptions": return_exceptions}
        with shown_progress(programs, wanted=progress) as note:
            return compile_all(programs, submit, self.max_workers, note=note, **options)

    def close(self, *, cancel: bool = False) -> None:
        """Compile nothing more; wait for what was submitted, and end workers. Any number of times.

        Executables stay valid. In a callback of a future, it does not wait.

        Parameters
        ----------
        cancel
            Cancel what was submitted.
        """
        with self._lock:
            self._is_closed = True
        if self._jobs:
            self._jobs.close(cancel=cancel)
        self._engine.close()

    def __enter__(self) -> Compiler:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        """Close; after an exception, cancel."""
        self.close(cancel=error is not None)

    def explain(self, program: object, *, language: str = "auto") -> Explanation:
        """Say how a program would be looked up, compiling nothing.

        Raises
        ------
        CompilationError
            If the program cannot be read, or no pipeline takes it.
        UnsupportedProgramError, OSError
            As for `compile`.
        """
        return self._engine.explain(self._open(program, language))

    def would_hit(self, program: object, *, language: str = "auto") -> bool:
        """Say whether `compile` would find the code of a program, compiling nothing.

        What is found is examined, but neither loaded nor counted as a lookup.

        Raises
        ------
        CompilationError
            If the program has to be read and cannot, or no pipeline takes it.
        UnsupportedProgramError, OSError
            As for `compile`.
        """
        return self._engine.would_hit(self._open(program, language))

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
        return {**self._engine.counts(), "code_bytes": self._engine.tiers.code_bytes}

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

    def _submitted(self) -> Jobs:
        if self._jobs:
            return self._jobs
        with held_off():
            from twinjit.jobs.jobs import Jobs
        with self._lock:
            self._check_open()
            if not self._jobs:
                # Not of `self`: a compiler that is dropped shall be freed at once.
                self._jobs = Jobs(self._engine.compile, self.max_workers)
            return self._jobs

    def _check_open(self) -> None:
        if self._is_closed:
            raise ExecutorError("the compiler is closed, and takes no more programs")

    def _open(self, program: object, language: str) -> Source:
        self._check_open()
        keeps_locations = self.policy.locations == "keep"
        return open_source(program, language=language, locations=keeps_locations)
