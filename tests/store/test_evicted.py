from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from twinjit.store.evicted import Evicted

digests = st.binary(min_size=32, max_size=32)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(evicted=st.lists(digests, unique=True, max_size=30), others=st.lists(digests, max_size=10))
def test_only_what_was_evicted_is_said_to_be(
    tmp_path: Path, evicted: list[bytes], others: list[bytes]
) -> None:
    path = tmp_path / "evicted"
    path.unlink(missing_ok=True)
    Evicted(str(path)).add(evicted)
    table = Evicted(str(path))
    assert not any(table.take(digest) for digest in others if digest not in evicted)
    slots = {digest[8:16]: digest for digest in evicted if any(digest[:8])}
    for digest in slots.values():
        table.take(digest)
        assert not table.take(digest)


def test_the_last_eviction_of_a_slot_is_remembered(tmp_path: Path) -> None:
    table = Evicted(str(tmp_path / "evicted"))
    first, second = b"a" * 32, b"b" * 8 + b"a" * 24
    table.add([first])
    table.add([second])
    assert not table.take(first)
    assert table.take(second)


def test_the_format(tmp_path: Path) -> None:
    path = tmp_path / "evicted"
    digest = b"12345678" + (3 * 8192 + 5).to_bytes(8, "little") + bytes(16)
    Evicted(str(path)).add([digest])
    assert path.read_bytes() == bytes(5 * 8) + b"12345678"


def test_the_table_is_bounded(tmp_path: Path) -> None:
    table = Evicted(str(tmp_path / "evicted"))
    table.add(number.to_bytes(16, "little") * 2 for number in range(1, 20_000))
    assert (tmp_path / "evicted").stat().st_size <= 65_536


def test_nothing_is_made_for_nothing(tmp_path: Path) -> None:
    table = Evicted(str(tmp_path / "evicted"))
    table.add([])
    assert not table.take(bytes(32))
    assert not (tmp_path / "evicted").exists()
