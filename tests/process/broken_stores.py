"""Stores that are broken on purpose, as caches in the field are; a campaign must find them out."""

from __future__ import annotations

import time
from pathlib import Path

from blake3 import blake3

from tests.store.entries import path_of
from twinjit.artifact import Artifact, decode, encode
from twinjit.errors import ArtifactError
from twinjit.store.disk import DiskStore

_CHECKSUM = 32
_SLOWNESS = 0.005


class Unchecked(DiskStore):
    """Reads entries without their checksum."""

    def get(self, key_digest: bytes) -> Artifact | None:
        path = path_of(self, key_digest)
        try:
            body = path.read_bytes()[:-_CHECKSUM]
            return decode(body + blake3(body).digest())
        except (OSError, ArtifactError):
            return None


class InPlace(DiskStore):
    """Writes entries at their final names, in files that have their full size, to a slow disk."""

    def put(self, artifact: Artifact) -> bool:
        path = path_of(self, artifact.key_digest)
        if not path.exists():
            return super().put(artifact)
        data = encode(artifact)
        half = len(data) // 2
        with open(path, "wb", buffering=0) as file:
            file.truncate(len(data))
            file.write(data[:half])
            time.sleep(_SLOWNESS)
            file.write(data[half:])
        return True


class Careless(Unchecked, InPlace):
    """Both: reads what is half written."""


class Strict(DiskStore):
    """Raises what the disk says."""

    def put(self, artifact: Artifact) -> bool:
        if not super().put(artifact):
            raise OSError("not put")
        return True


class Forgetful(DiskStore):
    """Does not put again what it has put."""

    def __init__(self, root: Path, max_bytes: int) -> None:
        super().__init__(root, max_bytes)
        self._known: set[bytes] = set()

    def put(self, artifact: Artifact) -> bool:
        if artifact.key_digest in self._known:
            return True
        self._known.add(artifact.key_digest)
        return super().put(artifact)
