"""Compiling in the background: what makes a compiler like a `concurrent.futures.Executor`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, overload

from twinjit.engine import Engine
from twinjit.errors import ExecutorError
from twinjit.executable import Executable
from twinjit.forks import fork_lock, held_off
from twinjit.options import check_priority, join_libraries
from twinjit.program_options import Linkable, ProgramOptions
from twinjit.source import Source
from twinjit.stop import check_timeout

if TYPE_CHECKING:
    from twinjit.jobs.future import CompileFuture
    from twinjit.jobs.jobs import Jobs
    from twinjit.library import Library

__all__ = ["BackgroundCompiler"]


class BackgroundCompiler:
    """What of a `Compiler` compiles programs while its caller goes on, until it is closed.

    Parameters
    ----------
    engine
        Looks programs up, and has them compiled.
    max_workers
        How many programs that were submitted are compiled at a time.
    libraries
        What programs may import functions from.
    """

    def __init__(self, engine: Engine, max_workers: int, libraries: Linkable | None) -> None:
        self.max_workers = max_workers
        self._engine = engine
        self._libraries = libraries
        self._lock = fork_lock()  # guards `_jobs` and `_is_closed`
        self._jobs: Jobs | None = None  # made by the first program that is submitted
        self._is_closed = False

    def submit(
        self,
        program: object,
        *,
        language: str = "auto",
        priority: int = 0,
        timeout: float | None = None,
        signatures: Mapping[str, object] | None = None,
        symbols: Mapping[str, object] | None = None,
        libraries: Iterable[Library] | Library | None = None,
    ) -> CompileFuture:
        """Have a program compiled in the background.

        The program is taken as it is now: a live module may be changed or dropped afterwards.
        The same text, or live modules with the same fingerprint, are compiled once while one is
        under way; who cancels or is late only leaves it, and the last one stops it.

        Parameters
        ----------
        program, language, signatures, symbols, libraries
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
            If it is no program, a live module that is not valid, or no Unicode.
        ConfigError
            If an option cannot be used.
        ExecutorError
            If the compiler is closed, or no thread can be had.
        OSError
            If it names a file that cannot be read.
        """
        check_priority(priority)
        check_timeout(timeout)
        opened = self._open(
            program, language, signatures=signatures, symbols=symbols, libraries=libraries
        )
        source, request = self._engine.intake.take(opened)
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
        signatures: Mapping[str, object] | None = None,
        symbols: Mapping[str, object] | None = None,
        libraries: Iterable[Library] | Library | None = None,
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
        signatures: Mapping[str, object] | None = None,
        symbols: Mapping[str, object] | None = None,
        libraries: Iterable[Library] | Library | None = None,
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
        signatures: Mapping[str, object] | None = None,
        symbols: Mapping[str, object] | None = None,
        libraries: Iterable[Library] | Library | None = None,
        return_exceptions: bool = False,
    ) -> list[Executable] | list[Executable | Exception]:
        """Compile programs, `max_workers` at a time, and return their executables in order.

        Whatever ends it early, the first error or Ctrl-C, cancels what has not ended.

        Parameters
        ----------
        programs
            A generator is asked for the next program when one of those before ends.
        language, priority, signatures, symbols, libraries
            As for `submit`; the same for all.
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
            As for `submit` and `compile`, the first error; a note (Python 3.11) says of which.
        """
        with held_off():
            from twinjit.jobs.mapping import compile_all
            from twinjit.jobs.progress import shown_progress

        def submit(program: object) -> CompileFuture:
            return self.submit(
                program,
                language=language,
                priority=priority,
                timeout=timeout,
                signatures=signatures,
                symbols=symbols,
                libraries=libraries,
            )

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
            self._jobs.close(cancel=cancel, then=self._engine.close)
        else:
            self._engine.close()

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

    def _open(
        self,
        program: object,
        language: str,
        *,
        signatures: Mapping[str, object] | None = None,
        symbols: Mapping[str, object] | None = None,
        libraries: Iterable[Library] | Library | None = None,
    ) -> Source:
        self._check_open()
        joined = self._libraries if libraries is None else join_libraries(libraries)
        options = ProgramOptions.of(signatures=signatures, symbols=symbols, libraries=joined)
        return self._engine.intake.open(program, language, options)
