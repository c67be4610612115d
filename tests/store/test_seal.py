from __future__ import annotations

from pathlib import Path

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from twinjit.errors import ArtifactError, ArtifactVersionError, ConfigError, SealError
from twinjit.store.seal import Seal

GOLDEN = Path(__file__).parent.parent / "golden" / "seal-v1.bin"
SECRET, NAME, DATA = bytes(range(32)), "v2/objects/" + 64 * "a", b"some content"
SEAL = Seal(SECRET)

secrets = st.binary(min_size=16, max_size=100)


def sign(version: int, name: bytes, data: bytes) -> bytes:
    """Sign as the grammar in seal.py says."""
    key = blake3(
        SECRET, derive_key_context="twinjit 2026-11-30 store seal: key of the MAC"
    ).digest()
    head = b"\x89TJSEAL\n" + version.to_bytes(4, "little")
    signed = head + len(name).to_bytes(4, "little") + name + data
    return head + blake3(signed, key=key).digest() + data


@given(secrets, st.text(max_size=100), st.binary(max_size=1000))
def test_round_trip(secret: bytes, name: str, data: bytes) -> None:
    assert Seal(secret).unwrap(name, Seal(secret).wrap(name, data)) == data


def test_golden_file() -> None:
    data = GOLDEN.read_bytes()
    assert SEAL.wrap(NAME, DATA) == data == sign(1, NAME.encode(), DATA)
    assert SEAL.unwrap(NAME, data) == DATA
    assert SEAL.key_id == "0ae875ab4a0f62ba"


def test_every_truncation_and_flipped_bit_is_refused() -> None:
    sealed = SEAL.wrap(NAME, DATA)
    damaged = [sealed[:size] for size in range(len(sealed))]
    damaged += [sealed + b"\0", b"\0" + sealed]
    for bit in range(8 * len(sealed)):
        flipped = bytearray(sealed)
        flipped[bit // 8] ^= 1 << bit % 8
        damaged.append(bytes(flipped))
    for wrong in damaged:
        with pytest.raises(SealError):
            SEAL.unwrap(NAME, wrong)


@given(secrets.filter(lambda secret: secret != SECRET))
def test_another_secret_is_refused_and_has_another_id(other: bytes) -> None:
    with pytest.raises(SealError, match="another secret"):
        SEAL.unwrap(NAME, Seal(other).wrap(NAME, DATA))
    assert Seal(other).key_id != SEAL.key_id


@given(st.text(max_size=100).filter(lambda name: name != NAME))
def test_an_entry_is_refused_under_another_name(other: str) -> None:
    with pytest.raises(SealError, match="another name"):
        SEAL.unwrap(other, SEAL.wrap(NAME, DATA))


@given(st.text(min_size=1), st.binary(max_size=50), st.data())
def test_what_belongs_to_the_name_and_what_to_the_data_is_signed(
    name: str, data: bytes, draw: st.DataObject
) -> None:
    cut = draw.draw(st.integers(0, len(name) - 1))
    sealed = SEAL.wrap(name, data)
    moved = sealed[:44] + name[cut:].encode() + data
    with pytest.raises(SealError):
        SEAL.unwrap(name[:cut], moved)


@given(st.binary(max_size=100))
def test_unsigned_bytes_are_refused(noise: bytes) -> None:
    with pytest.raises(SealError, match="not signed"):
        SEAL.unwrap(NAME, noise)
    with pytest.raises(SealError):
        SEAL.unwrap(NAME, b"\x89TJSEAL\n" + noise)


def test_what_another_release_signed_is_told_from_what_nobody_did() -> None:
    with pytest.raises(ArtifactVersionError, match="version 2"):
        SEAL.unwrap(NAME, sign(2, NAME.encode(), DATA))
    assert issubclass(SealError, ArtifactError)
    assert not issubclass(SealError, ArtifactVersionError)


@pytest.mark.parametrize("secret", [b"", b"short", 15 * b"x"])
def test_a_secret_that_can_be_guessed_is_refused_without_being_shown(secret: bytes) -> None:
    with pytest.raises(ConfigError, match=f"{len(secret)} bytes.*openssl rand") as caught:
        Seal(secret)
    assert not secret or secret.decode() not in str(caught.value)


def test_the_secret_is_not_shown() -> None:
    for shown in (repr(SEAL), str(SEAL), SEAL.key_id):
        assert SECRET.hex() not in shown
        assert repr(SECRET) not in shown
