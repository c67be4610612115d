"""Passes over modules where their users hold them, and the contexts that are Twinjit's own."""

from __future__ import annotations

import os
from contextlib import suppress

from twinjit.errors import ConfigError, Diagnostic, PipelineError, UnsupportedProgramError
from twinjit.live_contexts import LIVE_CONTEXTS
from twinjit.pipeline import NAMED_PIPELINES, naming_pipelines
from twinjit.source import LiveModule, open_source
from twinjit.stop import check_timeout, stop_after

__all__ = ["release_contexts", "run_passes"]


def run_passes(
    module: object, pipeline: str, *, timeout: float | None = None
) -> tuple[Diagnostic, ...]:
    """Run a pass pipeline over a live module in place, without the GIL.

    Any number of threads may do so at once, in one context or in many, each on a module of its own.
    Nothing else may use the module meanwhile. Python objects of operations, blocks and values in it
    must not be used afterwards, unless the passes left these alone: MLIR's bindings do not notice
    that they are gone. ``docs/contexts.md`` has the rest.

    Parameters
    ----------
    module
        A Module of ``mlir.ir``, or an Operation that is a ``builtin.module``.
    pipeline
        A name in `NAMED_PIPELINES`, or a pass pipeline over ``builtin.module`` in MLIR's syntax.
    timeout
        Seconds after which it stops, at the end of the pass that runs then; None for no limit.

    Returns
    -------
    tuple of Diagnostic
        Warnings and remarks of the passes, which no handler of the context gets to see.

    Raises
    ------
    PipelineError
        If the pipeline does not parse, or a pass failed; with what that said. The module is then as
        that pass left it, as it is after a timeout.
    VerificationError
        If the module is not valid to begin with.
    ContextError
        If the module's context has multithreading disabled; or if the module, one that it is in, or
        a part of it is in use by Twinjit in another thread.
    CompilationTimeoutError
        If it took longer than `timeout`.
    UnsupportedProgramError
        If it is no live module of ``mlir.ir``.
    ForkError
        In a forked child, if passes have run in the module's context before the fork.
    ConfigError
        If `pipeline` is no text, or `timeout` no time.
    """
    check_timeout(timeout)
    if not isinstance(pipeline, str):
        raise ConfigError(f"pipeline is {pipeline!r}; give a name or a pass pipeline's text")
    stop = stop_after(timeout)
    source = _open_live(module)  # keeps the module alive meanwhile
    LIVE_CONTEXTS.start_threads(source.owner.context)  # type: ignore[attr-defined]  # see _open_live
    from twinjit._native import _mlir  # 200 MB of MLIR, which `import twinjit` must not load

    named = NAMED_PIPELINES.get(pipeline)
    try:
        return _mlir.run_passes(source.capsule, named.text if named else pipeline, stop)
    except PipelineError:
        if not named:
            _check_name(pipeline)
        raise


def _open_live(module: object) -> LiveModule:
    source: object = None
    if not isinstance(module, (str, os.PathLike)):  # which may name a file that is not there
        with suppress(UnsupportedProgramError):  # what is said below is of more use
            source = open_source(module)
    if isinstance(source, LiveModule):
        return source
    raise UnsupportedProgramError(
        f"passes run in place over a live module of mlir.ir, not over a {type(module).__name__}; "
        "parse text with mlir.ir.Module.parse, or have Compiler compile it as it is"
    )


def _check_name(pipeline: str) -> None:
    """Tell which names there are, if a pipeline that parses as none may be meant for one."""
    from twinjit._native import _mlir

    try:
        _mlir.identify_pipeline(pipeline)
    except PipelineError as error:
        told = naming_pipelines(error, pipeline, NAMED_PIPELINES)
        if told is not error:
            raise told from None


def release_contexts() -> None:
    """Drop the contexts that Twinjit keeps for the next compilations, and return free memory.

    For a process that is going to be idle. The next compilations make new ones, some 4 ms each.
    Memory that was freed is returned to the system by the way in any case, but not all of it.
    """
    from twinjit._native import _mlir

    _mlir.release_contexts()
