"""Turns to take, and others to wait for, for tests of `twinjit.store.flight`."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

from twinjit.store.flight import Flights

spawn = multiprocessing.get_context("spawn")

KEY = bytes(range(32))
OTHER = bytes(range(1, 33))  # has another byte and mark
PATIENCE = 60.0  # in seconds; reached only where something is broken


FLOCK = struct.Struct("hhqqi0q")  # type, whence, start, length, process


def find_lock(locks: Path, byte: int = 0, length: int = 0) -> tuple[int, int] | None:
    """Find a lock on some bytes, by default on any, without taking one: its start and length."""
    asked = FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, byte, length, 0)
    with locks.open("r+b") as file:
        kind, _, start, size, _ = FLOCK.unpack(fcntl.fcntl(file, fcntl.F_OFD_GETLK, asked))
    return None if kind == fcntl.F_UNLCK else (start, size)


def count_locks(locks: Path) -> int:
    """Tell whether none, one or more bytes are locked: 0, 1 or 2."""
    found = find_lock(locks) if locks.exists() else None
    if found is None:
        return 0
    start, length = found
    return 2 if find_lock(locks, 0, start) or find_lock(locks, start + length) else 1


def descriptors(locks: Path, process: int | str = "self") -> list[str]:
    """List a process's descriptors of the file."""
    folder = f"/proc/{process}/fd"
    links = (f"{folder}/{number}" for number in os.listdir(folder))
    return [link for link in links if _target(link) == str(locks)]


def _target(link: str) -> str:
    """What a descriptor leads to; nothing, for one that was closed meanwhile."""
    try:
        return os.readlink(link)
    except FileNotFoundError:
        return ""


def never() -> None:
    """An entry that nobody publishes."""


class Folder:
    """A folder with turns, and one entry."""

    def __init__(self, path: Path) -> None:
        self.locks = path / "v1" / "locks"
        self.trouble: list[OSError] = []
        self.flights = Flights(str(self.locks), self.trouble.append)
        self._entry = path / "entry"
        self._asked: Counter[int] = Counter()  # by thread

    @property
    def waiting(self) -> int:
        """How many threads wait, or did, since they alone ask more than once."""
        return sum(count > 1 for count in list(self._asked.values()))

    @property
    def asked(self) -> int:
        """How often the entry was asked for."""
        return self._asked.total()

    def entry(self) -> object:
        self._asked[threading.get_ident()] += 1
        try:
            return os.lstat(self._entry).st_ino
        except FileNotFoundError:
            return None

    def publish(self) -> None:
        new = self._entry.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        new.touch()
        new.replace(self._entry)


def start(work: Callable[[], None], count: int = 1) -> list[threading.Thread]:
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def own(path: Path, pipe: Connection) -> None:
    """Hold the turn until told to end it, and publish an entry."""
    folder = Folder(path)
    with folder.flights.turn(KEY, PATIENCE, folder.entry) as outcome:
        pipe.send(outcome)
        pipe.recv()
        folder.publish()


@contextmanager
def owner(path: Path) -> Iterator[tuple[int, Connection]]:
    """Run another process that has the turn; gives its id and how to talk to it."""
    mine, its = spawn.Pipe()
    process = spawn.Process(target=own, args=(path, its))
    process.start()
    assert mine.recv() == "owner"
    assert process.pid is not None
    try:
        yield process.pid, mine
    finally:
        process.kill()
        process.join()


def take_turns(folder: Folder, count: int, work: Callable[[str], None]) -> list[threading.Thread]:
    """Let threads wait for the turn."""

    def wait() -> None:
        with folder.flights.turn(KEY, PATIENCE, folder.entry) as outcome:
            work(outcome)

    return start(wait, count)
