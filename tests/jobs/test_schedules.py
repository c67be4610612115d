"""Random schedules: no future is lost, none hangs, nothing is compiled twice."""

from __future__ import annotations

import random
import threading
from collections import Counter
from concurrent.futures import wait

import pytest

import twinjit
from tests.jobs.programs import PATIENCE, adds, own_threads, wait_for
from tests.nightly import rounds
from twinjit.errors import CompilationTimeoutError, ExecutorError, ParseError

MAY_FAIL = (ParseError, CompilationTimeoutError)
WRONG = "func.func @f( { }"


class Schedule:
    """Threads that submit, cancel, wait and compile at random, until the compiler is closed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        choose = random.Random(seed)
        self.compiler = twinjit.Compiler(cache=False, max_workers=choose.randint(1, 4))
        self.futures: list[tuple[object, twinjit.CompileFuture]] = []
        self.called: Counter[int] = Counter()
        self.failures: list[BaseException] = []

    def run(self) -> None:
        choose = random.Random(-self.seed)
        threads = [threading.Thread(target=self._repeat, args=[n]) for n in range(4)]
        for thread in threads:
            thread.start()
        threads[0].join(choose.random() / 2)
        self.compiler.close(cancel=choose.random() < 0.5)
        for thread in threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()
        assert self.failures == []

    def _repeat(self, number: int) -> None:
        choose = random.Random(self.seed * 100 + number)
        try:
            for _ in range(40):
                self._step(choose)
        except ExecutorError:
            pass  # it is closed
        except BaseException as error:
            self.failures.append(error)

    def _step(self, choose: random.Random) -> None:
        number = choose.randrange(8)
        program = WRONG if number == 0 else adds(number)
        what = choose.choice(("submit", "submit", "late", "cancel", "compile", "wait"))
        if what == "compile":
            if number:
                assert self.compiler.compile(program).f(1) == number + 1
            return
        timeout = choose.random() / 50 if what == "late" else choose.choice((None, 600))
        future = self.compiler.submit(program, priority=choose.randrange(3), timeout=timeout)
        self.futures.append((number, future))
        future.add_done_callback(lambda each: self.called.update([id(each)]))
        if what == "cancel":
            choose.choice(self.futures)[1].cancel()
        elif what == "wait":
            wait([future], PATIENCE)

    def check(self) -> None:
        done, not_done = wait([each for _, each in self.futures], PATIENCE)
        assert not_done == set()
        assert self.called == Counter({id(each): 1 for each in done})
        for number, future in self.futures:
            if future.cancelled():
                continue
            error = future.exception(0)
            if error is None:
                assert future.result(0).f(1) == number + 1
            else:
                assert isinstance(error, CompilationTimeoutError if number else MAY_FAIL)
        assert self.compiler.stats()["compiled"] <= 7
        wait_for(lambda: not own_threads())


@pytest.mark.parametrize("seed", range(rounds(12, 240)))
def test_any_schedule(seed):
    schedule = Schedule(seed)
    schedule.run()
    schedule.check()
