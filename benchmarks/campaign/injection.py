"""The campaign that lets one system call of a store fail, each in turn.

Runs in a process of its own, which forks the workers and attaches ``strace`` to each.

Findings
--------
``raised_into_user``
    A call of a compiler or of a store raised an exception, or a finalizer did.
``wrong``
    A program or a lookup gave something else than it should.
``died``
    The process ended otherwise than it should, or hung.
``leaked``
    Descriptors stayed open, or a temporary that the next prune did not remove.
``unhealed``
    Afterwards, what was put was not found.
"""

from __future__ import annotations

import gc
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, NoReturn, TypeVar

from benchmarks.campaign.finding import Account
from benchmarks.campaign.material import OpenStore, artifact, program
from benchmarks.campaign.tasks import BOUND, SEED, TASKS, Told, described
from benchmarks.harness import child
from twinjit import Compiler, Settings
from twinjit.errors import CacheWarning

__all__ = ["CALLS", "HOWS", "is_possible", "run"]

CALLS = (
    "openat",
    "read",
    "pread64",
    "write",
    "pwrite64",
    "close",
    "lseek",
    "rename",
    "unlink",
    "mkdir",
    "rmdir",
    "flock",
    "fcntl",
    "utimensat",
    "getdents64",
    "newfstatat",
    "fstat",
    "stat",
    "lstat",
    "readlink",
    "ftruncate",
    "fallocate",
    "fchmod",
    "getrandom",
)
"""The system calls that fail: all that have to do with files."""

HOWS = (
    *("error=EIO", "error=ENOSPC", "error=EACCES", "error=ENOENT", "error=EMFILE"),
    *("error=EROFS", "error=ELOOP", "error=EINTR", "retval=0", "signal=KILL"),
)
"""What happens to a call, as ``strace`` has it. It is not done, except before a signal."""

_T = TypeVar("_T")

_OPEN = "benchmarks.campaign.material:open_disk_store"
_PATIENCE = 8.0  # seconds for a worker


class Fault(NamedTuple):
    """One call of one task that shall fail.

    Attributes
    ----------
    task
        A name in `TASKS`.
    call
        Name of the system call.
    how
        One of `HOWS`.
    when
        Which of the calls of that name, from 1.
    """

    task: str
    call: str
    how: str
    when: int

    def __str__(self) -> str:
        return f"{self.task}: {self.call} {self.when} {self.how}"


def is_possible() -> bool:
    """Whether this process may attach to others, and has ``strace``."""
    if not shutil.which("strace"):
        return False
    with subprocess.Popen(["sleep", "0.2"]) as other:
        command = ["strace", "-qq", "-o", "/dev/null", "-p", str(other.pid)]
        return subprocess.run(command, check=False, capture_output=True).returncode == 0


def run(*, seed: int, limit: int | None, open_store: str = _OPEN) -> Account:
    """Let calls fail, one in each run of a task.

    Parameters
    ----------
    seed
        What the choice and the order follow from.
    limit
        How many runs at most; None for one of each call in each of `HOWS`.
    open_store
        What makes the stores, as ``MODULE:NAME`` of an `OpenStore`.
    """
    told = child(__name__, json.dumps([seed, limit, open_store]), environment={})
    account = Account(counts=Counter(told["counts"]))
    for finding in told["findings"]:
        account.found(*finding)
    return account


def _run_here(seed: int, limit: int | None, open_store: str) -> Account:
    module, _, name = open_store.partition(":")
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])  # until a worker waits for it
    warnings.simplefilter("ignore", CacheWarning)
    Compiler(cache=None).compile(program(0)).f(1)  # loads what a miss needs
    with TemporaryDirectory() as folder:
        campaign = _Campaign(Path(folder), getattr(import_module(module), name))
        faults = list(campaign.possible())
        random.Random(f"injection {seed}").shuffle(faults)
        for fault in faults[:limit]:
            campaign.attempt(fault)
        campaign.account.counts["possible"] = len(faults)
    return campaign.account


