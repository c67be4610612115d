"""The identity of programs: what makes two of them the same."""

from __future__ import annotations

from typing import Protocol

from twinjit import reader
from twinjit._native import _llvm
from twinjit.outline import Record, records
from twinjit.policy import Policy, policy_or_default
from twinjit.source import LiveModule, Source, SourceBytes, open_source

__all__ = ["Comparand", "domain", "equivalent", "fingerprint", "open_comparand", "open_pair"]


class Comparand(Protocol):
    """A program to identify, in one language; what a compiler does with one is in `subject`."""

    @property
    def language(self) -> str:
        """``"mlir"`` or ``"llvm"``."""

    @property
    def domain(self) -> str:
        """Who alone knows what the program means; see `reader.Reading`."""

    def fingerprint(self, policy: Policy) -> bytes:
        """Digest it, 32 bytes."""

    def equivalent(self, other: Comparand, policy: Policy) -> bool:
        """Compare it with another of its language and domain."""

    def outline(self, policy: Policy) -> list[Record]:
        """Write it down for a diff."""


def fingerprint(
    program: object,
    policy: Policy | None = None,
    *,
    allow_unregistered: bool = False,
    language: str = "auto",
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
    ConfigError, PolicyError
        If `language` is not a language, or `policy` no policy.
    """
    policy = policy_or_default(policy)
    comparand = open_comparand(
        program, policy, allow_unregistered=allow_unregistered, language=language
    )
    return comparand.fingerprint(policy).hex()


def domain(program: object, *, allow_unregistered: bool = False, language: str = "auto") -> str:
    """Say within which programs a fingerprint can be compared.

    Parameters
    ----------
    program, allow_unregistered, language
        As for `fingerprint`.

    Returns
    -------
    str
        Empty for a program that means the same to everyone: whoever holds it, its fingerprint is
        the same. Else the package that alone knows what it means, its version, and the dialects,
        such as ``"jaxlib 0.10.2: stablehlo"``. This is part of the fingerprint: programs of
        different domains have different ones, and are not equivalent.

    Raises
    ------
    TwinjitError
        As for `fingerprint`.
    """
    return open_comparand(
        program, policy_or_default(None), allow_unregistered=allow_unregistered, language=language
    ).domain


def equivalent(
    a: object,
    b: object,
    policy: Policy | None = None,
    *,
    allow_unregistered: bool = False,
    language: str = "auto",
) -> bool:
    """Compare two programs in full.

    True exactly if their fingerprints under the policy are equal, but without hashing: contents are
    compared, and nothing that was remembered from earlier fingerprints is used.

    Parameters
    ----------
    a, b
        Programs of any contexts, as for `Compiler.compile`.
    policy, allow_unregistered, language
        As for `fingerprint`.

    Raises
    ------
    TwinjitError
        As for `fingerprint`.
    """
    policy = policy_or_default(policy)
    first, second = open_pair(
        a, b, policy, allow_unregistered=allow_unregistered, language=language
    )
    if (first.language, first.domain) != (second.language, second.domain):
        return False
    return first.equivalent(second, policy)


def open_pair(
    a: object, b: object, policy: Policy, *, allow_unregistered: bool, language: str
) -> tuple[Comparand, Comparand]:
    """Bring two programs into forms that can be compared, as `open_comparand` does."""
    return (
        open_comparand(a, policy, allow_unregistered=allow_unregistered, language=language),
        open_comparand(b, policy, allow_unregistered=allow_unregistered, language=language),
    )


def open_comparand(
    program: object, policy: Policy, *, allow_unregistered: bool, language: str
) -> Comparand:
    """Bring a program into a form that has an identity.

    Parameters
    ----------
    program, allow_unregistered, language
        As for `fingerprint`.
    policy
        Under which it is to be compared.

    Raises
    ------
    TwinjitError
        As for `fingerprint`.
    """
    locations = policy.locations == "keep"
    source = open_source(program, language=language, locations=locations)
    if isinstance(source, SourceBytes) and source.language == "llvm":
        return _LlvmComparand(source)
    return _MlirComparand(source, allow_unregistered=allow_unregistered)


class _MlirComparand:
    language = "mlir"

    def __init__(self, source: Source, *, allow_unregistered: bool) -> None:
        self._source = source  # keeps a live module alive
        self._program: object
        if isinstance(source, LiveModule):
            self._program, self.domain = source.capsule, ""
        else:
            self._program, self.domain = reader.read(source, allow_unregistered=allow_unregistered)

    def fingerprint(self, policy: Policy) -> bytes:
        from twinjit._native import _mlir  # 200 MB of MLIR, which `import twinjit` must not load

        return _mlir.fingerprint(self._program, policy.text, self.domain)

    def equivalent(self, other: Comparand, policy: Policy) -> bool:
        from twinjit._native import _mlir

        assert isinstance(other, _MlirComparand)  # noqa: S101 -- one language, as the caller saw to
        return _mlir.equivalent(self._program, other._program, policy.text)

    def outline(self, policy: Policy) -> list[Record]:
        from twinjit._native import _mlir

        return records(_mlir.outline(self._program, policy.text))


class _LlvmComparand:
    language = "llvm"
    domain = ""

    def __init__(self, source: SourceBytes) -> None:
        self._module = _llvm.parse_module(source.data, source.name)

    def fingerprint(self, policy: Policy) -> bytes:
        return self._module.fingerprint(policy.text)

    def equivalent(self, other: Comparand, policy: Policy) -> bool:
        assert isinstance(other, _LlvmComparand)  # noqa: S101 -- one language, as the caller saw to
        return self._module.equivalent(other._module, policy.text)

    def outline(self, policy: Policy) -> list[Record]:
        return records(self._module.outline(policy.text))
