"""Fixtures of the tests of workers."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from twinjit.workers.pool import POOL


@pytest.fixture(autouse=True)
def _ended() -> Iterator[None]:
    """Start each test without processes, and without compilers that others left in a cycle."""
    gc.collect()
    POOL.end()
    yield
    POOL.end()
