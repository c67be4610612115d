from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import pytest

from twinjit.store.ledger import Ledger, blocks


@pytest.mark.parametrize(("size", "count"), [(0, 0), (1, 1), (4096, 1), (4097, 2), (50_000, 13)])
def test_blocks(size: int, count: int) -> None:
    assert blocks(size) == count


def test_totals_outlive_the_object(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger")
    assert Ledger(path).add(3) == 3
    assert Ledger(path).add(4) == 7


def test_a_recount_keeps_what_is_added_meanwhile(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path / "ledger"))
    ledger.add(100)
    with ledger.recount(wait=True) as recount:
        assert recount is not None
        ledger.add(5)
        recount.finish(20)
    assert ledger.add(0) == 25


def test_one_recount_at_a_time(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path / "ledger"))
    with ledger.recount(wait=False) as missing:
        assert missing is None
    ledger.add(1)
    with ledger.recount(wait=False) as first, ledger.recount(wait=False) as second:
        assert first is not None
        assert second is None
    with ledger.recount(wait=False) as third:
        assert third is not None


def add_many(path: str, times: int) -> None:
    ledger = Ledger(path)
    for _ in range(times):
        ledger.add(3)


def test_no_addition_of_several_processes_is_lost(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger")
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=add_many, args=(path, 500)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    assert Ledger(path).add(0) == 4500


def test_a_planted_pipe_does_not_block(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    os.mkfifo(path)
    with pytest.raises(OSError, match="ledger"):
        Ledger(str(path)).add(1)
