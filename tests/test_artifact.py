from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from tests.samples import (
    SAMPLE_KEY,
    SAMPLE_TARGET,
    numbered_artifact,
    sample_artifact,
    with_sections,
)
from tests.strategies import artifacts, digests
from twinjit.artifact import Artifact, decode, encode
from twinjit.errors import ArtifactError, ArtifactVersionError
from twinjit.key import Key
from twinjit.packing import Packed

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

GOLDEN = Path(__file__).parent / "golden" / "artifact-v2.tj"
OLD = Path(__file__).parent / "golden" / "artifact-v1.tj"
REQUIRED = ["key", "manifest", "object", "signatures", "report", "target"]


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
        target=SAMPLE_TARGET,
        extras={"b": b"2", "a": b"1"},
    )
    again = decode(encode(artifact))
    assert again.key == SAMPLE_KEY
    assert again.signatures == signatures
    assert again.report == report
    assert again.target == SAMPLE_TARGET
    assert again.extras == {"a": b"1", "b": b"2"}


def test_golden_file() -> None:
    data = GOLDEN.read_bytes()
    artifact = decode(data)
    assert artifact == sample_artifact()
    assert encode(artifact) == data
    assert artifact.key == SAMPLE_KEY
    assert artifact.report == sample_artifact().report
    assert artifact.target == SAMPLE_TARGET
    assert artifact.extras == sample_artifact().extras
    # Another version of zstd may compress otherwise; all else is as it was.
    assert len(encode(sample_artifact())) == pytest.approx(len(data), abs=100)
    assert encode(sample_artifact())[:48] == data[:48]


def test_golden_file_of_version_1_is_of_another_version() -> None:
    with pytest.raises(ArtifactVersionError, match="version 1, this Twinjit reads 2"):
        decode(OLD.read_bytes())


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
    assert number(4) == 2
    count = number(4)
    key = take(32)
    table = []
    for _ in range(count):
        codec, name_size, stored_size, raw_size = number(1), number(1), number(8), number(8)
        table.append((take(name_size).decode(), codec, stored_size, raw_size))
    contents = {}
    for name, codec, stored_size, raw_size in table:
        assert set(take(-position % 16)) <= {0}
        stored = take(stored_size)
        contents[name] = stored if codec == 0 else zstd.decompress(stored)
        assert len(contents[name]) == raw_size
    assert data[position:] == blake3(data[:position]).digest()
    assert key == blake3(contents["key"]).digest() == SAMPLE_KEY.digest
    assert {name: codec for name, codec, _, _ in table} == {
        **dict.fromkeys([*REQUIRED, "debug", "notes"], 0),
        "program": 1,
    }
    listed = json.loads(contents["manifest"])
    assert set(listed) == set(contents) - {"key", "manifest"}
    for name, digest in listed.items():
        framed = bytes([len(name.encode())]) + name.encode() + contents[name]
        assert digest == blake3(framed, key=key).hexdigest()
    assert contents["object"] == b"\x7fELF" + bytes(range(256))
    assert contents["key"].startswith(b"twinjit.key\0\1\0\0\0\4\0\0\0\x0b\0\0\0\0\0\0\0fingerprint")
    assert json.loads(contents["signatures"])[0]["name"] == "main"
    assert json.loads(contents["report"])["phases"] == {"lower": 0.5, "emit": 1.25}
    assert json.loads(contents["target"])["cpu"] == "znver3"
    assert json.loads(contents["target"])["toolchain"]["libLLVM.so"] == "0123456789abcdef"
    assert contents["notes"] == b"second extra"
    assert contents["program"] == b"ML\xefR" + b"program " * 49152


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
        for name in ("key", "object_code", "signatures", "report", "target", "extras"):
            assert getattr(again, name) == getattr(artifact, name)
    except ArtifactError:
        pass


@pytest.mark.parametrize("version", [0, 1, 3, 2**32 - 1])
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
    with pytest.raises(ArtifactError, match="codec 2"):
        decode(sealed(data[:48] + b"\2" + data[49:-32]))


@pytest.mark.parametrize("size", [0, 31, 2**30 + 1, 2**63 - 1, 2**63, 2**64 - 1])
@pytest.mark.parametrize("codec", [0, 1])
def test_a_section_that_says_it_has_another_size_is_refused(codec: int, size: int) -> None:
    artifact = sample_artifact()
    data = bytearray(encode(artifact))
    name = b"notes" if codec == 0 else b"program"
    entry = data.index(name) - 18
    assert data[entry] == codec
    data[entry + 10 : entry + 18] = size.to_bytes(8, "little")
    with pytest.raises(ArtifactError):
        decode(sealed(bytes(data[:-32]))).section(name.decode())


@pytest.mark.parametrize("name", REQUIRED)
def test_a_missing_section_is_refused(name: str) -> None:
    short = with_sections(sample_artifact(), {name: None}, listed=name != "manifest")
    with pytest.raises(ArtifactError, match="wrong sections"):
        decode(encode(short))


def test_sections_are_those_of_the_manifest() -> None:
    for changes in ({"notes": None}, {"more": b""}, {"notes": None, "more": b"second extra"}):
        with pytest.raises(ArtifactError, match="not those that were written"):
            decode(encode(with_sections(sample_artifact(), changes)))


