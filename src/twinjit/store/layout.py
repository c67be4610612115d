"""Where a disk store keeps what."""

from __future__ import annotations

import os

from twinjit.key import DIGEST_SIZE

__all__ = ["OBJECT_SUFFIX", "RECORD_SUFFIX", "Layout", "check_digest", "digest_of"]

# Each name of an entry is a digest in hexadecimal, split after its first byte.
#
#   ROOT/v1/objects/ab/cdef….tj    one artifact (entry.py), by its key's digest
#   ROOT/v1/direct/ab/cdef….ref    one direct record (direct.py), by its source's digest
#   ROOT/v1/tmp/…                  files being written (publish.py)
#   ROOT/v1/ledger                 what has been written, in blocks (ledger.py)
#   ROOT/v1/evicted                which keys were evicted (evicted.py)
#   ROOT/v1/account                what happened, in all processes (account.py)
#   ROOT/v1/locks                  who compiles what (flight.py)
#   ROOT/v1/swept                  empty; its time of modification is that of the last full scan
#                                  (room.py)
#
# Artifacts, records and the account have versions of their own. A change to what the other files
# mean is a new version of the layout; a new file that older releases pass over is none.
#
# 1: as above.
_VERSION = "v1"

OBJECT_SUFFIX = ".tj"
RECORD_SUFFIX = ".ref"


class Layout:
    """Paths in a store's directory.

    Parameters
    ----------
    root
        The directory; a relative path counts from the current directory.

    Attributes
    ----------
    root, base
        The directory as an absolute path, and the folder in it that holds all else.
    objects, direct, staging
        Folders.
    ledger, evicted, account, locks, swept
        Files.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = os.path.abspath(root)
        self.base = os.path.join(self.root, _VERSION)
        self.objects = os.path.join(self.base, "objects")
        self.direct = os.path.join(self.base, "direct")
        self.staging = os.path.join(self.base, "tmp")
        self.ledger = os.path.join(self.base, "ledger")
        self.evicted = os.path.join(self.base, "evicted")
        self.account = os.path.join(self.base, "account")
        self.locks = os.path.join(self.base, "locks")
        self.swept = os.path.join(self.base, "swept")

    def object_path(self, key_digest: bytes) -> str:
        """Return where the artifact of a key is.

        Raises
        ------
        ValueError
            If the digest is not 32 bytes.
        """
        return _place(self.objects, key_digest, OBJECT_SUFFIX)

    def record_path(self, source_digest: bytes) -> str:
        """Return where the direct record of a source is. Raises `ValueError` likewise."""
        return _place(self.direct, source_digest, RECORD_SUFFIX)


def digest_of(path: str) -> bytes | None:
    """Return the digest that a path of an entry stands for; None for another path."""
    folder, name = path.split(os.sep)[-2:]
    try:
        digest = bytes.fromhex(folder + os.path.splitext(name)[0])
    except ValueError:
        return None
    return digest if len(digest) == DIGEST_SIZE else None


def check_digest(digest: bytes) -> None:
    """Raise `ValueError` if a digest is not 32 bytes."""
    if len(digest) != DIGEST_SIZE:
        raise ValueError(f"a digest has {DIGEST_SIZE} bytes, not {len(digest)}")


def _place(directory: str, digest: bytes, suffix: str) -> str:
    check_digest(digest)
    name = digest.hex()
    return f"{directory}/{name[:2]}/{name[2:]}{suffix}"
