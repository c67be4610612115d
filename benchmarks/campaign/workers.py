"""What the processes of the kill campaign do until they are killed or told to stop."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable

from benchmarks.campaign.material import artifact, program, result, same, source
from benchmarks.campaign.yard import Yard
from twinjit import Compiler, DiskStore

__all__ = ["POPULAR", "PROGRAMS", "Role", "compiler", "evictor", "keeper", "reader", "writer"]

POPULAR = 64
"""Artifacts with lower numbers are put over and over by all writers."""

PROGRAMS = 12

Role = Callable[[Yard, int, int], None]
"""Works in a yard, given the row of the board and the number of the process."""

_NUMBERS_EACH = 1_000_000  # apart from the popular ones, a writer has numbers of its own
_PAUSE = 0.002


def writer(yard: Yard, row: int, serial: int) -> None:
    """Put into the store that keeps everything, and acknowledge what was taken."""
    rng, store = yard.rng(serial), yard.kept()
    own = POPULAR + serial * _NUMBERS_EACH
    while _goes_on(yard):
        number = rng.randrange(POPULAR)
        if rng.random() < 0.3:
            number = own = own + 1
        made = artifact(yard.seed, number)
        if store.put(made):
            yard.acknowledge(number)
        if store.put_direct(source(yard.seed, number), made.key_digest):
            yard.acknowledge(number, direct=True)
        yard.board.add(row, "puts")


def evictor(yard: Yard, row: int, serial: int) -> None:
    """Put into the store that evicts, and prune and clear it."""
    rng, store = yard.rng(serial), yard.bounded()
    while _goes_on(yard):
        number = rng.randrange(POPULAR)
        store.put(artifact(yard.seed, number))
        store.put_direct(source(yard.seed, number), artifact(yard.seed, number).key_digest)
        yard.board.add(row, "evicting_puts")
        choice = rng.random()
        if choice < 0.05:
            store.prune(rng.randrange(yard.bound))
        elif choice < 0.06:
            store.clear()
        elif choice < 0.16:
            store.remove(artifact(yard.seed, rng.randrange(POPULAR)).key_digest)


def compiler(yard: Yard, row: int, serial: int) -> None:
    """Compile what other processes compile, too, and remove it half of the time."""
    rng, chooser = yard.rng(serial), Compiler(cache=yard.compiled)
    while _goes_on(yard):
        number = rng.randrange(PROGRAMS)
        start = time.perf_counter()
        executable = chooser.compile(program(number))
        yard.board.raise_to(row, "longest_call_us", int(1e6 * (time.perf_counter() - start)))
        if executable.f(2) != result(number, 2):
            yard.found("bad_reads", f"compiler {serial}", f"program {number} gave another value")
        yard.board.add(row, "compiles")
        chooser.clear_memory()
        if chooser.store and rng.random() < 0.5:
            chooser.store.remove(executable.key.digest)


def reader(yard: Yard, row: int, serial: int) -> None:
    """Read everywhere: what is found is exact, and what was acknowledged is found."""
    rng, kept, bounded = yard.rng(serial), yard.kept(), yard.bounded()
    while _goes_on(yard):
        place = f"reader {serial}"
        check_entry(yard, bounded, rng.randrange(POPULAR), place, must=False)
        check_record(yard, bounded, rng.randrange(POPULAR), place, must=False)
        check_entry(yard, kept, rng.randrange(POPULAR), place, must=False)
        if chosen := yard.any_acknowledged(rng):
            number, direct = chosen
            (check_record if direct else check_entry)(yard, kept, number, place, must=True)
        yard.board.add(row, "gets")
        time.sleep(_PAUSE)


def keeper(yard: Yard, row: int, serial: int) -> None:
    """Do what the command line does: prune, verify, list, count."""
    rng, stores = yard.rng(serial), (yard.kept(), yard.bounded())
    while _goes_on(yard):
        store = rng.choice(stores)
        _keep(yard, store, rng, f"keeper {serial}")
        yard.board.add(row, "prunes")
        time.sleep(10 * _PAUSE)


def check_entry(yard: Yard, store: DiskStore, number: int, place: str, *, must: bool) -> None:
    """Read an artifact, and take down if it is another one, or not there though it must be."""
    expected = artifact(yard.seed, number)
    found = store.get(expected.key_digest)
    if found is None:
        if must:
            yard.found(
                "lost_entries", place, f"artifact {number} of seed {yard.seed} in {store.root}"
            )
    elif not same(found, expected):
        yard.found("bad_reads", place, f"artifact {number} of seed {yard.seed} in {store.root}")


def check_record(yard: Yard, store: DiskStore, number: int, place: str, *, must: bool) -> None:
    """Read a direct record as `check_entry` reads an artifact."""
    found = store.get_direct(source(yard.seed, number))
    if found is None:
        if must:
            yard.found(
                "lost_entries", place, f"record {number} of seed {yard.seed} in {store.root}"
            )
    elif found != artifact(yard.seed, number).key_digest:
        yard.found("bad_reads", place, f"record {number} of seed {yard.seed} in {store.root}")


def _keep(yard: Yard, store: DiskStore, rng: random.Random, place: str) -> None:
    choice = rng.randrange(5)
    if choice == 0:
        store.prune()
    elif choice == 1:
        store.stats()
        store.totals()
    elif choice == 2:
        for bad in store.verify():
            yard.found("torn", place, f"{bad.path}: {bad.message}")
    elif choice == 3:
        for request, _ in zip(store.records(), range(100), strict=False):
            store.contains(request[1])
    else:
        for entry, _ in zip(store.entries(), range(100), strict=False):
            store.contains(entry.key_digest)


def _goes_on(yard: Yard) -> bool:
    return not yard.board.is_stopped and os.getppid() != 1
