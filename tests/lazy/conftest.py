"""Fixtures of the tests of lazy functions."""

from __future__ import annotations

import pytest

from twinjit import Jit


@pytest.fixture
def jit(compiler):
    return Jit(compiler)
