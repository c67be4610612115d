"""Brings a program into a private context, and says in which domain its fingerprint lies."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from twinjit.errors import (
    ParseError,
    TwinjitError,
    UnfingerprintableError,
    UnsupportedProgramError,
    VerificationError,
)
from twinjit.foreign import Bundle, Unknown
from twinjit.source import LiveModule, Source, SourceBytes
from twinjit.stop import Stop

if TYPE_CHECKING:
    from twinjit._native import _mlir

__all__ = ["Reading", "read", "read_to_compile"]


class Reading(NamedTuple):
    """A program as it was read.

    Attributes
    ----------
    program
        In a private context.
    domain
        Who alone knows what parts of the program mean (see `Bundle.domain`); empty for a program
        that means the same to everyone. Fingerprints are comparable within one domain.
    """

    program: _mlir.Program
    domain: str


def read(source: Source, *, allow_unregistered: bool = False) -> Reading:
    """Read a program to compare it.

    Parameters
    ----------
    source
        Of whatever kind. A program of another package has been accepted there, so that
        unregistered operations are taken as well.
    allow_unregistered
        Accept text with operations of dialects that MLIR does not know.

    Raises
    ------
    ParseError, VerificationError
        If our MLIR cannot read it.
    UnfingerprintableError
        If parts that are unknown here refer to something outside of their text.
    UnsupportedProgramError
        If it is no MLIR.
    """
    from twinjit._native import _mlir

    if isinstance(source, LiveModule):
        return Reading(_mlir.transfer(source.capsule), "")
    if source.bundle is None:
        program = _parse(source, allow_unregistered=allow_unregistered)
        if not allow_unregistered:
            return Reading(program, "")
    else:
        program = _parse_foreign(source, source.bundle)
    unknown = Unknown(*program.unknown())
    if unknown.references:
        raise UnfingerprintableError(
            f"{source.name} has {unknown.references[0]}, of a dialect that is unknown here: what "
            "it refers to is not part of its text"
        )
    return Reading(program, source.bundle.domain(unknown) if source.bundle else "")


def read_to_compile(source: Source, stop: Stop | None = None) -> _mlir.Program:
    """Read a program of registered dialects.

    Raises
    ------
    ParseError, VerificationError
        If our MLIR cannot read it.
    UnsupportedProgramError
        If it is no MLIR, or what another package holds has parts unknown here.
    CompilationCancelledError, CompilationTimeoutError
        Where `stop` ended it.
    """
    from twinjit._native import _mlir

    if isinstance(source, LiveModule):
        return _mlir.transfer(source.capsule, stop)
    if source.bundle is None:
        return _parse(source, stop=stop)
    program = _parse_foreign(source, source.bundle, stop)
    _check_is_known(Unknown(*program.unknown()), source.bundle)
    return program


def _check_is_known(unknown: Unknown, bundle: Bundle) -> None:
    names = {name.partition(".")[0] or name for name in unknown.operations} | {*unknown.dialects}
    if names:
        what = f"dialects that twinjit's MLIR does not know ({', '.join(sorted(names))})"
    elif unknown.properties:
        operation, _, property_ = unknown.properties[0].partition(" ")
        what = f"a '{operation}' with a property '{property_}', unknown to twinjit's MLIR"
    else:
        return
    raise UnsupportedProgramError(
        f"the program of {bundle} has {what}, and so cannot be compiled: lower it to what MLIR "
        f"22.1 knows of func, arith, linalg …, with {bundle.package}"
    )


def _parse(
    source: SourceBytes, *, allow_unregistered: bool = False, stop: Stop | None = None
) -> _mlir.Program:
    from twinjit._native import _mlir

    try:
        return _mlir.parse(source.data, source.name, allow_unregistered, stop)
    except ParseError as error:
        hint = _hint(error, source)
        if not hint:
            raise
        raise ParseError(f"{error.message}: {hint}", diagnostics=error.diagnostics) from error


_LONGEST_PATH = 4096  # bytes; longer ones are none on any system of ours


def _hint(error: ParseError, source: SourceBytes) -> str:
    """Say what the user may have meant, where MLIR's own words mislead."""
    if any("-allow-unregistered-dialect" in each.message for each in error.diagnostics):
        return (
            "it has operations of a dialect that MLIR does not know; allow_unregistered=True "
            "(--allow-unregistered) accepts them to be fingerprinted and compared, not compiled"
        )
    could_be_path = source.name == "<text>" and len(source.data) <= _LONGEST_PATH
    if could_be_path and len(source.data.split()) == 1:
        return f"nor is there a file '{source.data.decode().strip()}'"
    return ""


def _parse_foreign(source: SourceBytes, bundle: Bundle, stop: Stop | None = None) -> _mlir.Program:
    from twinjit._native import _mlir

    try:
        return _mlir.parse_foreign(source.data, source.name, stop)
    except (ParseError, VerificationError) as error:
        raise _explained(error, bundle) from error


def _explained(error: TwinjitError, bundle: Bundle) -> TwinjitError:
    """Say what `error` means for a program that was good to its bundle."""
    if any("undeclared SSA value" in each.message for each in error.diagnostics):
        return UnsupportedProgramError(
            f"the operation of {bundle} uses values from outside of it, which its text does not "
            "hold; hand over the function or module that it is in"
        )
    return type(error)(
        f"{error.message}: {bundle} has another MLIR than twinjit, and the two differ in what the "
        f"program has; lower it to operations that both know with {bundle.package}, or use a "
        f"release of it closer to MLIR 22.1",
        diagnostics=error.diagnostics,
    )
