"""What processes there are, and how to wait for them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress

from twinjit.workers.pool import POOL
from twinjit.workers.worker_process import Worker

__all__ = ["descriptors_of", "is_alive", "lent", "until", "workers", "zygote_pid"]

_SECONDS = 30  # more than anything here takes on a loaded machine


def until(condition: Callable[[], bool]) -> bool:
    """Wait until a condition holds; False if it never did."""
    deadline = time.monotonic() + _SECONDS
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.002)
    return True


def is_alive(pid: int) -> bool:
    """Whether a process exists and has not ended."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def descriptors_of(pid: int) -> dict[int, str]:
    """What each open descriptor of a process leads to."""
    found = {}
    for name in os.listdir(f"/proc/{pid}/fd"):
        with suppress(FileNotFoundError):  # that of the listing, or closed meanwhile
            found[int(name)] = os.readlink(f"/proc/{pid}/fd/{name}")
    return found


def zygote_pid() -> int | None:
    """The process that workers are forked from, if there is one."""
    zygote = POOL._state.zygote
    return zygote._process.pid if zygote and zygote._process else None


def workers() -> list[Worker]:
    """All workers of this process."""
    return [*POOL._state.idle, *POOL._state.lent]


def lent() -> list[Worker]:
    """Those that compile, and have been told what."""
    return [worker for worker in list(POOL._state.lent) if worker.is_busy and worker.pid]
