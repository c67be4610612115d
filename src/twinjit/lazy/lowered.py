"""Whole programs that are to be compiled function by function, as LLVM IR."""

from __future__ import annotations

from dataclasses import replace

from twinjit import reader
from twinjit._native import _llvm
from twinjit.build import BuildOptions
from twinjit.lazy.unit import Unit
from twinjit.lowering import resolve_pipeline
from twinjit.pipeline import NAMED_PIPELINES
from twinjit.report import Clock
from twinjit.signature import Signature
from twinjit.source import Source, SourceBytes
from twinjit.stop import Stop
from twinjit.subject import load_mlir

__all__ = ["read_unit"]


def read_unit(source: Source, options: BuildOptions) -> tuple[Unit, dict[str, str]]:
    """Read a program in either language, to be compiled function by function.

    MLIR is lowered as a whole: passes may look at, and change, several functions at once, so that
    what one function becomes is not told by itself.

    Returns
    -------
    Unit, dict of str to str
        The module; and the names of functions in it that have other symbols.

    Raises
    ------
    CompilationError
        Or one of its subclasses, if it cannot be read or lowered.
    """
    if isinstance(source, SourceBytes) and source.language == "llvm":
        unit = Unit.read(source.data, source.name)
        unit.libraries = source.options.libraries
        return unit, {}
    bitcode, signatures = _lower(source, options)
    by_symbol = {_llvm.program_symbol(each.name): each for each in signatures}
    unit = Unit.read(bitcode, "<lowered program>", by_symbol)
    unit.libraries = source.options.libraries
    return unit, {symbol: each.name for symbol, each in by_symbol.items() if symbol != each.name}


def _lower(source: Source, options: BuildOptions) -> tuple[bytes, list[Signature]]:
    stop = Stop()
    load_mlir(Clock())
    parsed = reader.read_to_compile(source, stop)
    pipeline = resolve_pipeline(options.pipeline, parsed).pipeline
    # Constants that are lifted would have to be bound to each part.
    parsed.normalise(replace(options.policy, constants="content").text, stop)
    signatures = [Signature.from_native(data) for data in parsed.signatures()]
    bitcode, _, _ = parsed.lower(pipeline.text, pipeline in NAMED_PIPELINES.values(), stop)
    return bitcode, signatures
