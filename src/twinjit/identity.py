"""The identity of programs: what makes two of them the same."""

from __future__ import annotations

from blake3 import blake3

from twinjit import reader
from twinjit.source import LiveModule, open_source

__all__ = ["fingerprint"]


def fingerprint(
    program: object, *, allow_unregistered: bool = False, language: str = "auto"
) -> str:
    """Digest a program's structure.

    The digest is the same whichever context, thread, process or machine built the program, however
    its text is spelled, its values are named, and its operations are located. Everything else
    counts; see ARCHITECTURE.md.

    Parameters
    ----------
    program
        As for `Compiler.compile`.
    allow_unregistered
        Accept text with operations of dialects that MLIR does not know. Those in programs that
        other packages hold are always accepted.
    language
        ``"mlir"`` or ``"llvm"``, where it should not be found out by content.

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
    ConfigError
        If `language` is not a language.
    """
    from twinjit._native import _mlir  # 200 MB of MLIR, which `import twinjit` must not load

    source = open_source(program, language=language)
    if isinstance(source, LiveModule):
        return _mlir.fingerprint(source.capsule).hex()
    reading = reader.read(source, allow_unregistered=allow_unregistered)
    return _in_domain(reading.program.fingerprint(), reading.domain).hex()


def _in_domain(fingerprint: bytes, domain: str) -> bytes:
    """Keep fingerprints of programs whose meaning `domain` alone knows from all others."""
    if not domain:
        return fingerprint
    return blake3(b"twinjit.domain\0" + fingerprint + domain.encode()).digest()
