"""Short campaigns against the disk store; ``python -m benchmarks faults`` runs the long ones.

That a campaign finds something is tried on stores that are broken on purpose.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from benchmarks.campaign import adversity, flips, kills
from benchmarks.campaign.conditions import CONDITIONS
from benchmarks.campaign.finding import Account
from benchmarks.campaign.material import OpenStore, open_disk_store

from tests.nightly import rounds
from tests.process.broken_stores import Forgetful, Strict, Unchecked

SEED = int(os.environ.get("TWINJIT_CAMPAIGN_SEED") or random.randrange(1 << 32))

KILLS = rounds(40, 1000)
FLIPS = rounds(500, 20_000)

BROKEN = "tests.process.broken_stores"

# Under these, the store goes on without a fault.
HARMLESS = {
    "clock_ahead",
    "clock_back",
    "link_for_directory",
    "vanished_directory",
    "vanished_parts",
}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that users without rights can enter, as pytest's own is not."""
    with TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def damage(folder: Path, flips_: int, open_store: OpenStore) -> Account:
    return flips.run(
        folder,
        seed=SEED,
        flips=flips_,
        others=flips_ // 20,
        compiles=flips_ // 40,
        open_store=open_store,
    )


def test_killed_writers_leave_whole_entries_or_none() -> None:
    account = kills.run(seed=SEED, kills=KILLS)
    assert account.findings == []
    assert account.counts["kills"] == KILLS
    assert all(account.counts[name] for name in ("acknowledged", "gets", "compiles", "prunes"))


@pytest.mark.parametrize(
    ("broken", "finding"), [("Careless", "bad_reads"), ("InPlace", "lost_entries")]
)
def test_a_campaign_finds_entries_written_in_place(broken: str, finding: str) -> None:
    account = kills.run(seed=SEED, kills=8, open_store=f"{BROKEN}:{broken}")
    assert account.count(finding) > 0


def test_damaged_files_are_misses_that_heal(folder: Path) -> None:
    account = damage(folder, FLIPS, open_disk_store)
    assert account.findings == []
    assert account.counts["bit_flips"] == FLIPS


def test_a_campaign_finds_a_reader_without_a_checksum(folder: Path) -> None:
    account = damage(folder, 400, Unchecked)
    assert account.count("accepted") > 20


def test_a_campaign_finds_a_store_that_does_not_heal(folder: Path) -> None:
    account = damage(folder, 40, Forgetful)
    assert account.count("unhealed") > 0


@pytest.mark.parametrize("condition", CONDITIONS)
def test_nothing_is_raised_under(condition: str, folder: Path) -> None:
    account = Account()
    adversity.endure(folder, condition, open_disk_store, account)
    assert account.findings == []
    assert (account.counts["faults"] == 0) == (condition in HARMLESS)


def test_a_campaign_finds_a_store_that_raises(folder: Path) -> None:
    account = Account()
    adversity.endure(folder, "no_file_growth", Strict, account)
    assert account.count("raised_into_user") > 0


def test_nothing_is_raised_where_no_descriptor_is_left_at_first_use(folder: Path) -> None:
    account = Account()
    adversity.first_use(folder, account)
    assert account.findings == []


def test_nothing_is_raised_while_the_directory_comes_and_goes(folder: Path) -> None:
    account = Account()
    adversity.turmoil(folder, seed=SEED, upheavals=rounds(80, 2000), account=account)
    assert account.findings == []
    assert account.counts["faults"] > 0
