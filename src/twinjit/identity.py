"""The identity of programs: what makes two of them the same."""

from __future__ import annotations

from twinjit.policy import Policy
from twinjit.source import LiveModule, open_source

__all__ = ["equivalent", "fingerprint"]

_DEFAULT = Policy()  # keeps its text


def fingerprint(
    program: object, policy: Policy | None = None, *, allow_unregistered: bool = False
) -> str:
    """Digest a program's structure.

    The digest is the same whichever context, thread, process or machine built the program, however
    its text is spelled, its values are named, its blocks are listed, and its operations are
    located. What else counts, the policy says; ``docs/identity.md`` defines it.

    Parameters
    ----------
    program
        As for `Compiler.compile`.
    policy
        What counts as the same; by default, whatever can reach the code.
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

    subject = _subject(program, allow_unregistered=allow_unregistered)
    return _mlir.fingerprint(subject, (policy or _DEFAULT).text).hex()


def equivalent(
    a: object, b: object, policy: Policy | None = None, *, allow_unregistered: bool = False
) -> bool:
    """Compare two programs in full.

    True exactly if their fingerprints under the policy are equal, but without hashing: contents are
    compared, and nothing that was remembered from earlier fingerprints is used.

    Parameters
    ----------
    a, b
        Programs of any contexts, as for `Compiler.compile`.
    policy, allow_unregistered
        As for `fingerprint`.

    Raises
    ------
    TwinjitError
        As for `fingerprint`.
    """
    from twinjit._native import _mlir

    first = _subject(a, allow_unregistered=allow_unregistered)
    second = _subject(b, allow_unregistered=allow_unregistered)
    return _mlir.equivalent(first, second, (policy or _DEFAULT).text)


def _subject(program: object, *, allow_unregistered: bool) -> object:
    """Return what the native core takes: a capsule, or a program of ours."""
    from twinjit._native import _mlir

    source = open_source(program)
    if isinstance(source, LiveModule):
        return source.capsule
    return _mlir.parse(source.data, source.name, allow_unregistered)
