"""From a parsed program to an artifact: passes, translation, optimisation, object code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from twinjit._native import _llvm
from twinjit.signature import Signature
from twinjit.target import Target

if TYPE_CHECKING:
    from twinjit._native import _mlir

__all__ = ["Compiled", "compile_program"]


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
    """

    object_code: bytes
    signatures: tuple[Signature, ...]
    phases: Mapping[str, float]


def compile_program(
    program: _mlir.Program, pipeline: str, target: Target, opt_level: int
) -> Compiled:
    """Compile a program; consumes it.

    Parameters
    ----------
    program
        In a private context.
    pipeline
        Canonical text of the pass pipeline.
    target, opt_level
        As for `Compiler`.

    Raises
    ------
    CompilationError
        Or one of its subclasses, with what MLIR or LLVM said.
    """
    signatures = [Signature.from_native(data) for data in program.signatures()]
    entries = [signature.name for signature in signatures if not signature.uncallable]
    bitcode, passes, translate = program.lower(pipeline)
    object_code, slots, optimise, codegen = _llvm.emit(
        bitcode, entries, target.triple, target.cpu, target.features, opt_level
    )
    return Compiled(
        object_code,
        tuple(
            signature.with_convention(slots[signature.name])
            if signature.name in slots
            else signature
            for signature in signatures
        ),
        {"passes": passes, "translate": translate, "optimise": optimise, "codegen": codegen},
    )
