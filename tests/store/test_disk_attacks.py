"""A store's directory that another user prepared, or that others can link to."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from blake3 import blake3

from tests.faults import give_away
from tests.samples import numbered_artifact
from twinjit.errors import CacheWarning
from twinjit.store.account import Account
from twinjit.store.disk import DiskStore

ARTIFACT = numbered_artifact(1)
TEMPORARY = "1-0123456789abcdef"


def account_page(counts: bytes) -> bytes:
    body = (b"TJACCNT\1" + counts).ljust(4064)
    return body + blake3(body).digest()


CALLS: dict[str, Callable[[DiskStore], object]] = {
    "get": lambda store: store.get(ARTIFACT.key_digest),
    "put": lambda store: store.put(ARTIFACT),
    "remove": lambda store: store.remove(ARTIFACT.key_digest),
    "prune": lambda store: store.prune(0),
    "clear": lambda store: store.clear(),
    "verify": lambda store: list(store.verify()),
    "stats": lambda store: store.stats(),
    "totals": lambda store: store.totals(),
    "reset": lambda store: store.reset_totals(),
    "turn": lambda store: store.turn(ARTIFACT.key_digest, 0).__enter__(),
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """What another user would like to have changed."""
    home = tmp_path / "home"
    home.mkdir()
    for name in (TEMPORARY, "account", "config"):
        (home / name).write_text("precious")
    return home


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def plant_links(base: Path, home: Path) -> None:
    base.mkdir(parents=True)
    (base / "tmp").symlink_to(home)
    for name in ("account", "ledger", "evicted", "swept", "locks"):
        os.link(home / "config", base / name)


def plant_base(base: Path, home: Path) -> None:
    base.parent.mkdir(parents=True)
    base.symlink_to(home)


@pytest.mark.parametrize("plant", [plant_links, plant_base])
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.filterwarnings("ignore::twinjit.errors.CacheWarning")
def test_nothing_is_changed_through_what_another_user_planted(
    tmp_path: Path, home: Path, plant: Callable[[Path, Path], None], call: str
) -> None:
    before = contents(home)
    base = tmp_path / "cache" / "v1"
    plant(base, home)
    if not base.is_symlink():
        give_away(base)
    store = DiskStore(base.parent)
    CALLS[call](store)
    store.account.flush()
    assert contents(home) == before


@pytest.mark.parametrize("name", ["account", "ledger", "evicted", "swept"])
@pytest.mark.filterwarnings("ignore::twinjit.errors.CacheWarning")
def test_a_book_with_another_name_is_not_written(tmp_path: Path, home: Path, name: str) -> None:
    base = tmp_path / "cache" / "v1"
    base.mkdir(parents=True, mode=0o700)
    os.link(home / "config", base / name)
    store = DiskStore(base.parent)
    assert store.put(ARTIFACT)
    store.prune(0)
    store.account.flush()
    assert (home / "config").read_text() == "precious"


def test_pruning_what_is_not_ones_own_is_told(tmp_path: Path) -> None:
    DiskStore(tmp_path).put(ARTIFACT)
    (tmp_path / "v1").chmod(0o777)
    store = DiskStore(tmp_path)
    with pytest.warns(CacheWarning, match="others may write to it"):
        store.prune(0)
    assert store.stats().entries == 1


def test_pruning_what_is_not_there_is_no_fault(tmp_path: Path) -> None:
    store = DiskStore(tmp_path / "none")
    store.prune()
    store.clear()
    assert store.stats().faults == 0
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    "counts",
    [
        b"[" * 4000,
        b"[1, 2]",
        b"no JSON",
        b"\xff",
        b'{"disk": "1"}',
        b'{"disk": [1]}',
        b'{"disk": 1.5}',
        b'{"disk": true}',
        b'{"since": "x", "disk": 1}',
        b'{"disk": ' + b"9" * 4000 + b"}",
    ],
    ids=range(10),
)
def test_an_account_of_another_form_counts_as_none(tmp_path: Path, counts: bytes) -> None:
    path = tmp_path / "account"
    path.write_bytes(account_page(counts))
    account = Account(str(path))
    assert account.totals() == {}
    assert account.since() is None
    account.add("disk")
    account.flush()
    assert Account(str(path)).totals() == {"disk": 1}


def test_an_account_page_as_the_grammar_says(tmp_path: Path) -> None:
    path = tmp_path / "account"
    path.write_bytes(account_page(json.dumps({"disk": 5, "since": 7}).encode()))
    assert Account(str(path)).totals() == {"disk": 5}
