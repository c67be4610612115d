"""The campaign that kills writers at random moments, among readers.

Run by ``python -m benchmarks.campaign.kills OPTIONS`` in a process of its own, which forks all
others: forks of a process that has loaded everything start in milliseconds.

Findings
--------
``bad_reads``
    A read gave anything but the artifact or the digest that was put; or a compiled program gave
    another value.
``lost_entries``
    What was acknowledged, and nothing removes, was not found.
``faults``
    A store warned of something: nothing that happens here should be a fault.
``raised``
    A process ended with an exception.
``torn``
    While or after all that, `verify` named an entry.
``left``
    A temporary outlived the next `prune`.
``unhealed``
    After all, an artifact could not be put and read, or a program not be compiled.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.campaign import workers
from benchmarks.campaign.finding import Account
from benchmarks.campaign.material import artifact, program, result, same
from benchmarks.campaign.yard import COUNTED, Board, Yard
from benchmarks.harness import child
from twinjit import Compiler, DiskStore
from twinjit.errors import CacheWarning

__all__ = ["OTHER_FINDINGS", "run"]

OTHER_FINDINGS = ("faults", "raised", "torn", "left", "unhealed")

_OPEN = "benchmarks.campaign.material:open_disk_store"

# Those that are killed, and those that live until the end.
_MORTALS = (workers.writer, workers.writer, workers.evictor, workers.evictor) + (
    workers.compiler,
) * 2
_OTHERS = (workers.reader, workers.reader, workers.keeper, workers.compiler)

_BOUND = 1 << 20
_MEAN_WORK = 15  # puts and compilations between two kills, however slow the machine is
_WORK = ("puts", "evicting_puts", "compiles")
_LONGEST_PAUSE = 0.005
_LONGEST_WAIT = 5.0
_GRACE_SECONDS = 20.0


def run(*, seed: int, kills: int, open_store: str = _OPEN) -> Account:
    """Kill so many processes, in a campaign of its own process.

    Parameters
    ----------
    seed
        What all choices follow from.
    kills
        How many processes to kill.
    open_store
        Makes the stores: ``MODULE:FUNCTION`` of an `OpenStore`.
    """
    options = {"seed": seed, "kills": kills, "open_store": open_store}
    told = child("benchmarks.campaign.kills", json.dumps(options), environment={})
    account = Account(Counter(told["counts"]))
    for finding in told["findings"]:
        account.found(*finding)
    return account


@dataclass
class _Process:
    pid: int
    role: workers.Role
    row: int


class _Campaign:
    """The processes of one campaign."""

    def __init__(self, yard: Yard, rng: random.Random) -> None:
        self._yard = yard
        self._rng = rng
        self._started = 0
        self.temporaries = 0  # left by those that were killed
        self._mortals = [self._start(role, row) for row, role in enumerate(_MORTALS)]
        rows = range(len(_MORTALS), len(_MORTALS) + len(_OTHERS))
        self._others = [self._start(role, row) for row, role in zip(rows, _OTHERS, strict=True)]

    def kill_one(self) -> bool:
        """Let a random amount of work be done, then kill a random process and start its like."""
        self._await_work(self._rng.expovariate(1 / _MEAN_WORK))
        time.sleep(self._rng.uniform(0, _LONGEST_PAUSE))
        place = self._rng.randrange(len(self._mortals))
        victim = self._mortals[place]
        os.kill(victim.pid, signal.SIGKILL)
        _, status = os.waitpid(victim.pid, 0)
        self.temporaries += len(list(self._yard.folder.glob(f"*/*/tmp/{victim.pid}-*")))
        self._mortals[place] = self._start(victim.role, victim.row)
        return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL

    def stop(self) -> None:
        """Let all processes end; those that do not are told of and killed."""
        self._yard.board.stop()
        deadline = time.monotonic() + _GRACE_SECONDS
        for process in self._mortals + self._others:
            while os.waitpid(process.pid, os.WNOHANG) == (0, 0):
                time.sleep(0.01)
                if time.monotonic() > deadline:
                    self._yard.found("raised", process.role.__name__, "did not end when told to")
                    os.kill(process.pid, signal.SIGKILL)
                    os.waitpid(process.pid, 0)
                    break

    def _await_work(self, amount: float) -> None:
        goal = self._work_done() + amount
        deadline = time.monotonic() + _LONGEST_WAIT
        while self._work_done() < goal and time.monotonic() < deadline:
            time.sleep(0.001)

    def _work_done(self) -> int:
        return sum(sum(self._yard.board.values(name)) for name in _WORK)

    def _start(self, role: workers.Role, row: int) -> _Process:
        self._started += 1
        pid = os.fork()
        if not pid:
            _work(self._yard, role, row, self._started)
        return _Process(pid, role, row)


def _work(yard: Yard, role: workers.Role, row: int, serial: int) -> None:
    status = 1
    place = f"{role.__name__} {serial}"
    warnings.simplefilter("always", CacheWarning)
    warnings.showwarning = lambda message, *_: yard.found("faults", place, str(message))
    try:
        role(yard, row, serial)
        status = 0
    except BaseException:
        yard.found("raised", place, traceback.format_exc())
    finally:
        os._exit(status)


def _run_here(folder: Path, seed: int, kills: int, open_store: str) -> dict[str, Any]:
    module, _, function = open_store.partition(":")
    opener = getattr(import_module(module), function)
    rows = len(_MORTALS) + len(_OTHERS)
    yard = Yard(folder, seed, _BOUND, Board(rows), opener)
    Compiler(cache=None).compile(program(0))  # loads all that forks would load one by one
    campaign = _Campaign(yard, random.Random(f"kills {seed}"))
    counts: Counter[str] = Counter()
    start = time.perf_counter()
    try:
        # Processes that end by themselves do not count; a finding says why they did.
        for _ in range(2 * kills):
            if counts["kills"] < kills:
                counts["kills"] += campaign.kill_one()
    finally:
        campaign.stop()
    counts["temporaries"] = campaign.temporaries
    counts["seconds"] = int(time.perf_counter() - start)
    for name in COUNTED:
        values = yard.board.values(name)
        counts[name] = max(values) if name.startswith("longest") else sum(values)
    _look_after(yard, counts)
    return {"counts": counts, "findings": list(yard.findings())}


def _look_after(yard: Yard, counts: Counter[str]) -> None:
    """See what is left when all processes have ended."""
    kept = yard.kept()
    for number, direct in yard.acknowledged():
        counts["acknowledged"] += 1
        check = workers.check_record if direct else workers.check_entry
        check(yard, kept, number, "the end", must=True)
    for store in (kept, yard.bounded(), DiskStore(yard.compiled)):
        for bad in store.verify():
            yard.found("torn", "the end", f"{bad.path}: {bad.message}")
        store.prune()
        for path in (path for folder in Path(store.root).rglob("tmp") for path in folder.iterdir()):
            yard.found("left", str(path), f"seed {yard.seed}")
    _heal(yard)


def _heal(yard: Yard) -> None:
    for store in (yard.kept(), yard.bounded()):
        for number in range(workers.POPULAR):
            expected = artifact(yard.seed, number)
            if not store.put(expected) or not (found := store.get(expected.key_digest)):
                yard.found("unhealed", store.root, f"artifact {number} of seed {yard.seed}")
            elif not same(found, expected):
                yard.found("bad_reads", store.root, f"artifact {number} of seed {yard.seed}")
    compiler = Compiler(cache=yard.compiled)
    for number in range(workers.PROGRAMS):
        executable = compiler.compile(program(number))
        if executable.f(3) != result(number, 3) or not executable.report.cached:
            yard.found("unhealed", str(yard.compiled), f"program {number}: {executable.report}")


def _main() -> None:
    warnings.simplefilter("ignore", CacheWarning)
    options = json.loads(sys.argv[1])
    with TemporaryDirectory() as folder:
        told = _run_here(Path(folder), **options)
    print(json.dumps(told))


if __name__ == "__main__":
    _main()
