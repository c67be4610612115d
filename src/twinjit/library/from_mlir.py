"""MLIR to bitcode of a library."""

from __future__ import annotations

from twinjit import reader
from twinjit.lowering import resolve_pipeline
from twinjit.pipeline import AUTO, NAMED_PIPELINES
from twinjit.policy import Policy
from twinjit.source import open_source
from twinjit.stop import Stop

__all__ = ["lower_to_bitcode"]


def lower_to_bitcode(program: object) -> bytes:
    """Lower a program to bitcode.

    Raises
    ------
    CompilationError
        Or one of its subclasses, for a program that cannot be lowered.
    UnsupportedProgramError, OSError
        As `open_source` does.
    """
    stop = Stop()
    parsed = reader.read_to_compile(open_source(program), stop)
    pipeline = resolve_pipeline(AUTO, parsed).pipeline
    parsed.normalise(Policy().text, stop)
    return parsed.lower(pipeline.text, pipeline in NAMED_PIPELINES.values(), stop)[0]
