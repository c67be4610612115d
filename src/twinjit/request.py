"""Digests of what was asked for, before anything is parsed."""

from __future__ import annotations

from collections.abc import Iterable

from blake3 import blake3

from twinjit.key import start_digest
from twinjit.program_options import Linkable
from twinjit.source import SourceBytes

__all__ = ["RequestHasher"]

# The byte that says what follows the options. Persisted in the disk store's index; never reused.
_TEXT = b"\0"  # MLIR text or bytecode, as handed in
_FINGERPRINT = b"\1"  # a live module's fingerprint
_FOREIGN = b"\2"  # MLIR text that another package wrote
_LLVM = b"\3"  # LLVM IR or bitcode
_LIBRARIES = b"\4"  # 32 bytes, the identity of libraries; one of the above follows


class RequestHasher:
    """Digests a program's raw form together with a compiler's options.

    The options' framing (see ``key.py``) is digested once; it is followed by one byte that says
    what comes, and the raw program to the end, so that no two requests feed the same bytes. The
    identity of libraries, where the program has some, stands before that byte.

    Parameters
    ----------
    options
        Ordered pairs of name and value: everything beside the program that leads to its key.
    """

    def __init__(self, options: Iterable[tuple[str, str]]) -> None:
        self._prefix = start_digest(tuple(options))

    def of_source(self, source: SourceBytes) -> bytes:
        """Digest text, bytecode or bitcode as it is, 32 bytes.

        What another package wrote is read more strictly than the same text of the user's.
        """
        hasher = self._start(source.options.libraries)
        if source.language == "llvm":
            hasher.update(_LLVM)
        else:
            hasher.update(_FOREIGN if source.bundle else _TEXT)
        hasher.update(source.data)
        return hasher.digest()

    def of_fingerprint(self, fingerprint: bytes, libraries: Linkable | None = None) -> bytes:
        """Digest a live module, given its fingerprint, 32 bytes."""
        hasher = self._start(libraries)
        hasher.update(_FINGERPRINT)
        hasher.update(fingerprint)
        return hasher.digest()

    def _start(self, libraries: Linkable | None) -> blake3:
        hasher = self._prefix.copy()
        if libraries is not None:
            hasher.update(_LIBRARIES)
            hasher.update(libraries.identity)
        return hasher
