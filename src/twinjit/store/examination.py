"""Reading what a store holds without using it, to tell what a lookup would make of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from twinjit.artifact import Artifact, decode
from twinjit.errors import ArtifactError
from twinjit.store.base import MissReason
from twinjit.store.files import read_private
from twinjit.store.layout import digest_of
from twinjit.store.reasons import reason_of

__all__ = ["Bad", "examine", "examine_object", "look", "parse_object", "parse_whole"]

T = TypeVar("T")


class Bad(NamedTuple):
    """A file that a lookup would not take.

    Attributes
    ----------
    path
        Where it is.
    reason
        What a lookup would call it.
    message
        What is wrong with it.
    """

    path: str
    reason: MissReason
    message: str

    @classmethod
    def because(cls, path: str, error: Exception) -> Bad:
        """Say that a file is bad since an error was met in it."""
        message = error.strerror if isinstance(error, OSError) else None
        return cls(path, reason_of(error), message or str(error) or type(error).__name__)


def parse_object(data: bytes, key_digest: bytes) -> Artifact:
    """Read the artifact of a key.

    Raises
    ------
    ArtifactError
        If it is not as it was written, or of another key.
    """
    artifact = decode(data)
    if artifact.key_digest != key_digest:
        raise ArtifactError("the artifact is stored under another key than its own")
    return artifact


def parse_whole(data: bytes, key_digest: bytes) -> Artifact:
    """Read the artifact of a key, and all that is in it.

    Raises
    ------
    ArtifactError
        As for `parse_object`, or if a section has not its form.
    """
    artifact = parse_object(data, key_digest)
    artifact.check()
    return artifact


def look(path: str, parse: Callable[[bytes, bytes], T], max_age: float | None = None) -> T | None:
    """Read a file as a lookup would, but leave it, and when it was used last, as they are.

    Returns
    -------
    T or None
        What `parse` made of the content and the digest that the file is named by; None if it was
        not used for longer than `max_age` seconds.

    Raises
    ------
    ArtifactError
        If it is not named by a digest, or `parse` raises so.
    OSError, MemoryError
        If it cannot be read.
    """
    digest = digest_of(path)
    if digest is None:
        raise ArtifactError("its name is not a digest")
    data = read_private(path, max_age, mark=False)
    return None if data is None else parse(data, digest)


def examine(path: str, parse: Callable[[bytes, bytes], object]) -> Bad | None:
    """Say why a lookup would not take a file; None if it would, but for its age."""
    try:
        look(path, parse)
    except (ArtifactError, OSError, MemoryError) as error:
        return Bad.because(path, error)
    return None


def examine_object(path: str, max_age: float | None) -> Artifact | Bad:
    """Read an artifact, and all of it, as `look` does; or say why a lookup would not take it."""
    try:
        artifact = look(path, parse_whole, max_age)
    except (ArtifactError, OSError, MemoryError) as error:
        return Bad.because(path, error)
    return artifact or Bad(path, "expired", "it was not used for longer than the store's limit")
