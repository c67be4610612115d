"""The files of a disk store, as its layout has them."""

from __future__ import annotations

import os
import time
from pathlib import Path

from twinjit.store.disk import DiskStore

BLOCK = 4096
BOOKS = ("account", "evicted", "ledger", "locks", "swept")


def entry_path(root: str | os.PathLike[str], digest: bytes) -> Path:
    """Where a store in a directory keeps the artifact of a key."""
    name = digest.hex()
    return Path(root, "v1", "objects", name[:2], f"{name[2:]}.tj")


def path_of(store: DiskStore, digest: bytes) -> Path:
    """Where a store keeps the artifact of a key."""
    return entry_path(store.root, digest)


def files_in(root: Path) -> list[Path]:
    """List the entries and temporaries, without the store's own books."""
    return [path for path in root.rglob("*") if path.is_file() and path.name not in BOOKS]


def set_age(path: Path, seconds: float) -> None:
    """Say that a file was used so long ago."""
    moment = time.time() - seconds
    os.utime(path, (moment, moment))