class _Campaign:
    def __init__(self, folder: Path, open_store: OpenStore) -> None:
        self.account = Account()
        self._root = folder / "store"
        self._template = folder / "template"
        self._log = folder / "log"
        self._open_store = open_store
        self._fill()

    def possible(self) -> Iterator[Fault]:
        """Walk all faults there can be, by what a run of each task calls."""
        for task in TASKS:
            self._work(task, ["-e", f"trace={','.join('?' + call for call in CALLS)}"])
            called = Counter(re.findall(r"^(?:\d+ +)?(\w+)\(", self._logged(), re.MULTILINE))
            for call, number in called.items():
                for how in HOWS:
                    yield from (Fault(task, call, how, when + 1) for when in range(number))

    def attempt(self, fault: Fault) -> None:
        """Run the fault's task with it."""
        inject = f"inject={fault.call}:{fault.how}:when={fault.when}"
        status, found = self._work(fault.task, ["-e", f"trace={fault.call}", "-e", inject])
        self.account.counts["faults"] += 1
        self.account.counts["injected"] += "INJECTED" in self._logged() or status < 0
        allowed = [0]
        if fault.how == "signal=KILL":
            allowed.append(-signal.SIGKILL)
        if fault.call == "close":  # is not done, unlike a close that fails: locks stay
            allowed.append(-signal.SIGALRM)
            found = [each for each in found if each[0] != "leaked"]
        if status not in allowed:
            found.append(("died", f"status {status}"))
        for kind, text in [*found, *self._see_healed(fault)]:
            self.account.found(kind, str(fault), text)

    def _see_healed(self, fault: Fault) -> Iterator[tuple[str, str]]:
        root = self._root / "new" if fault.task == "put" else self._root
        store, told = self._open_store(root, BOUND), Told(self._open_store)
        for number in (0, 1, 2, 60, 61, 70, 71, 72, 80):
            told.look_up(store, number)
        yield from told.found
        for number in (0, 100):
            made = artifact(SEED, number)
            if not store.put(made) or store.get(made.key_digest) is None:
                yield "unhealed", f"artifact {number}"
        store.prune()
        yield from (("wrong", str(bad)) for bad in store.verify())
        if left := os.listdir(root / "v1" / "tmp"):
            yield "leaked", f"temporaries {left}"

    def _fill(self) -> None:
        """Make the store that each run begins with."""
        store, told = self._open_store(self._template, BOUND), Told(self._open_store)
        for number in range(3):
            told.put(store, number)
        compiler = Compiler(cache=self._template, settings=Settings(cache_max_bytes=BOUND))
        compiler.compile(program(0))
        old = time.time() - 600
        for path in self._template.rglob("*.*"):
            os.utime(path, (old, old))  # so that lookups mark entries as used

    def _logged(self) -> str:
        return self._log.read_text("utf-8", "replace")

    def _work(self, task: str, tracing: list[str]) -> tuple[int, list[tuple[str, str]]]:
        """Do a task in a traced process; return its status, and what it found."""
        shutil.rmtree(self._root, ignore_errors=True)
        shutil.copytree(self._template, self._root)
        told, tell = os.pipe()
        pid = os.fork()
        if not pid:
            _be_worker(self._root, task, Told(self._open_store), tell)
        os.close(tell)
        with os.fdopen(told, "rb", buffering=0) as pipe:
            pipe.read(1)  # it is ready
            tracer = _trace(pid, [*tracing, "-o", str(self._log)])
            os.kill(pid, signal.SIGUSR1)
            text = pipe.readall()  # ends with the process, which its alarm ends at last
        _, status = os.waitpid(pid, 0)
        tracer.communicate()
        return os.waitstatus_to_exitcode(status), [
            (kind, how) for kind, how in json.loads(text or "[]")
        ]


def _trace(pid: int, options: list[str]) -> subprocess.Popen[bytes]:
    command = ["strace", "-f", "-qq", *options, "-p", str(pid)]
    tracer = subprocess.Popen(command, stderr=subprocess.PIPE)
    while "TracerPid:\t0\n" in Path(f"/proc/{pid}/status").read_text("utf-8"):
        if tracer.poll() is not None:
            os.kill(pid, signal.SIGKILL)
            raise RuntimeError(f"strace: {tracer.communicate()[1].decode()}")
        time.sleep(0.001)
    return tracer


def _be_worker(root: Path, task: str, told: Told, tell: int) -> NoReturn:
    try:
        sys.unraisablehook = lambda each: told.found.append(("raised_into_user", repr(each)))
        sys.excepthook = lambda *each: told.found.append(("raised_into_user", repr(each)))
        signal.setitimer(signal.ITIMER_REAL, _PATIENCE)
        before = len(os.listdir("/proc/self/fd"))
        os.write(tell, b" ")
        signal.sigwait([signal.SIGUSR1])
        TASKS[task](root, told)
        gc.collect()
        after = _again(lambda: len(os.listdir("/proc/self/fd")))
        if after > before:
            told.found.append(("leaked", f"{after - before} descriptors"))
    except BaseException as error:
        told.found.append(("died", described(error)))
    _again(lambda: os.write(tell, json.dumps(told.found).encode()))
    os._exit(0)


def _again(call: Callable[[], _T]) -> _T:
    """Make a call again if the fault was meant for a store, and hit it."""
    try:
        return call()
    except OSError:
        return call()


if __name__ == "__main__":
    _account = _run_here(*json.loads(sys.argv[1]))
    print(json.dumps({"counts": _account.counts, "findings": _account.findings}))
