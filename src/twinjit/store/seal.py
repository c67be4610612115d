"""Signatures of entries, for places that others than the user can write to.

Who does not know the secret can neither make an entry that is accepted, nor change one, nor serve
one under another name. They can still remove entries, and put back older ones of the same name.
"""

from __future__ import annotations

import hmac
from struct import Struct

from blake3 import blake3

from twinjit.errors import ArtifactVersionError, ConfigError, SealError
from twinjit.settings_values import LEAST_SECRET

__all__ = ["Seal"]

# Sealed bytes. Integers are little-endian.
#
#   sealed := magic version:u32 mac{32} data
#   magic  := 0x89 "TJSEAL" 0x0A
#   mac    := keyed BLAKE3-256 over: magic version name-size:u32 name data
#   name   := the name in the store, in UTF-8; it is signed and not repeated here
#
# The MAC's key is the secret, through BLAKE3's derivation with the context below.
#
# In every version the magic, the version and the MAC over all of the above come first, so that
# what another release signed is told from what was not signed.
_MAGIC = b"\x89TJSEAL\n"

# 1: as above.
_VERSION = 1

_MAC_CONTEXT = "twinjit 2026-11-30 store seal: key of the MAC"
_ID_CONTEXT = "twinjit 2026-11-30 store seal: public id of the secret"

_HEADER = Struct("<8sI32s")
_ID_SIZE = 8


class Seal:
    """Signs what is kept under a name, and checks it.

    Parameters
    ----------
    secret
        At least 16 bytes that nobody can guess. It is used as it is: a line end at the end of a
        file that holds it counts.

    Raises
    ------
    ConfigError
        If the secret is shorter.
    """

    def __init__(self, secret: bytes) -> None:
        if len(secret) < LEAST_SECRET:
            raise ConfigError(
                f"the secret that signs cache entries has {len(secret)} bytes, which can be "
                f"guessed; give at least {LEAST_SECRET}, for instance of `openssl rand -hex 32`"
            )
        self._key = blake3(secret, derive_key_context=_MAC_CONTEXT).digest()
        self.key_id = blake3(secret, derive_key_context=_ID_CONTEXT).hexdigest(_ID_SIZE)
        """16 hexadecimal digits that tell secrets apart and can be shown to anyone."""

    @staticmethod
    def is_on(data: bytes) -> bool:
        """Say whether bytes claim to be signed, with whatever secret."""
        return data.startswith(_MAGIC)

    def wrap(self, name: str, data: bytes) -> bytes:
        """Sign bytes that will be found under `name`."""
        return _HEADER.pack(_MAGIC, _VERSION, self._mac(_VERSION, name, data)) + data

    def unwrap(self, name: str, data: bytes) -> bytes:
        """Return what was given to `wrap` under that name.

        Raises
        ------
        SealError
            If it was not signed with this secret for this name, or any bit of it has changed.
        ArtifactVersionError
            If it was, by a release that writes another version.
        """
        if len(data) < _HEADER.size or not self.is_on(data):
            raise SealError("the entry is not signed")
        _, version, mac = _HEADER.unpack_from(data)
        content = memoryview(data)[_HEADER.size :]
        if not hmac.compare_digest(mac, self._mac(version, name, content)):
            raise SealError(
                "the entry's signature does not match: it was signed with another secret or for "
                "another name, or has been changed"
            )
        if version != _VERSION:
            raise ArtifactVersionError(
                f"the entry's signature has version {version}, this Twinjit reads {_VERSION}"
            )
        return bytes(content)

    def _mac(self, version: int, name: str, content: bytes | memoryview) -> bytes:
        raw_name = name.encode()
        head = _MAGIC + version.to_bytes(4, "little") + len(raw_name).to_bytes(4, "little")
        return blake3(head + raw_name, key=self._key).update(content).digest()
