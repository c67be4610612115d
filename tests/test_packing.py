"""Bytes compressed where that pays, and unpacked within bounds."""

from __future__ import annotations

import random
import subprocess
import sys
import tracemalloc
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinjit.errors import ArtifactError, ArtifactUnavailableError
from twinjit.packing import UNPACKED_LIMIT, Packed, pack

ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
PLAIN = b"what repeats itself " * 16384


def packed(content: bytes = PLAIN) -> Packed:
    found = pack(content)
    assert isinstance(found, Packed)
    return found


@given(st.builds(lambda piece, times: piece * times, st.binary(min_size=1), st.integers(1, 5000)))
def test_round_trip(content: bytes) -> None:
    found = pack(content)
    assert found == content
    assert len(found) == len(content)
    assert hash(found) == hash(content)
    assert pack(content) == found
    if isinstance(found, Packed):
        assert found.unpack() == content


@pytest.mark.parametrize(
    "content",
    [b"", bytes((256 << 10) - 1), random.Random(1).randbytes(400_000)],
    ids=["empty", "small", "random"],
)
def test_what_does_not_pay_is_kept_as_it_is(content: bytes) -> None:
    assert pack(content) is content


def test_what_pays() -> None:
    assert len(packed(bytes(256 << 10)).stored) < 100
    shrinking = random.Random(1).randbytes(400_000)
    assert len(packed(shrinking + bytes(120_000)).stored) > 400_000
    assert pack(shrinking + bytes(80_000)) == shrinking + bytes(80_000)
    assert isinstance(pack(shrinking + bytes(80_000)), bytes)


@pytest.mark.parametrize("size", [0, 1, len(PLAIN) - 1, len(PLAIN) + 1, UNPACKED_LIMIT])
def test_another_size_is_refused(size: int) -> None:
    with pytest.raises(ArtifactError, match=f"unpack to the {size} bytes"):
        Packed(packed().stored, size).unpack()


def test_damaged_frames_are_refused() -> None:
    whole = bytes(packed().stored)
    wrong = [whole[:size] for size in range(len(whole))]
    wrong += [b"x" + whole[1:], whole + b"x", whole + whole, whole[:-1] + b"xx", PLAIN]
    for stored in wrong:
        with pytest.raises(ArtifactError):
            Packed(stored, len(PLAIN)).unpack()


def test_flipped_bits_give_an_error_or_bytes_of_the_size_said() -> None:
    whole = bytes(packed().stored)
    for position in range(len(whole)):
        for bit in range(8):
            damaged = bytearray(whole)
            damaged[position] ^= 1 << bit
            with suppress(ArtifactError):
                assert len(Packed(bytes(damaged), len(PLAIN)).unpack()) == len(PLAIN)


def test_no_more_is_unpacked_than_was_said() -> None:
    bomb = packed(bytes(200 << 20)).stored
    assert len(bomb) < 100_000
    tracemalloc.start()
    try:
        with pytest.raises(ArtifactError):
            Packed(bomb, 100).unpack()
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_without_memory_the_entry_may_be_intact() -> None:
    """In a process with 300 MB to use, of a frame that unpacks to a gigabyte."""
    script = f"""
import resource
from twinjit.packing import Packed, pack, _zstd
zstd = _zstd()
packer = zstd.ZstdCompressor(1)
stored = b"".join(packer.compress(bytes(1 << 20)) for _ in range(1024)) + packer.flush()
resource.setrlimit(resource.RLIMIT_DATA, (300 << 20,) * 2)
try:
    Packed(stored, {UNPACKED_LIMIT}).unpack()
except Exception as error:
    print(type(error).__name__, error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(
        "ArtifactUnavailableError a section cannot be unpacked: MemoryError"
    )


def test_a_python_without_zstd(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = packed()
    monkeypatch.delitem(sys.modules, ZSTD)
    monkeypatch.setitem(sys.modules, ZSTD, None)
    package = sys.modules[ZSTD.partition(".")[0]]
    monkeypatch.delattr(package, "zstd", raising=False)
    assert pack(PLAIN) is PLAIN
    with pytest.raises(ArtifactUnavailableError, match=r"ImportError|ModuleNotFoundError"):
        stored.unpack()
    assert stored == stored
    assert "Packed 327680 bytes in" in repr(stored)


def test_small_programs_do_not_import_zstd(tmp_path: object) -> None:
    script = f"""
import sys, twinjit
text = "func.func @f(%x: i64) -> i64 {{ return %x : i64 }}"
for tier in ("compiled", "disk"):
    executable = twinjit.Compiler(cache={str(tmp_path)!r}).compile(text)
    assert executable.report.tier == tier
assert executable.f(3) == 3 and executable.key
assert {ZSTD!r} not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)
