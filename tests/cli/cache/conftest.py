"""Caches to try commands on."""

from __future__ import annotations

import pytest

import twinjit
from tests.cli.cache.stores import digest, path_of
from tests.cli.programs import TWICE
from tests.samples import numbered_artifact
from tests.store.entries import set_age


@pytest.fixture
def root(tmp_path, monkeypatch):
    """The cache's directory, which is not there yet."""
    monkeypatch.setenv("TWINJIT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def store(root):
    """The cache, with three entries that were not used for 1000, 2000 and 3000 seconds."""
    store = twinjit.DiskStore(root)
    for number in (1, 2, 3):
        store.put(numbered_artifact(number, 5000 * number))
        set_age(path_of(root, number), 1000 * number)
    store.put_direct(b"s" * 32, digest(1))
    store.account.flush()
    return store


@pytest.fixture
def compiled(root, ok, mlir, tmp_path):
    """The cache, with TWICE compiled into it; gives the key."""
    ok("compile", mlir(TWICE), "-o", tmp_path / "twice.o")
    (entry,) = twinjit.DiskStore(root).entries()
    return entry.key_digest.hex()
