"""From a parsed program to an artifact: passes, translation, optimisation, object code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from time import perf_counter
from typing import TYPE_CHECKING

from twinjit._native import _llvm
from twinjit.constants import LiftedConstant
from twinjit.errors import CompilationError, Diagnostic, PipelineError
from twinjit.pipeline import (
    AUTO,
    NAMED_PIPELINES,
    Pipeline,
    choose_pipeline,
    naming_pipelines,
)
from twinjit.policy import Policy
from twinjit.program_options import Linkable
from twinjit.signature import Signature
from twinjit.stop import Stop
from twinjit.target import Target

if TYPE_CHECKING:
    from twinjit._native import _mlir

__all__ = [
    "Compiled",
    "Imports",
    "ResolvedPipeline",
    "compile_bitcode",
    "compile_program",
    "resolve_pipeline",
]


@dataclass(frozen=True)
class ResolvedPipeline:
    """The pipeline that one program gets.

    Attributes
    ----------
    pipeline
        Its name and text.
    key_parts
        What the result depends on: the canonical text; the text as given, where it names registered
        pipelines, since MLIR does not print their options; and the builds of the libraries that
        passes come from, where they are not MLIR's or ours.
    file_reader
        The pass in it that reads files, so that no key tells the result; empty where there is none.
    is_self_contained
        Whether the text alone decides: passes come from MLIR and from Twinjit.
    """

    pipeline: Pipeline
    key_parts: tuple[tuple[str, str], ...]
    file_reader: str
    is_self_contained: bool


def resolve_pipeline(wanted: str, program: _mlir.Program) -> ResolvedPipeline:
    """Find the pipeline for a program.

    Parameters
    ----------
    wanted
        As for `Compiler`: ``"auto"``, a name, or text.
    program
        To choose by, where the choice is automatic.

    Raises
    ------
    PipelineError
        If MLIR refuses the text (the message quotes it), or no named pipeline takes the program.
    """
    if wanted == AUTO:
        chosen = choose_pipeline(frozenset(program.dialects()), uses_tensors=program.uses_tensors())
        return _identify(chosen)
    return _identify(NAMED_PIPELINES.get(wanted, Pipeline(wanted, wanted, "given by the caller")))


@lru_cache(maxsize=64)
def _identify(pipeline: Pipeline) -> ResolvedPipeline:
    from twinjit._native import _mlir  # loaded by whoever made the program

    try:
        identity = _mlir.identify_pipeline(pipeline.text)
    except PipelineError as error:
        raise naming_pipelines(error, pipeline.text, (AUTO, *NAMED_PIPELINES)) from None
    canonical, is_abbreviated, file_reader, libraries = identity
    parts = [("pipeline", canonical)]
    if is_abbreviated:
        parts.append(("pipeline-given", " ".join(pipeline.text.split())))
    if libraries:
        builds = " ".join(sorted(libraries.values()))
        parts.append(("build-passes", builds))
    return ResolvedPipeline(pipeline, tuple(parts), file_reader, not libraries)


@dataclass(frozen=True)
class Imports:
    """What can be imported into one program.

    Attributes
    ----------
    libraries
        Where from.
    names
        The functions that the program calls and does not define.
    """

    libraries: Linkable
    names: tuple[str, ...]

    def digest(self) -> bytes | None:
        """Digest all that can be imported; None where that is nothing."""
        return self.libraries.digest(self.names)


@dataclass(frozen=True)
class Compiled:
    """What the native core made of a program.

    Attributes
    ----------
    object_code
        A relocatable object file.
    signatures
        Of the public functions, with the calling convention that the pipeline gave them.
    phases
        Seconds spent, by phase.
    lifted
        The large constants that the code looks for outside of the object.
    imported
        The functions of libraries that became part of it.
    """

    object_code: bytes
    signatures: tuple[Signature, ...]
    phases: Mapping[str, float]
    lifted: tuple[LiftedConstant, ...] = ()
    imported: tuple[str, ...] = ()


def compile_program(
    program: _mlir.Program,
    pipeline: Pipeline,
    target: Target,
    opt_level: int,
    policy: Policy,
    imports: Imports | None,
    stop: Stop,
) -> Compiled:
    """Compile a program; consumes it.

    Programs that are the same under the policy give the same result.

    Parameters
    ----------
    program
        In a private context.
    pipeline
        The pass pipeline.
    target, opt_level, policy
        As for `Compiler`.
    imports
        What can be imported into it.
    stop
        Ends the work early where that is asked for.

    Raises
    ------
    CompilationError
        Or one of its subclasses, with what MLIR or LLVM said.
    CompilationCancelledError, CompilationTimeoutError
        Where `stop` ended it.
    """
    lifted = program.normalise(policy.text, stop)
    signatures = [Signature.from_native(data) for data in program.signatures()]
    # Upstream's passes could leave state in the context that the next program would find.
    trusted = pipeline in NAMED_PIPELINES.values()
    try:
        bitcode, passes, translate = program.lower(pipeline.text, trusted, stop)
    except CompilationError as error:
        if lifted:
            error.diagnostics += (_note_on(lifted),)
        raise
    described = tuple(
        LiftedConstant(name, type_, size, alignment) for name, type_, size, alignment, _ in lifted
    )
    compiled = compile_bitcode(bitcode, signatures, target, opt_level, described, imports, stop)
    return replace(compiled, phases={"passes": passes, "translate": translate, **compiled.phases})


def compile_bitcode(
    bitcode: bytes,
    signatures: Sequence[Signature],
    target: Target,
    opt_level: int,
    lifted: tuple[LiftedConstant, ...],
    imports: Imports | None,
    stop: Stop,
) -> Compiled:
    """Compile bitcode of a program in its canonical form.

    Parameters
    ----------
    bitcode
        Of a module that defines functions under the names of ``native/common/symbols.h``.
    signatures
        Of those that others may call.
    target, opt_level
        As for `Compiler`.
    lifted
        The large constants that it declares.
    imports
        What can be imported into it.
    stop
        Ends the work early where that is asked for.

    Raises
    ------
    CompilationError
        Or one of its subclasses, with what LLVM said.
    CompilationCancelledError, CompilationTimeoutError
        Where `stop` ended it.
    """
    entries = [signature.name for signature in signatures if not signature.uncallable]
    phases: dict[str, float] = {}
    imported: tuple[str, ...] = ()
    if imports:
        bitcode, imported, phases["libraries"] = _imported(bitcode, imports, target)
    object_code, slots, phases["optimise"], phases["codegen"] = _llvm.emit(
        bitcode, entries, target.triple, target.cpu, target.features, opt_level, stop
    )
    compiled = tuple(
        each.with_convention(slots[each.name]) if each.name in slots else each
        for each in signatures
    )
    return Compiled(object_code, compiled, phases, lifted, imported)


def _imported(
    bitcode: bytes, imports: Imports, target: Target
) -> tuple[bytes, tuple[str, ...], float]:
    """Import, and say which functions, and in how many seconds."""
    _llvm.note_phase("libraries")
    start = perf_counter()
    bitcode, imported = imports.libraries.import_into(bitcode, imports.names, target.triple)
    return bitcode, imported, perf_counter() - start


_NOTED = 5


def _note_on(lifted: Sequence[tuple[str, str, int, int, str]]) -> Diagnostic:
    """Name the constants that a pass may have needed to know."""
    named = [
        f"@{name} of type {type_}" + (f" in {place}" if place else "")
        for name, type_, _, _, place in lifted
    ]
    more = f", and {len(named) - _NOTED} more" if len(named) > _NOTED else ""
    return Diagnostic(
        "remark",
        "under the policy's constants='lift', passes cannot see the elements of "
        f"{', '.join(named[:_NOTED])}{more}; if they must, raise lift_bytes or give 'content'",
    )
