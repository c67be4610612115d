from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from tests.samples import SAMPLE_KEY, numbered_artifact, sample_artifact
from tests.strategies import artifacts, digests
from twinjit.artifact import Artifact, decode, encode
from twinjit.errors import ArtifactError, ArtifactVersionError
from twinjit.key import Key

GOLDEN = Path(__file__).parent / "golden" / "artifact-v1.tj"


def sealed(body: bytes) -> bytes:
    """Put a right checksum behind a body."""
    return body + blake3(body).digest()


@given(artifacts)
def test_round_trip(artifact: Artifact) -> None:
    data = encode(artifact)
    again = decode(data)
    assert again == artifact
    assert hash(again) == hash(artifact)
    assert encode(again) == data
    for name in ("key", "key_digest", "signatures", "report", "target", "extras"):
        assert getattr(again, name) == getattr(artifact, name)
    assert bytes(again.object_code) == artifact.object_code


@given(
    signatures=st.lists(st.dictionaries(st.text("ab"), st.integers()), max_size=2),
    report=st.dictionaries(st.text("ab"), st.floats(allow_nan=False, allow_infinity=False)),
)
def test_values_come_back(signatures: list[dict[str, Any]], report: dict[str, Any]) -> None:
    artifact = Artifact.build(
        key=SAMPLE_KEY,
        object_code=b"code",
        signatures=signatures,
        report=report,
        target={"cpu": "x"},
        extras={"b": b"2", "a": b"1"},
    )
    again = decode(encode(artifact))
    assert again.key == SAMPLE_KEY
    assert again.signatures == signatures
    assert again.report == report
    assert again.target == {"cpu": "x"}
    assert again.extras == {"a": b"1", "b": b"2"}


def test_golden_file() -> None:
    data = GOLDEN.read_bytes()
    assert encode(sample_artifact()) == data
    assert decode(data) == sample_artifact()
    assert decode(data).report == sample_artifact().report


def test_golden_file_read_byte_for_byte() -> None:
    """Read it by its grammar, independently of the code under test."""
    data = GOLDEN.read_bytes()
    position = 0

    def take(size: int) -> bytes:
        nonlocal position
        position += size
        return data[position - size : position]

    def number(size: int) -> int:
        return int.from_bytes(take(size), "little")

    assert take(8) == b"\x89TWINJIT"
    assert number(4) == 1
    count = number(4)
    assert take(32) == SAMPLE_KEY.digest
    table = []
    for _ in range(count):
        assert number(1) == 0
        name_size, size = number(1), number(8)
        table.append((take(name_size).decode(), size))
    contents = {}
    for name, size in table:
        assert set(take(-position % 16)) <= {0}
        contents[name] = take(size)
    assert data[position:] == blake3(data[:position]).digest()
    assert list(contents) == ["key", "object", "signatures", "report", "target", "debug", "notes"]
    assert contents["object"] == b"\x7fELF" + bytes(range(256))
    assert json.loads(contents["key"])[1] == ["pipeline", "builtin.module(canonicalize)"]
    assert json.loads(contents["signatures"])[0]["name"] == "main"
    assert json.loads(contents["report"])["phases"] == {"lower": 0.5, "emit": 1.25}
    assert json.loads(contents["target"])["cpu"] == "znver3"
    assert contents["notes"] == b"second extra"


def test_every_truncation_is_refused() -> None:
    data = encode(numbered_artifact(1, size=10))
    for size in range(len(data)):
        with pytest.raises(ArtifactError):
            decode(data[:size])


def test_every_flipped_bit_is_refused_as_damage() -> None:
    data = encode(numbered_artifact(1, size=10))
    for position in range(len(data)):
        for bit in range(8):
            damaged = bytearray(data)
            damaged[position] ^= 1 << bit
            with pytest.raises(ArtifactError) as caught:
                decode(bytes(damaged))
            assert type(caught.value) is ArtifactError


@given(st.binary(min_size=1, max_size=40))
def test_trailing_bytes_are_refused(more: bytes) -> None:
    data = encode(numbered_artifact(1))
    with pytest.raises(ArtifactError):
        decode(data + more)
    with pytest.raises(ArtifactError, match="fill"):
        decode(sealed(data[:-32] + more))


@given(st.binary(max_size=300))
def test_noise_is_refused(noise: bytes) -> None:
    for data in (noise, b"\x89TWINJIT" + noise, sealed(noise), sealed(b"\x89TWINJIT" + noise)):
        with pytest.raises(ArtifactError):
            decode(data)


