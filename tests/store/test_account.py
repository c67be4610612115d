from __future__ import annotations

import errno
import fcntl
import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from blake3 import blake3

from tests.samples import numbered_artifact
from twinjit.store.account import Account
from twinjit.store.disk import DiskStore

spawn = multiprocessing.get_context("spawn")


def count(path: str, rounds: int) -> None:
    account = Account(path)
    for number in range(rounds):
        account.add("both")
        account.add(f"of-{number % 2}", 2)
        if number % 10 == 0:
            account.flush()
    while not account._events.flush():
        pass


def test_counts_of_several_processes_add_up(tmp_path: Path) -> None:
    path = str(tmp_path / "account")
    workers = [spawn.Process(target=count, args=(path, 100)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    assert Account(path).totals() == {"both": 400, "of-0": 400, "of-1": 400}
    assert os.path.getsize(path) == 4096


def test_what_was_gathered_is_written_at_exit(tmp_path: Path) -> None:
    path = tmp_path / "account"
    code = (
        "import sys; from twinjit.store.account import Account\n"
        "a = Account(sys.argv[1]); a.add('x', 3); a.flush(); a.add('x', 4)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    assert Account(str(path)).totals() == {"x": 7}


def test_a_forked_child_does_not_count_for_its_parent(tmp_path: Path) -> None:
    path = str(tmp_path / "account")
    account = Account(path)
    account.add("parent")
    child = os.fork()
    if child == 0:
        try:
            account.add("child")
            account.flush()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    account.flush()
    assert Account(path).totals() == {"parent": 1, "child": 1}


def test_the_format(tmp_path: Path) -> None:
    path = tmp_path / "account"
    body = b'TJACCNT\1{"disk":2,"miss-absent":1,"since":1790000000}'.ljust(4096 - 32)
    path.write_bytes(body + blake3(body).digest())
    account = Account(str(path))
    assert account.totals() == {"disk": 2, "miss-absent": 1}
    assert account.since() == 1790000000
    account.add("disk", 3)
    account.flush()
    body = body.replace(b'"disk":2', b'"disk":5')
    assert path.read_bytes() == body + blake3(body).digest()


@pytest.mark.parametrize("damage", [b"", b"x", bytes(4096), b"TJACCNT\x02" + bytes(5000)])
def test_a_damaged_account_is_begun_anew(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "account"
    path.write_bytes(damage)
    account = Account(str(path))
    account.add("x")
    account.flush()
    assert Account(str(path)).totals() == {"x": 1}


def test_a_flipped_bit_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "account"
    account = Account(str(path))
    account.add("x")
    account.flush()
    data = bytearray(path.read_bytes())
    data[13] ^= 1
    path.write_bytes(data)
    assert Account(str(path)).totals() == {}


def test_more_names_than_fit_are_begun_anew(tmp_path: Path) -> None:
    path = str(tmp_path / "account")
    account = Account(path)
    for number in range(1000):
        account.add(f"event-{number}")
    account.flush()
    assert account.totals() == {}
    account.add("x")
    account.flush()
    assert Account(path).totals() == {"x": 1}


def test_counting_begins_anew(tmp_path: Path) -> None:
    path = str(tmp_path / "account")
    account, other = Account(path), Account(path)
    assert account.since() is None
    assert account.reset()  # there is nothing to reset
    assert not os.path.exists(path)
    account.add("x", 3)
    account.flush()
    begun = account.since()
    assert begun is not None
    assert abs(begun - time.time()) < 100
    other.add("x")
    account.add("x")
    assert account.reset()
    assert account.totals() == {}
    other.flush()  # what others have not told yet is still to come
    assert account.totals() == {"x": 1}
    with open(path, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert not account.reset()


def test_nobody_waits_for_an_account(tmp_path: Path) -> None:
    path = tmp_path / "account"
    path.write_bytes(b"")
    account = Account(str(path))
    account.add("x")
    with path.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        account.flush()
        assert account.totals() == {"x": 1}
        assert path.read_bytes() == b""
    account.flush()
    assert len(path.read_bytes()) == 4096


def test_an_account_that_cannot_be_kept_disturbs_nothing(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    (tmp_path / "v1" / "account").mkdir(parents=True)
    (tmp_path / "v1").chmod(0o700)
    assert store.put(numbered_artifact(1))
    assert store.get(numbered_artifact(1).key_digest)
    store.account.flush()
    assert store.totals() == {"puts": 1, "disk": 1}
    assert store.stats().faults == 0


def test_a_store_counts_for_all_processes(tmp_path: Path) -> None:
    code = (
        "import sys; from twinjit.store.disk import DiskStore\n"
        "from tests.samples import numbered_artifact as made\n"
        "store = DiskStore(sys.argv[1]); store.put(made(1)); store.get(made(1).key_digest)\n"
        "store.get(bytes(32))"
    )
    for _ in range(2):
        subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    assert DiskStore(tmp_path).totals() == {"puts": 2, "disk": 2, "miss-absent": 2}


def test_an_error_of_closing_is_not_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    close = os.close

    def close_late(descriptor: int) -> None:
        close(descriptor)
        raise OSError(errno.EDQUOT, "as of network file systems")

    store = DiskStore(tmp_path)
    monkeypatch.setattr(os, "close", close_late)
    assert store.put(numbered_artifact(0))
    assert store.get(numbered_artifact(0).key_digest)
    store.prune(0)
    store.account.flush()
    assert store.reset_totals()
    assert store.totals() == {}


def count_once(path: str) -> None:
    Account(path).add("events")


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_what_a_process_of_multiprocessing_counted_is_kept(tmp_path: Path, method: str) -> None:
    path = str(tmp_path / "account")
    here = Account(path)
    here.add("events")
    here.flush()
    process = multiprocessing.get_context(method).Process(target=count_once, args=(path,))
    process.start()
    process.join()
    assert here.totals() == {"events": 2}
