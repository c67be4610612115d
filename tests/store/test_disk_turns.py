"""Turns of a disk store: never raising, and not had where nothing could be published."""

from __future__ import annotations

import os
import shutil
import warnings
from pathlib import Path

import pytest

from tests.faults import give_away, make_read_only, no_more_descriptors, small_disk
from tests.flights import descriptors, find_lock
from tests.samples import numbered_artifact
from twinjit.errors import CacheWarning
from twinjit.store.disk import DiskStore

ARTIFACT = numbered_artifact(1)
KEY = ARTIFACT.key_digest


def outcome_of(store: DiskStore) -> str:
    with store.turn(KEY, 0) as outcome:
        return outcome


def test_a_key_has_one_turn_at_a_time(tmp_path: Path) -> None:
    with DiskStore(tmp_path).turn(KEY, 0) as outcome:
        assert outcome == "owner"
        assert outcome_of(DiskStore(tmp_path)) == "timed out"
    assert outcome_of(DiskStore(tmp_path)) == "owner"
    assert (tmp_path / "v1").stat().st_mode & 0o777 == 0o700


def test_a_turn_that_ends_with_an_entry_leaves_no_mark(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    with store.turn(KEY, 0):
        store.put(ARTIFACT)
    assert (tmp_path / "v1" / "locks").read_bytes() == bytes(4096)
    with store.turn(KEY, 0):
        assert store.get(KEY)
    assert KEY[8:16] in (tmp_path / "v1" / "locks").read_bytes()


def test_a_store_that_keeps_nothing_has_no_turns(tmp_path: Path) -> None:
    assert outcome_of(DiskStore(tmp_path / "store", max_bytes=0)) == "unlocked"
    assert not (tmp_path / "store").exists()


def test_what_others_own_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "v1").mkdir(mode=0o700)
    give_away(tmp_path / "v1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # lookups and puts tell
        assert outcome_of(DiskStore(tmp_path)) == "unlocked"
    assert os.listdir(tmp_path / "v1") == []


def test_a_read_only_store_has_no_turns(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "64k") as disk:
        DiskStore(disk).put(ARTIFACT)
        make_read_only(disk)
        store = DiskStore(disk)
        assert outcome_of(store) == "unlocked"
        assert store.get(KEY)
        assert store.stats().faults == 0


def test_a_store_removed_during_a_turn(tmp_path: Path) -> None:
    store = DiskStore(tmp_path / "store")
    with store.turn(KEY, 0):
        shutil.rmtree(tmp_path / "store")
        assert outcome_of(store) == "owner"
        assert store.put(ARTIFACT)
    assert store.get(KEY)
    assert store.stats().faults == 0
    assert find_lock(tmp_path / "store" / "v1" / "locks") is None
    assert descriptors(tmp_path / "store" / "v1" / "locks") == []


def test_no_descriptors_left_is_a_fault_told_once(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    assert outcome_of(store) == "owner"
    with pytest.warns(CacheWarning, match="EMFILE") as told, no_more_descriptors():
        assert outcome_of(store) == "unlocked"
        assert outcome_of(store) == "unlocked"
    assert len(told) == 1
    assert store.stats().faults == 1


def test_a_digest_of_the_wrong_size_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        DiskStore(tmp_path).turn(b"short", 0)
