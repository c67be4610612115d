"""The identity of programs: what makes two of them the same."""

from __future__ import annotations

from twinjit.source import LiveModule, open_source

__all__ = ["fingerprint"]


def fingerprint(program: object, *, allow_unregistered: bool = False) -> str:
    """Digest a program's structure.

    The digest is the same whichever context, thread, process or machine built the program, however
    its text is spelled, its values are named, and its operations are located. Everything else
    counts; see ARCHITECTURE.md.

    Parameters
    ----------
    program
        As for `Compiler.compile`.
    allow_unregistered
        Accept text with operations of dialects that MLIR does not know.

    Returns
    -------
    str
        BLAKE3-256 in 64 lower-case hexadecimal digits.

    Raises
    ------
    ParseError, VerificationError
        If the program cannot be read.
    UnfingerprintableError
        If part of it has no identity.
    UnsupportedProgramError
        If it is no program.
    """
    from twinjit._native import _mlir  # 200 MB of MLIR, which `import twinjit` must not load

    source = open_source(program)
    if isinstance(source, LiveModule):
        return _mlir.fingerprint(source.capsule).hex()
    return _mlir.parse(source.data, source.name, allow_unregistered).fingerprint().hex()
