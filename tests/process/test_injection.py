"""System calls of the store that fail one by one; ``TWINJIT_NIGHTLY=1`` tries each in each way."""

from __future__ import annotations

import os
import random

import pytest
from benchmarks.campaign import injection

from tests.nightly import NIGHTLY

SEED = int(os.environ.get("TWINJIT_CAMPAIGN_SEED") or random.randrange(1 << 32))

pytestmark = pytest.mark.skipif(not injection.is_possible(), reason="needs strace, and its rights")


def test_nothing_is_raised_wrong_or_left_whichever_call_fails() -> None:
    limit = None if NIGHTLY else 100
    account = injection.run(seed=SEED, limit=limit)
    assert account.findings == []
    assert account.counts["faults"] == (limit or account.counts["possible"]) > 0
    assert account.counts["injected"] >= 0.9 * account.counts["faults"]


def test_it_finds_a_store_that_raises() -> None:
    broken = "tests.process.broken_stores:Strict"
    account = injection.run(seed=1, limit=100, open_store=broken)
    assert account.count("raised_into_user") > 0
