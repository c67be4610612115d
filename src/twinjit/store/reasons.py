"""What a miss is called, by the error that made it one."""

from __future__ import annotations

from twinjit.errors import (
    ArtifactError,
    ArtifactMachineError,
    ArtifactUnavailableError,
    ArtifactVersionError,
    EntryTooLargeError,
    SealError,
)
from twinjit.store.base import MissReason
from twinjit.store.files import UntrustedError

__all__ = ["reason_of"]

_REASONS: tuple[tuple[type[Exception], MissReason], ...] = (
    (FileNotFoundError, "absent"),
    (UntrustedError, "untrusted"),
    (ArtifactVersionError, "version"),
    (ArtifactMachineError, "machine"),
    (ArtifactUnavailableError, "failed"),
    (EntryTooLargeError, "large"),
    (SealError, "unsigned"),
    (ArtifactError, "damaged"),
)


def reason_of(error: Exception) -> MissReason:
    """Name the reason; ``"failed"`` for what says nothing of the entry."""
    return next((reason for kind, reason in _REASONS if isinstance(error, kind)), "failed")
