from __future__ import annotations

from pathlib import Path

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import digests
from twinjit.errors import ArtifactError, ArtifactVersionError
from twinjit.store.direct import decode_record, encode_record

GOLDEN = Path(__file__).parent.parent / "golden" / "direct-v1.ref"
SOURCE, KEY = bytes(range(32)), bytes(range(32, 64))


def sealed(body: bytes) -> bytes:
    return body + blake3(body).digest()


@given(digests, digests)
def test_round_trip(source: bytes, key: bytes) -> None:
    assert decode_record(encode_record(source, key), source) == key


def test_golden_file() -> None:
    data = GOLDEN.read_bytes()
    assert encode_record(SOURCE, KEY) == data
    assert decode_record(data, SOURCE) == KEY
    assert data == sealed(b"\x89TJDIRCT" + b"\1\0\0\0" + SOURCE + KEY)


def test_every_truncation_and_flipped_bit_is_refused_as_damage() -> None:
    data = encode_record(SOURCE, KEY)
    damaged = [data[:size] for size in range(len(data))]
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        damaged.append(bytes(flipped))
    for wrong in damaged:
        with pytest.raises(ArtifactError) as caught:
            decode_record(wrong, SOURCE)
        assert type(caught.value) is ArtifactError


@given(digests.filter(lambda digest: digest != SOURCE))
def test_the_record_of_another_source_is_refused(other: bytes) -> None:
    with pytest.raises(ArtifactError, match="another source"):
        decode_record(encode_record(SOURCE, KEY), other)


@given(st.binary(max_size=150))
def test_noise_is_refused(noise: bytes) -> None:
    for data in (noise, sealed(noise), sealed(b"\x89TJDIRCT" + noise)):
        with pytest.raises(ArtifactError):
            decode_record(data, SOURCE)


def test_another_version_and_a_wrong_size() -> None:
    body = encode_record(SOURCE, KEY)[:-32]
    with pytest.raises(ArtifactVersionError, match="version 2"):
        decode_record(sealed(body[:8] + b"\2\0\0\0" + b"anything"), SOURCE)
    with pytest.raises(ArtifactError, match="size"):
        decode_record(sealed(body + b"x"), SOURCE)
