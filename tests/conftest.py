"""Fixtures shared by all tests."""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import settings

import twinjit

# How long an example takes says more of what else the machine does.
settings.register_profile("twinjit", deadline=None)
settings.load_profile("twinjit")

# Garbage of other tests may be contexts whose threads a child does not have, and would wait for.
os.register_at_fork(after_in_child=gc.disable)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    """Keep the user's folders out of the tests, and theirs out of each other's."""
    monkeypatch.setenv("TWINJIT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setenv("TWINJIT_CRASH_DIR", str(tmp_path_factory.mktemp("crashes")))
    monkeypatch.setenv("TWINJIT_SETTINGS", "off")
    twinjit._kept_compiler.cache_clear()


@pytest.fixture
def silence(capfd):
    """Make sure that a test writes nothing to the standard streams, native code included."""
    yield
    assert capfd.readouterr() == ("", "")


@pytest.fixture
def hits_unchecked(monkeypatch):
    """For tests of what a hit touches: in check mode, some hits are compiled again."""
    monkeypatch.setenv("TWINJIT_CHECK_HITS", "0")


@pytest.fixture
def compiler(tmp_path):
    """A compiler with an empty disk store of its own."""
    return twinjit.Compiler(cache=tmp_path / "store")


@pytest.fixture
def run(compiler):
    """Compile a program and return its one function."""

    def compile_and_get(text, **options):
        chosen = twinjit.Compiler(cache=False, **options) if options else compiler
        executable = chosen.compile(text)
        (name,) = executable
        return executable[name]

    return compile_and_get
