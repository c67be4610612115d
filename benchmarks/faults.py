"""What the disk store does when processes die, files are damaged, and the system refuses.

The campaigns are in ``benchmarks/campaign``; what they find wrong is told on standard error, with
the seed and the step. ``TWINJIT_CAMPAIGN_SEED`` sets the seed, which is else drawn anew.

Figures
-------
``seed``
    What all choices followed from.
``kills``, ``bad_reads``, ``lost_entries``
    Processes killed at random moments while they put, evicted or compiled, among readers; reads
    that gave anything but what was put; entries not found of those that were acknowledged.
``kill_*``
    What else happened meanwhile: ``temporaries`` that killed writers left, of which ``left`` the
    next prune did not remove; ``faults`` that a store warned of; entries that were ``torn``;
    processes that ``raised``; artifacts and programs that could not be stored afterwards
    (``unhealed``); and the longest call of a compiler, in milliseconds, with all that it waited
    for.
``bit_flips``, ``accepted``
    Single bits flipped in files of a store, and damages of any kind that were taken as whole.
``damaged_*``
    The other kinds of damage, by number; entries that were ``lost`` when another file was damaged;
    entries that could not be put again (``unhealed``); calls that ``raised``.
``raised_into_user``
    Exceptions from calls of a compiler or a store under all adverse conditions, out of
    ``calls_under_faults``; ``wrong`` results, and conditions after which nothing was kept
    (``not_kept``).
``raised_CONDITION``
    The same by condition. ``not_possible``: conditions that this process may not make.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from benchmarks.campaign import adversity, flips, kills
from benchmarks.campaign.conditions import CONDITIONS
from benchmarks.campaign.finding import Account
from benchmarks.campaign.material import open_disk_store
from benchmarks.harness import Figures

__all__ = ["run"]


def run(*, quick: bool) -> Figures:
    """Run the campaigns; see the module's docstring for the figures."""
    seed = int(os.environ.get("TWINJIT_CAMPAIGN_SEED") or random.randrange(1 << 32))
    return {
        "seed": seed,
        **_kills(seed, 100 if quick else 1_000),
        **_flips(seed, 1_000 if quick else 12_000),
        **_adversity(seed, 100 if quick else 1_000),
    }


def _kills(seed: int, number: int) -> dict[str, float]:
    account = kills.run(seed=seed, kills=number)
    account.tell()
    figures: dict[str, float] = {
        "kills": account.counts.pop("kills"),
        "bad_reads": account.count("bad_reads"),
        "lost_entries": account.count("lost_entries"),
        "kill_longest_call_ms": account.counts.pop("longest_call_us") / 1e3,
    }
    figures |= {f"kill_{name}": value for name, value in account.counts.items()}
    return figures | {f"kill_{name}": account.count(name) for name in kills.OTHER_FINDINGS}


def _flips(seed: int, number: int) -> dict[str, float]:
    with _folder() as folder:
        account = flips.run(
            folder,
            seed=seed,
            flips=number,
            others=number // 12,
            compiles=number // 24,
            open_store=open_disk_store,
        )
    account.tell()
    figures: dict[str, float] = {
        "bit_flips": account.counts.pop("bit_flips"),
        "accepted": account.count("accepted"),
    }
    figures |= {f"damaged_{name}": value for name, value in account.counts.items()}
    return figures | {f"damaged_{name}": account.count(name) for name in flips.OTHER_FINDINGS}


def _adversity(seed: int, upheavals: int) -> dict[str, float | str]:
    tests: dict[str, Callable[[Path, Account], None]] = {
        name: partial(_endure, condition=name) for name in CONDITIONS
    }
    tests["first_use"] = adversity.first_use
    tests["turmoil"] = partial(_turmoil, seed=seed, upheavals=upheavals)
    accounts: dict[str, Account] = {}
    not_possible = []
    for name, test in tests.items():
        account = Account()
        try:
            with _folder() as folder:
                test(folder, account)
        except pytest.skip.Exception:
            not_possible.append(name)
        else:
            account.tell()
            accounts[name] = account
    raised = {name: account.count("raised_into_user") for name, account in accounts.items()}
    return {
        "raised_into_user": sum(raised.values()),
        "calls_under_faults": sum(account.counts["calls"] for account in accounts.values()),
        "wrong": sum(account.count("wrong") for account in accounts.values()),
        "not_kept": sum(account.count("unhealed") for account in accounts.values()),
        "not_possible": ", ".join(not_possible),
        **{f"raised_{name}": number for name, number in raised.items()},
    }


def _endure(folder: Path, account: Account, condition: str) -> None:
    adversity.endure(folder, condition, open_disk_store, account)


def _turmoil(folder: Path, account: Account, seed: int, upheavals: int) -> None:
    adversity.turmoil(folder, seed=seed, upheavals=upheavals, account=account)


@contextmanager
def _folder() -> Iterator[Path]:
    """Make a folder that users without rights can enter."""
    with TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)
