"""What workers do with a store while one of their system calls fails."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from benchmarks.campaign.material import OpenStore, artifact, program, result, same, source
from twinjit import Compiler, DiskStore, Settings

__all__ = ["BOUND", "SEED", "TASKS", "Told", "described"]

SEED = 1
"""From which all artifacts are made."""

BOUND = 1 << 20
"""Of the stores, in bytes."""

_LITTLE = 400 << 10


class Told:
    """What a worker found, by kind; and calls of a store, each of which is found out."""

    def __init__(self, open_store: OpenStore) -> None:
        self.open_store = open_store
        self.found: list[tuple[str, str]] = []

    def call(self, function: Callable[[], object]) -> None:
        """Make a call, which must not raise."""
        try:
            function()
        except Exception as error:
            self.found.append(("raised_into_user", described(error)))

    def look_up(self, store: DiskStore, number: int) -> None:
        """Look for an artifact and its record; nothing else must be found."""
        self.call(lambda: self._get(store, number))
        self.call(lambda: self._get_direct(store, number))

    def put(self, store: DiskStore, number: int) -> None:
        """Put an artifact and its record."""
        made = artifact(SEED, number)
        self.call(lambda: store.put(made))
        self.call(lambda: store.put_direct(source(SEED, number), made.key_digest))

    def _get(self, store: DiskStore, number: int) -> None:
        made = artifact(SEED, number)
        found = store.get(made.key_digest)
        if found is not None and not same(found, made):
            self.found.append(("wrong", f"artifact {number}"))

    def _get_direct(self, store: DiskStore, number: int) -> None:
        found = store.get_direct(source(SEED, number))
        if found not in (None, artifact(SEED, number).key_digest):
            self.found.append(("wrong", f"record {number}"))

    def compile(self, compiler: Compiler, number: int) -> None:
        """Compile a program, which must give its result."""

        def compile_and_run() -> None:
            value = compiler.compile(program(number)).f(5)
            if value != result(number, 5):
                self.found.append(("wrong", f"program {number} gave {value}"))

        self.call(compile_and_run)


def described(error: BaseException) -> str:
    """Tell an error with the lines that it went through."""
    trace = error.__traceback__
    places = []
    while trace:
        code = trace.tb_frame.f_code
        places.append(f"{os.path.basename(code.co_filename)}:{trace.tb_lineno}")
        trace = trace.tb_next
    return f"{error!r} at {' '.join(places)}"


def _look_up(root: Path, told: Told) -> None:
    store = told.open_store(root, BOUND)
    for number in (0, 1, 50):
        told.look_up(store, number)
    told.call(lambda: store.contains(artifact(SEED, 1).key_digest))
    told.call(store.account.flush)


def _put(root: Path, told: Told) -> None:
    store = told.open_store(root / "new", BOUND)
    for number in (60, 61, 60):
        told.put(store, number)
        told.look_up(store, number)


def _evict(root: Path, told: Told) -> None:
    store = told.open_store(root, _LITTLE)
    for number in (70, 71, 72):
        told.put(store, number)
    for number in (0, 70, 72):
        told.look_up(store, number)


def _tidy(root: Path, told: Told) -> None:
    store = told.open_store(root, BOUND)
    calls: list[Callable[[], object]] = [
        lambda: list(store.entries()),
        lambda: list(store.records()),
        lambda: list(store.verify()),
        lambda: store.prune(_LITTLE // 2),
        lambda: store.prune(max_age=0.0),
        lambda: store.remove(bytes(32)),
        store.clear,
        store.stats,
        store.totals,
        store.counted_since,
        store.reset_totals,
    ]
    for call in calls:
        told.call(call)


def _take_turns(root: Path, told: Told) -> None:
    store = told.open_store(root, BOUND)

    def take(number: int) -> None:
        made = artifact(SEED, number)
        with store.turn(made.key_digest, 1.0):
            store.put(made)
        with store.direct_turn(source(SEED, number), 1.0):
            pass

    told.call(lambda: take(80))
    told.call(lambda: take(0))


def _compile(root: Path, told: Told) -> None:
    compiler = Compiler(cache=root, settings=Settings(cache_max_bytes=BOUND))
    for number in (0, 90, 90):
        told.compile(compiler, number)
        told.call(compiler.clear_memory)
    told.call(compiler.stats)


TASKS: dict[str, Callable[[Path, Told], None]] = {
    "look_up": _look_up,
    "put": _put,
    "evict": _evict,
    "tidy": _tidy,
    "take_turns": _take_turns,
    "compile": _compile,
}
"""What workers do, by name."""
