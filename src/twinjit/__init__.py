"""Twinjit: compile each distinct MLIR program once.

>>> import twinjit
>>> text = "func.func @same(%x: i64) -> i64 { return %x : i64 }"
>>> twinjit.compile(text).same(42)
42
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, overload

from twinjit.artifact import Artifact
from twinjit.compiler import Compiler
from twinjit.executable import Executable
from twinjit.explanation import Explanation
from twinjit.forks import held_off
from twinjit.identity import domain, equivalent, fingerprint
from twinjit.key import Key
from twinjit.pipeline import NAMED_PIPELINES, Pipeline
from twinjit.policy import Policy
from twinjit.report import Report
from twinjit.settings import Settings, parse_duration, parse_size
from twinjit.signature import Signature, Value
from twinjit.store.base import Backend, MissReason, StoreStats
from twinjit.store.disk import Bad, DiskStore, Entry
from twinjit.target import Target

if TYPE_CHECKING:
    from twinjit.code_difference import CodeDifference
    from twinjit.differ import Diff, Difference, diff
    from twinjit.jit import Jit, take_native_error
    from twinjit.jobs.future import CompileFuture
    from twinjit.lazy.executable import LazyExecutable
    from twinjit.lazy.function import LazyFunction
    from twinjit.lazy.report import LazyReport
    from twinjit.library import ImportDecision, ImportPolicy, Library
    from twinjit.memory import MemoryReport
    from twinjit.passes import release_contexts, run_passes
    from twinjit.reproduction.outcome import ModeOutcome, Reproduction
    from twinjit.reproduction.reproduce import reproduce
    from twinjit.store.bundle import export_bundle, import_bundle
    from twinjit.store.shared import SharedStore
    from twinjit.tierup import Candidate, TieredExecutable, TierUp
    from twinjit.workers.reproduction import CrashReproduction, reproduce_crash

__all__ = [
    "NAMED_PIPELINES",
    "Artifact",
    "Backend",
    "Bad",
    "Candidate",
    "CodeDifference",
    "CompileFuture",
    "Compiler",
    "CrashReproduction",
    "Diff",
    "Difference",
    "DiskStore",
    "Entry",
    "Executable",
    "Explanation",
    "ImportDecision",
    "ImportPolicy",
    "Jit",
    "Key",
    "LazyExecutable",
    "LazyFunction",
    "LazyReport",
    "Library",
    "MemoryReport",
    "MissReason",
    "ModeOutcome",
    "Pipeline",
    "Policy",
    "Report",
    "Reproduction",
    "Settings",
    "SharedStore",
    "Signature",
    "StoreStats",
    "Target",
    "TierUp",
    "TieredExecutable",
    "Value",
    "compile",
    "default_compiler",
    "diff",
    "domain",
    "equivalent",
    "explain",
    "export_bundle",
    "fingerprint",
    "import_bundle",
    "parse_duration",
    "parse_size",
    "release_contexts",
    "reproduce",
    "reproduce_crash",
    "run_passes",
    "take_native_error",
]

__version__ = "0.1.0"


# What most programs never use, and would take a tenth of the time of the import.
_LATER = {
    **dict.fromkeys(("Diff", "Difference", "diff"), "differ"),
    **dict.fromkeys(("export_bundle", "import_bundle"), "store.bundle"),
    "CompileFuture": "jobs.future",
    **dict.fromkeys(("Jit", "take_native_error"), "jit"),
    "LazyExecutable": "lazy.executable",
    "LazyFunction": "lazy.function",
    "LazyReport": "lazy.report",
    **dict.fromkeys(("ImportDecision", "ImportPolicy", "Library"), "library"),
    "MemoryReport": "memory",
    **dict.fromkeys(("release_contexts", "run_passes"), "passes"),
    "SharedStore": "store.shared",
    **dict.fromkeys(("CrashReproduction", "reproduce_crash"), "workers.reproduction"),
    "CodeDifference": "code_difference",
    **dict.fromkeys(("ModeOutcome", "Reproduction"), "reproduction.outcome"),
    "reproduce": "reproduction.reproduce",
    **dict.fromkeys(("Candidate", "TierUp", "TieredExecutable"), "tierup"),
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with held_off():
        module = import_module(f"twinjit.{_LATER[name]}")
    return getattr(module, name)


def default_compiler(**options: Any) -> Compiler:
    """Return the compiler that `compile` and `explain` use for these options of `Compiler`."""
    try:
        return _kept_compiler(tuple(sorted(options.items())))
    except TypeError:  # an option that cannot be hashed: Compiler says which
        return Compiler(**options)


@lru_cache(maxsize=32)
def _kept_compiler(options: tuple[tuple[str, Any], ...]) -> Compiler:
    return Compiler(**dict(options))


@overload
def compile(  # noqa: A001 -- as below
    program: object,
    *,
    language: str = "auto",
    timeout: float | None = None,
    tier_up: TierUp | Literal[True],
    signatures: Mapping[str, object] | None = None,
    symbols: Mapping[str, object] | None = None,
    libraries: Iterable[Library] | Library | None = None,
    lazy: Literal[False] = False,
    **options: Any,
) -> TieredExecutable: ...


@overload
def compile(  # noqa: A001 -- as below
    program: object,
    *,
    language: str = "auto",
    timeout: float | None = None,
    tier_up: bool = False,
    signatures: Mapping[str, object] | None = None,
    symbols: Mapping[str, object] | None = None,
    libraries: Iterable[Library] | Library | None = None,
    lazy: Literal[False] = False,
    **options: Any,
) -> Executable: ...


@overload
def compile(  # noqa: A001 -- as below
    program: object,
    *,
    language: str = "auto",
    symbols: Mapping[str, object] | None = None,
    libraries: Iterable[Library] | Library | None = None,
    lazy: Literal[True],
    **options: Any,
) -> LazyExecutable: ...


def compile(  # noqa: A001 -- the verb of the library; the builtin is not used here
    program: object,
    *,
    language: str = "auto",
    timeout: float | None = None,
    tier_up: TierUp | bool = False,
    signatures: Mapping[str, object] | None = None,
    symbols: Mapping[str, object] | None = None,
    libraries: Iterable[Library] | Library | None = None,
    lazy: bool = False,
    **options: Any,
) -> Executable | LazyExecutable:
    """Return the executable of a program, compiling it if it is new.

    Parameters
    ----------
    program, language, timeout, tier_up, signatures, symbols, libraries, lazy
        As for `Compiler.compile`.
    **options
        As for `Compiler`. One compiler is kept for each set of options.

    Raises
    ------
    TwinjitError, OSError
        As for `Compiler.compile`.
    """
    of_program: dict[str, Any] = {
        "language": language,
        "timeout": timeout,
        "tier_up": tier_up,
        "signatures": signatures,
        "symbols": symbols,
        "libraries": libraries,
        "lazy": lazy,
    }
    found: Executable | LazyExecutable = default_compiler(**options).compile(program, **of_program)
    return found


def explain(
    program: object,
    *,
    language: str = "auto",
    libraries: Iterable[Library] | Library | None = None,
    **options: Any,
) -> Explanation:
    """Say how a program would be looked up, as `Compiler.explain` does."""
    compiler = default_compiler(**options)
    return compiler.explain(program, language=language, libraries=libraries)
