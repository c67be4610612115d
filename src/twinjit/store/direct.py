"""Records of the direct index: from a program's unread text to the digest of its key.

As in ccache's direct mode: whoever has compiled the same text with the same options before need
not parse it to find the artifact.
"""

from __future__ import annotations

from struct import Struct

from blake3 import blake3

from twinjit.errors import ArtifactError, ArtifactVersionError
from twinjit.key import DIGEST_SIZE

__all__ = ["decode_record", "encode_record"]

# One record is one file. Integers are little-endian.
#
#   record   := magic version:u32 source{32} key{32} checksum{32}
#   magic    := 0x89 "TJDIRCT"
#   source   := the digest that the record is found by
#   key      := digest of the key (see key.py)
#   checksum := BLAKE3-256 over all bytes before it
#
# In every version the magic and the version come first and the checksum last.
_MAGIC = b"\x89TJDIRCT"

# 1: as above.
_VERSION = 1

_BODY = Struct(f"<8sI{DIGEST_SIZE}s{DIGEST_SIZE}s")
_CHECKSUM_SIZE = 32


def encode_record(source_digest: bytes, key_digest: bytes) -> bytes:
    """Write one record; both digests are 32 bytes."""
    body = _BODY.pack(_MAGIC, _VERSION, source_digest, key_digest)
    return body + blake3(body).digest()


def decode_record(data: bytes, source_digest: bytes) -> bytes:
    """Read the key's digest from the record for `source_digest`.

    Raises
    ------
    ArtifactVersionError
        If the record is intact and of another version.
    ArtifactError
        If any bit of it is not as it was written, or it is the record of another source.
    """
    body, checksum = data[:-_CHECKSUM_SIZE], data[-_CHECKSUM_SIZE:]
    if not body.startswith(_MAGIC) or blake3(body).digest() != checksum:
        raise ArtifactError("the direct record is damaged")
    version = int.from_bytes(body[len(_MAGIC) : len(_MAGIC) + 4], "little")
    if version != _VERSION:
        raise ArtifactVersionError(
            f"the direct record has format version {version}, this Twinjit reads {_VERSION}"
        )
    if len(body) != _BODY.size:
        raise ArtifactError("the direct record has the wrong size")
    _, _, source, key_digest = _BODY.unpack(body)
    if source != source_digest:
        raise ArtifactError("the direct record belongs to another source")
    return bytes(key_digest)
