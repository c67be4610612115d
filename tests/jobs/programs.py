"""Programs to submit, and compilations that take as long as a test wants."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import cache

import twinjit
from twinjit.jobs.jobs import Jobs
from twinjit.report import Clock
from twinjit.source import SourceBytes
from twinjit.stop import Stop

PATIENCE = 60.0  # in seconds; reached only where something is broken


def adds(number: int) -> str:
    """Make a program of which no other number has the code."""
    return (
        f"func.func @f(%x: i64) -> i64 {{ %c = arith.constant {number} : i64 "
        "%y = arith.addi %x, %c : i64 return %y : i64 }"
    )


def takes_long(count: int = 4_000) -> str:
    """Make a program that LLVM optimises for a second or more."""
    lines = "".join(f"%v{n + 1} = arith.muli %v{n}, %v{n // 2} : i64\n" for n in range(count))
    return f"func.func @f(%v0: i64) -> i64 {{ {lines} return %v{count} : i64 }}"


@cache
def executable() -> twinjit.Executable:
    """Make one for tests that only look at who gets it."""
    return twinjit.Compiler(cache=False).compile(adds(0))


def source(name: str) -> SourceBytes:
    return SourceBytes(b"", name)


class Desk:
    """Jobs whose compilations wait until they are told to end, in `workers` threads."""

    def __init__(self, workers: int) -> None:
        self.begun: list[str] = []
        self.stopped: list[str] = []
        self.requests: list[bytes | None] = []
        self.failure: BaseException | None = None
        self.leave = threading.Event()
        self.jobs = Jobs(self._compile, workers)

    def _compile(
        self, program: SourceBytes, _: Clock, stop: Stop, request: bytes | None
    ) -> twinjit.Executable:
        self.requests.append(request)
        self.begun.append(program.name)
        while not self.leave.wait(0.001):
            if stop.is_requested:
                self.stopped.append(program.name)
                stop.check()
        if self.failure:
            raise self.failure
        return executable()

    def submit(
        self,
        name: str,
        *,
        priority: int = 0,
        timeout: float | None = None,
        request: bytes | None = None,
    ) -> twinjit.CompileFuture:
        return self.jobs.submit(source(name), request, priority, timeout)

    def occupy(self, count: int = 1) -> list[twinjit.CompileFuture]:
        """Have so many threads work."""
        futures = [self.submit(f"busy {n}") for n in range(count)]
        wait_for(lambda: len(self.begun) == count)
        return futures


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def own_threads() -> list[threading.Thread]:
    names = ("twinjit-compile", "twinjit-deadlines")
    return [each for each in threading.enumerate() if each.name in names]
