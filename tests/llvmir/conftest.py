"""Fixtures of the tests of LLVM IR."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.llvmir.compiled import end_workers


@pytest.fixture(autouse=True, scope="module")
def _own_workers() -> Iterator[None]:
    yield
    end_workers()
