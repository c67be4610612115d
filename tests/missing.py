"""Tests of what this machine lacks."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def skip_or_fail(what_is_missing: str) -> NoReturn:
    """Skip the test, or fail it where all must run, as in CI."""
    if os.environ.get("TWINJIT_TEST_ALL"):
        pytest.fail(what_is_missing)
    pytest.skip(what_is_missing)