def test_a_section_of_another_artifact_is_refused_when_read() -> None:
    other = Artifact.build(
        key=Key((*SAMPLE_KEY.parts, ("build", "2"))),
        object_code=b"\x7fELF",
        signatures=[],
        report={},
        target={**SAMPLE_TARGET, "cpu": "znver4"},
        extras={"notes": b"another's"},
    )
    for name in [*REQUIRED, "notes"]:
        mixed = with_sections(sample_artifact(), {name: bytes(other.section(name) or b"")})
        with pytest.raises(ArtifactError, match=r"manifest|stored under|were written"):
            decode(encode(mixed)).section(name)


def test_a_section_that_occurs_twice_is_refused() -> None:
    artifact = sample_artifact()
    with pytest.raises(ArtifactError, match="two sections"):
        decode(encode(Artifact(artifact.key_digest, artifact.sections + artifact.sections[:1])))


def test_padding_that_is_not_zero_is_refused() -> None:
    data = encode(sample_artifact())
    position = data.find(b"\x7fELF") - 1
    assert data[position] == 0
    with pytest.raises(ArtifactError, match="padding"):
        decode(sealed(data[:position] + b"\1" + data[position + 1 : -32]))


@given(digests)
def test_a_key_that_does_not_match_the_digest_is_refused(digest: bytes) -> None:
    with pytest.raises(ArtifactError, match="stored under"):
        decode(encode(Artifact(digest, sample_artifact().sections)))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("signatures", b"{}"),
        ("signatures", b"[1]"),
        ("report", b"[]"),
        ("report", b"{"),
        ("report", b"\xff"),
        ("report", b"[" * 100_000),
        ("target", b"1"),
        ("target", b"{}"),
        ("target", json.dumps({**SAMPLE_TARGET, "toolchain": "x"}).encode()),
        ("target", json.dumps({**SAMPLE_TARGET, "toolchain": {"a": 1}}).encode()),
        ("target", json.dumps({**SAMPLE_TARGET, "triple": None}).encode()),
        ("target", json.dumps({**SAMPLE_TARGET, "more": "x"})[:-1].encode()),
    ],
)
def test_sections_of_another_form_are_refused_when_read(name: str, content: bytes) -> None:
    artifact = decode(encode(with_sections(sample_artifact(), {name: content}, listed=True)))
    with pytest.raises(ArtifactError):
        getattr(artifact, name)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"object": 1}'])
def test_another_manifest_is_refused(content: bytes) -> None:
    with pytest.raises(ArtifactError):
        decode(encode(with_sections(sample_artifact(), {"manifest": content})))


def test_a_target_may_say_more() -> None:
    more = json.dumps({**SAMPLE_TARGET, "abi": "x"}).encode()
    artifact = decode(encode(with_sections(sample_artifact(), {"target": more}, listed=True)))
    assert artifact.target["abi"] == "x"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), b"bytes", object()])
def test_values_that_are_not_json_are_refused(value: object) -> None:
    with pytest.raises(ArtifactError, match="report"):
        Artifact.build(
            key=SAMPLE_KEY, object_code=b"", signatures=[], report={"a": value}, target={}
        )


@pytest.mark.parametrize("name", ["", "key", "manifest", "object", "x" * 256])
def test_bad_names_of_extras_are_refused(name: str) -> None:
    with pytest.raises(ArtifactError, match="name"):
        Artifact.build(
            key=SAMPLE_KEY, object_code=b"", signatures=[], report={}, target={}, extras={name: b""}
        )


def address(content: bytes | memoryview) -> int:
    return np.frombuffer(content, np.uint8).ctypes.data


def test_compressed_object_code_starts_where_llvm_takes_it() -> None:
    for size in range(256 << 10, 257 << 10, 100):
        code = b"\x7fELF" * (size // 4)
        whole = with_sections(sample_artifact(), {"object": code}, listed=True)
        artifact = decode(encode(whole))
        assert isinstance(dict(artifact.sections)["object"], Packed)
        assert artifact.object_code == code
        assert address(artifact.object_code) % 16 == 0


def test_object_code_starts_where_llvm_takes_it() -> None:
    for size in range(40):
        artifact = Artifact.build(
            key=Key((("a" * (size + 1), "b"),)),
            object_code=b"\x7fELF",
            signatures=[],
            report={},
            target=SAMPLE_TARGET,
            extras={"e" * (size + 1): b"x"},
        )
        data = encode(artifact)
        assert data.find(b"\x7fELF") % 16 == 0
        assert decode(data).object_code == b"\x7fELF"
        assert address(decode(data).object_code) % 16 == 0


def test_decoding_copies_no_code_and_gives_no_way_to_change_it() -> None:
    data = encode(numbered_artifact(1))
    code = decode(data).object_code
    assert isinstance(code, memoryview)
    assert code.obj is data
    assert code.readonly


def test_what_was_found_uncompressed_is_written_so() -> None:
    """Another version of zstd may have found that it does not pay."""
    artifact = sample_artifact()
    views = tuple((name, memoryview(bytes(content))) for name, content in artifact.sections)
    data = encode(Artifact(artifact.key_digest, views))
    assert len(data) > 131_000
    assert decode(data) == artifact
    assert encode(decode(data)) == data


def test_size_is_what_is_held() -> None:
    artifact = decode(GOLDEN.read_bytes())
    packed = dict(artifact.sections)["program"]
    assert isinstance(packed, Packed)
    raw = sum(len(bytes(artifact.section(name) or b"")) for name, _ in artifact.sections)
    assert artifact.size == raw - len(packed) + len(packed.stored) < raw - 390_000