@given(artifacts, st.data())
def test_a_wrong_body_under_a_right_checksum_is_an_artifact_error(
    artifact: Artifact, data: st.DataObject
) -> None:
    body = bytearray(encode(artifact)[:-32])
    body[data.draw(st.integers(8, len(body) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        again = decode(sealed(bytes(body)))
        for name in ("key", "signatures", "report", "target", "extras"):
            getattr(again, name)
    except ArtifactError:
        pass


@pytest.mark.parametrize("version", [0, 2, 2**32 - 1])
def test_an_intact_entry_of_another_version_is_told_apart(version: int) -> None:
    data = encode(numbered_artifact(1))
    other = sealed(data[:8] + version.to_bytes(4, "little") + data[12:-32])
    with pytest.raises(ArtifactVersionError, match=str(version)):
        decode(other)
    with pytest.raises(ArtifactVersionError):
        decode(sealed(data[:8] + version.to_bytes(4, "little") + os.urandom(100)))


def test_another_codec_is_refused() -> None:
    data = encode(numbered_artifact(1))
    assert data[48] == 0
    with pytest.raises(ArtifactError, match="codec 1"):
        decode(sealed(data[:48] + b"\1" + data[49:-32]))


@pytest.mark.parametrize("name", ["key", "object", "signatures", "report", "target"])
def test_a_missing_section_is_refused(name: str) -> None:
    artifact = sample_artifact()
    short = tuple(section for section in artifact.sections if section[0] != name)
    with pytest.raises(ArtifactError, match="wrong sections"):
        decode(encode(Artifact(artifact.key_digest, short)))


def test_a_section_that_occurs_twice_is_refused() -> None:
    artifact = sample_artifact()
    with pytest.raises(ArtifactError, match="wrong sections"):
        decode(encode(Artifact(artifact.key_digest, artifact.sections + artifact.sections[:1])))


def test_padding_that_is_not_zero_is_refused() -> None:
    data = encode(sample_artifact())
    position = data.find(b"\x7fELF") - 1
    assert data[position] == 0
    with pytest.raises(ArtifactError, match="padding"):
        decode(sealed(data[:position] + b"\1" + data[position + 1 : -32]))


@given(digests)
def test_a_key_that_does_not_match_the_digest_is_refused(digest: bytes) -> None:
    artifact = decode(encode(Artifact(digest, sample_artifact().sections)))
    with pytest.raises(ArtifactError, match="stored under"):
        artifact.key  # noqa: B018  # reading it is what raises


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("key", b"{}"),
        ("key", b'[["a"]]'),
        ("signatures", b"{}"),
        ("signatures", b"[1]"),
        ("report", b"[]"),
        ("report", b"{"),
        ("report", b"\xff"),
        ("report", b"[" * 100_000),
        ("target", b"1"),
    ],
)
def test_sections_with_wrong_json_are_refused_when_read(name: str, content: bytes) -> None:
    sections = tuple(
        (section, content if section == name else value)
        for section, value in sample_artifact().sections
    )
    artifact = decode(encode(Artifact(SAMPLE_KEY.digest, sections)))
    with pytest.raises(ArtifactError):
        getattr(artifact, name)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), b"bytes", object()])
def test_values_that_are_not_json_are_refused(value: object) -> None:
    with pytest.raises(ArtifactError, match="report"):
        Artifact.build(
            key=SAMPLE_KEY, object_code=b"", signatures=[], report={"a": value}, target={}
        )


@pytest.mark.parametrize("name", ["", "key", "object", "x" * 256])
def test_bad_names_of_extras_are_refused(name: str) -> None:
    with pytest.raises(ArtifactError, match="name"):
        Artifact.build(
            key=SAMPLE_KEY, object_code=b"", signatures=[], report={}, target={}, extras={name: b""}
        )


def test_object_code_starts_where_llvm_takes_it() -> None:
    for size in range(40):
        artifact = Artifact.build(
            key=Key((("a" * (size + 1), "b"),)),
            object_code=b"\x7fELF",
            signatures=[],
            report={},
            target={},
            extras={"e" * (size + 1): b"x"},
        )
        data = encode(artifact)
        assert data.find(b"\x7fELF") % 16 == 0
        assert decode(data).object_code == b"\x7fELF"


def test_decoding_copies_no_code_and_gives_no_way_to_change_it() -> None:
    data = encode(numbered_artifact(1))
    code = decode(data).object_code
    assert isinstance(code, memoryview)
    assert code.obj is data
    assert code.readonly
