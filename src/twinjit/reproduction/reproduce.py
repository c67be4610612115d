"""Whether a program gives the same code whenever and wherever it is compiled."""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter
from typing import get_args

from twinjit.artifact import Artifact
from twinjit.build import BuildOptions
from twinjit.code_comparison import compare_artifacts
from twinjit.code_difference import CodeDifference
from twinjit.compiler import Compiler
from twinjit.errors import CompilationError, ConfigError
from twinjit.report import Clock
from twinjit.reproduction.modes import MODES, Trial
from twinjit.reproduction.outcome import Mode, ModeOutcome, Reproduction
from twinjit.source import LiveModule, SourceBytes
from twinjit.subject import capture, load_mlir

__all__ = ["reproduce"]


def reproduce(
    program: object,
    *,
    modes: Iterable[Mode] | None = None,
    times: int = 2,
    compiler: Compiler | None = None,
    language: str = "auto",
) -> Reproduction:
    """Compile a program several times, and say whether that gives the same code.

    Caches are neither asked nor filled. What is compared are object files byte by byte, functions'
    signatures and the key.

    Parameters
    ----------
    program, language
        As for `Compiler.compile`. A live module is taken as it is now.
    modes
        The circumstances under which it is compiled once more: ``"again"`` at once, in a context
        that was just used for it; ``"fresh"`` in a new context; ``"used"`` in one in which other
        programs were compiled; ``"thread"`` in another thread, while others compile; ``"process"``
        in another process, with its memory and Python's hashes elsewhere. By default, all.
    times
        How often for each mode, at least once.
    compiler
        Whose options to compile with: pipeline, optimisation level, target, policy and libraries.
        By default, those of ``Compiler()``. Programs are compiled in this process, whatever its
        executor.

    Raises
    ------
    ConfigError
        If there is no such mode, or `times` is no number from 1 up.
    CompilationError
        If the program cannot be compiled at all.
    ExecutorError
        If no other process can be started, or `compiler` is closed.
    UnsupportedProgramError, OSError
        As for `Compiler.compile`.
    """
    chosen = _check_modes(modes)
    if isinstance(times, bool) or not isinstance(times, int) or times < 1:
        raise ConfigError(f"times is {times!r}; give a whole number from 1 up")
    compiler = compiler or Compiler(cache=False, shared=False)
    options = _options(compiler)
    source = _take(program, language, compiler)
    trial = Trial(source, options)
    first = trial.compile()
    outcomes = tuple(_try(mode, trial, first, times) for mode in chosen)
    return Reproduction(source.name, first.key.hex, outcomes)


def _check_modes(modes: Iterable[Mode] | None) -> tuple[Mode, ...]:
    if modes is None:
        return tuple(MODES)
    wanted = (modes,) if isinstance(modes, str) else tuple(modes)
    unknown = [mode for mode in wanted if mode not in MODES]
    if unknown or not wanted:
        names = ", ".join(map(repr, get_args(Mode)))
        raise ConfigError(f"modes is {modes!r}; give one or more of {names}, or None for all")
    return tuple(mode for mode in MODES if mode in wanted)


def _options(compiler: Compiler) -> BuildOptions:
    return BuildOptions(compiler.pipeline, compiler.opt_level, compiler.target, compiler.policy)


def _take(program: object, language: str, compiler: Compiler) -> SourceBytes:
    source = compiler._open(program, language)
    if isinstance(source, LiveModule):
        load_mlir(Clock())
        return capture(source, compiler.policy)
    return source


def _try(mode: Mode, trial: Trial, first: Artifact, times: int) -> ModeOutcome:
    start = perf_counter()
    for turn in range(times):
        difference = _difference(mode, trial, first, turn)
        if difference:
            return ModeOutcome(mode, turn + 1, perf_counter() - start, difference)
    return ModeOutcome(mode, times, perf_counter() - start)


def _difference(mode: Mode, trial: Trial, first: Artifact, turn: int) -> CodeDifference | None:
    try:
        return compare_artifacts(first, MODES[mode](trial, turn))
    except CompilationError as error:
        return CodeDifference("outcome", f"it was compiled at first, and now refused: {error}")
