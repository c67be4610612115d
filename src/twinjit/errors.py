"""Every exception and warning that Twinjit raises, in one tree under `TwinjitError`.

Where Python has a built-in class for the same mistake (a missing attribute, a wrong type), ours
derives from it too, so that code which knows nothing of Twinjit still handles it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from twinjit.code_difference import CodeDifference

__all__ = [
    "ArgumentTypeError",
    "ArgumentValueError",
    "ArtifactError",
    "ArtifactMachineError",
    "ArtifactUnavailableError",
    "ArtifactVersionError",
    "BundleError",
    "CacheWarning",
    "CompilationCancelledError",
    "CompilationError",
    "CompilationTimeoutError",
    "CompilerCrashed",
    "ConfigError",
    "ContextError",
    "Diagnostic",
    "EntryNotFoundError",
    "EntryTooLargeError",
    "ExecutionError",
    "ExecutorError",
    "ForkError",
    "GenerationError",
    "KeyPartError",
    "LibraryError",
    "LoweringError",
    "MemoryLimitError",
    "ObservationWarning",
    "ParseError",
    "PipelineError",
    "PolicyError",
    "QueryCancelledError",
    "QueryError",
    "QueryTimeoutError",
    "RedefinitionError",
    "ReproducerError",
    "ReproducibilityError",
    "SealError",
    "SignatureError",
    "SqlError",
    "TargetError",
    "TwinjitError",
    "UnfingerprintableError",
    "UnresolvedSymbolError",
    "UnsupportedProgramError",
    "VerificationError",
]


@dataclass(frozen=True)
class Diagnostic:
    """One diagnostic of MLIR or LLVM.

    Attributes
    ----------
    severity
        ``"error"``, ``"warning"`` or ``"remark"``; ``"note"`` among notes.
    message
        The text, without its location.
    file
        File name of the location; empty where the location is unknown.
    line, column
        1-based; 0 where unknown.
    excerpt
        The line of the program's text, and a caret below the place; empty where it is not at hand.
    notes
        What it was explained with; also the callers, where the location leads through calls.
    name
        Name of the location, as front ends give it to operations; empty where it has none.
    """

    severity: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    excerpt: str = ""
    notes: tuple[Diagnostic, ...] = ()
    name: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.file else ""
        name = f"{self.name}: " if self.name else ""
        told = f"{place}{name}{self.severity}: {self.message}"
        return _indented([told, *self.excerpt.splitlines(), *map(str, self.notes)])


def _indented(texts: list[str]) -> str:
    """One below the other, all but the first indented."""
    return "\n  ".join(text.replace("\n", "\n  ") for text in texts)


class TwinjitError(Exception):
    """Base of all Twinjit exceptions.

    Parameters
    ----------
    message
        What went wrong, where, and the cure where one is known.
    diagnostics
        What MLIR or LLVM said, in order of emission.
    """

    def __init__(self, message: str, *, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.diagnostics = diagnostics

    def __copy__(self) -> TwinjitError:
        """Copy what was said, but not where it was raised.

        Not left to `copyreg`, where others (tblib, which Dask loads) have copies of all exceptions
        share their tracebacks, and cannot copy those that are a MemoryError.
        """
        copied = type(self)(self.message)
        copied.__dict__.update(self.__dict__)
        return copied

    def __str__(self) -> str:
        return _indented([self.message, *map(str, self.diagnostics)])


class CompilationError(TwinjitError):
    """A program could not be turned into object code."""


class ParseError(CompilationError, ValueError):
    """The program's text or bytecode cannot be read."""


class VerificationError(CompilationError, ValueError):
    """The program reads, but breaks the rules of one of its operations."""


class PipelineError(CompilationError, ValueError):
    """A pass pipeline's name or text is wrong, or one of its passes failed."""


class LoweringError(CompilationError):
    """The pipeline ran, but left operations that have no place in LLVM IR."""


class UnresolvedSymbolError(CompilationError, LookupError):
    """The program calls functions that nothing in this process defines."""


class GenerationError(CompilationError):
    """What was to give the program of a lazy function raised, or gave another function."""


class TargetError(CompilationError, ValueError):
    """The target is unknown to LLVM, or is not this machine's."""


class CompilerCrashed(CompilationError):
    """The compiler ended its process on the program; only workers contain that.

    Attributes
    ----------
    signal
        Name of the signal that ended the worker, such as ``"SIGSEGV"``; empty where it ended by
        itself.
    phase
        What it was doing, as in `Report.phases`, with the pass where that is known.
    output
        The end of what the worker wrote to its standard error: of LLVM, the assertion that failed.
    reproducer
        Path of the directory with which ``twinjit reproduce-crash`` has it crash again; None where
        none could be written.
    """

    def __init__(
        self,
        message: str,
        *,
        signal: str = "",
        phase: str = "",
        output: str = "",
        reproducer: str | None = None,
        diagnostics: tuple[Diagnostic, ...] = (),
    ) -> None:
        super().__init__(message, diagnostics=diagnostics)
        self.signal, self.phase = signal, phase
        self.output, self.reproducer = output, reproducer


class MemoryLimitError(CompilerCrashed, MemoryError):
    """Compiling the program took more memory than a worker may have."""


