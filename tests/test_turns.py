"""Turns within turns: whoever compiles in the middle of a compilation never waits."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import twinjit
from tests.flights import KEY, OTHER, PATIENCE
from twinjit.settings import Settings
from twinjit.stop import Stop
from twinjit.store.disk import DiskStore
from twinjit.turns import Turns

PROGRAM = "func.func @f(%x: i64) -> i64 { %y = arith.addi %x, %x : i64 return %y : i64 }"


def run(*works: Callable[[], object]) -> None:
    """Run each in a thread, and see that none hangs."""
    threads = [threading.Thread(target=work, daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE / 2)
        assert not thread.is_alive()


@pytest.fixture(params=["store", "no store"])
def turns(request: pytest.FixtureRequest, tmp_path: Path) -> Turns:
    return Turns(DiskStore(tmp_path) if request.param == "store" else None, PATIENCE)


def test_a_thread_does_not_wait_for_itself(turns: Turns) -> None:
    outcomes = []

    def work() -> None:
        with turns.of_request(OTHER, Stop()), turns.of_key(KEY, Stop(), waits=True):
            with turns.of_request(OTHER, Stop()) as outcome:
                outcomes.append(outcome)
            with turns.of_key(KEY, Stop(), waits=True) as outcome:
                outcomes.append(outcome)

    run(work)
    assert outcomes in (["timed out"] * 2, ["unlocked"] * 2)


def test_two_threads_do_not_wait_for_each_other(turns: Turns) -> None:
    both = threading.Barrier(2)
    ended = []

    def work(first: bytes, second: bytes) -> None:
        with turns.of_key(first, Stop(), waits=True):
            both.wait()
            with turns.of_key(second, Stop(), waits=True):
                ended.append(first)

    run(lambda: work(KEY, OTHER), lambda: work(OTHER, KEY))
    assert len(ended) == 2


def test_after_a_turn_within_a_turn_threads_wait_again(tmp_path: Path) -> None:
    turns = Turns(DiskStore(tmp_path), PATIENCE)
    with turns.of_key(KEY, Stop(), waits=True), turns.of_key(OTHER, Stop(), waits=True) as outcome:
        assert outcome == "owner"
    inside, most = [], []

    def work() -> None:
        for _ in range(20):
            with turns.of_key(KEY, Stop(), waits=True):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    run(work, work, work)
    assert most == [1] * 60


class CompilingBackend:
    """Bytes in memory, by a backend that compiles with the same compiler in each call."""

    url = "memory://compiles"

    def __init__(self) -> None:
        self.data: dict[str, bytes] = {}
        self.compile: Callable[[], object] = lambda: None

    def get(self, name: str) -> bytes | None:
        self._enter()
        return self.data.get(name)

    def put(self, name: str, data: bytes) -> None:
        self._enter()
        self.data[name] = data

    def remove(self, name: str) -> None:
        self.data.pop(name, None)

    def _enter(self) -> None:
        work, self.compile = self.compile, lambda: None
        work()
        self.compile = work


@pytest.mark.parametrize("confirm", ["never", "always"])
def test_a_backend_may_compile_the_program_that_it_is_asked_for(
    tmp_path: Path, confirm: twinjit.settings.Confirm
) -> None:
    backend = CompilingBackend()
    settings = Settings(wait_seconds=2 * PATIENCE, confirm=confirm)
    compiler = twinjit.Compiler(cache=tmp_path, shared=backend, settings=settings)
    results = []
    backend.compile = lambda: results.append(compiler.compile(PROGRAM).f(1))
    run(lambda: results.append(compiler.compile(PROGRAM).f(1)))
    assert len(results) > 1
    assert set(results) == {2}


@contextmanager
def collecting(work: Callable[[], object]) -> Iterator[None]:
    """Do work whenever the garbage collector runs, which is all the time."""
    busy = threading.Lock()

    def call(phase: str, _: dict[str, int]) -> None:
        if phase == "start" and busy.acquire(blocking=False):
            work()
            busy.release()

    before = gc.get_threshold()
    gc.callbacks.append(call)
    gc.set_threshold(3)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(call)


def test_finalisers_may_compile(tmp_path: Path) -> None:
    compiler = twinjit.Compiler(cache=tmp_path, settings=Settings(wait_seconds=2 * PATIENCE))
    calls = []

    def work() -> None:
        for _ in range(20):
            assert compiler.compile(PROGRAM).f(1) == 2
            compiler.clear_memory()

    with collecting(lambda: calls.append(compiler.compile(PROGRAM).f(1))):
        run(work)
    assert calls
    assert set(calls) == {2}