class ReproducibilityError(CompilationError):
    """In check mode, two compilations of a program gave different code, of which none is kept.

    Attributes
    ----------
    difference
        The first `CodeDifference`; None where it is not known.
    """

    def __init__(
        self,
        message: str,
        *,
        difference: CodeDifference | None = None,
        diagnostics: tuple[Diagnostic, ...] = (),
    ) -> None:
        super().__init__(message, diagnostics=diagnostics)
        self.difference = difference


class CompilationCancelledError(TwinjitError):
    """A compilation was stopped, since nobody wants its result any more."""


class CompilationTimeoutError(TwinjitError, TimeoutError):
    """A compilation did not end in the time that it had, and was stopped."""


class ExecutorError(TwinjitError, RuntimeError):
    """Workers, an executor, a cluster or other processes are to work on programs, and cannot."""


class RedefinitionError(TwinjitError, ValueError):
    """A `Jit` has a function of that name already."""


class LibraryError(CompilationError, ValueError):
    """A library cannot be opened, or a function of it cannot become part of a program."""


class UnsupportedProgramError(TwinjitError, TypeError):
    """What was handed in is not a program Twinjit can take."""


class ContextError(TwinjitError, RuntimeError):
    """A live program's context, or other work on the program, forbids what is to be done."""


class UnfingerprintableError(TwinjitError, ValueError):
    """Part of a program has no identity (for instance a resource without its bytes)."""


class ArtifactError(TwinjitError):
    """An artifact is damaged, foreign, or cannot be linked into this process."""


class ArtifactVersionError(ArtifactError):
    """An intact artifact in a format that another release of Twinjit writes."""


class ArtifactMachineError(ArtifactError):
    """An intact artifact whose code another machine, or another build of Twinjit, can run."""


class ArtifactUnavailableError(ArtifactError):
    """An artifact that may be intact, which this process has not the means to read now."""


class EntryTooLargeError(ArtifactError):
    """An entry of a store is larger than the store may take or give."""


class BundleError(TwinjitError, ValueError):
    """A file is not a bundle of a store's entries, or not all of one."""


class SealError(ArtifactError):
    """An entry of a store is not signed with the store's secret for the name it has."""


class ReproducerError(TwinjitError, ValueError):
    """A directory is not the reproducer of a crash, or not all of one."""


class KeyPartError(TwinjitError, ValueError):
    """A key's parts are not a table of unique names with text or bytes as values."""


class ConfigError(TwinjitError, ValueError):
    """A setting has a value Twinjit cannot use; the message names setting, value and cure."""


class PolicyError(ConfigError):
    """A policy has a setting Twinjit does not know, or a value for it that it cannot use."""


class EntryNotFoundError(TwinjitError, AttributeError, KeyError):
    """An executable has no function of that name."""

    def __str__(self) -> str:  # KeyError would show the repr of the message
        return TwinjitError.__str__(self)


class SignatureError(TwinjitError, TypeError):
    """A function exists but cannot be called from Python; the message says which type is why."""


class ArgumentTypeError(TwinjitError, TypeError):
    """An argument has the wrong kind or dtype, or the count of arguments is wrong."""


class ArgumentValueError(TwinjitError, ValueError):
    """An argument has the wrong rank, size, layout, alignment, or is read-only or out of range."""


class ExecutionError(TwinjitError, RuntimeError):
    """Compiled code stopped itself: an assertion did not hold, or an allocation failed."""


class SqlError(TwinjitError, ArithmeticError):
    """An expression of a query failed on a value, as it does in PostgreSQL.

    Attributes
    ----------
    sqlstate
        PostgreSQL's code of five characters for this kind of error, such as ``22012``.
    """

    def __init__(
        self, message: str, sqlstate: str = "XX000", *, diagnostics: tuple[Diagnostic, ...] = ()
    ) -> None:
        super().__init__(message, diagnostics=diagnostics)
        self.sqlstate = sqlstate


class QueryCancelledError(TwinjitError):
    """A query was stopped, since nobody wants its result any more."""


class QueryTimeoutError(TwinjitError, TimeoutError):
    """A query did not end in the time that it had, and was stopped."""


class QueryError(TwinjitError, ValueError):
    """A query cannot be planned: its syntax, names or types are wrong, or it is not supported.

    Attributes
    ----------
    sqlstate
        PostgreSQL's code for it: ``42601`` (syntax), ``42703`` (no such column), ``42883`` (no such
        function or operator), ``0A000`` (not supported) and others.
    line, column
        Where in the query it is, both from 1; None if that is not known.
    """

    def __init__(
        self,
        message: str,
        sqlstate: str = "42601",
        line: int | None = None,
        column: int | None = None,
        *,
        diagnostics: tuple[Diagnostic, ...] = (),
    ) -> None:
        super().__init__(message, diagnostics=diagnostics)
        self.sqlstate, self.line, self.column = sqlstate, line, column

    def __str__(self) -> str:
        """Give the place and the message."""
        place = f"line {self.line}, column {self.column}: " if self.line else ""
        return f"{place}{self.message}"


class ForkError(TwinjitError, RuntimeError):
    """A child, forked in the middle of another thread's work, cannot do such work."""


class ObservationWarning(UserWarning):
    """What tells of compilations and their code (a trace, a profiler's file) cannot be written."""


class CacheWarning(UserWarning):
    """The cache cannot be used or lost an entry; the work itself goes on."""
