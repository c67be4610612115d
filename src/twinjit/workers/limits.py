"""What a worker may take of the machine."""

from __future__ import annotations

import resource
import sys
from dataclasses import dataclass

__all__ = ["STACK_BYTES", "Limits", "resident_bytes", "set_soft_limit"]

# LLVM recurses along what programs chain together: of a chain of a million additions, its optimiser
# needs tens of megabytes. The system leaves at least 128 MiB for the main thread's stack wherever
# that is limited when a program starts, so that this much can be used.
STACK_BYTES = 64 << 20
"""How far the stack of a worker's main thread may grow; it takes what is used of it."""


@dataclass(frozen=True)
class Limits:
    """Limits of one compilation in a worker.

    Attributes
    ----------
    memory_bytes
        How much memory it may take beyond what the worker has when it begins: heap, and stacks of
        threads whether used or not, but neither libraries nor the main thread's stack. None for
        what the system allows.
    stack_bytes
        How far the main thread's stack may grow.
    """

    memory_bytes: int | None = None
    stack_bytes: int = STACK_BYTES

    def apply(self) -> None:
        """Make these the limits of this process; hard limits of the system hold all the same.

        Nor does it leave a core dump from then on: the page and the reproducer tell of a crash.

        Raises
        ------
        OSError
            If the system does not allow it.
        """
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        set_soft_limit(resource.RLIMIT_STACK, self.stack_bytes)
        # Not RLIMIT_AS: what a stack cannot grow by for that looks like its overflow, and a thread
        # reserves more than it uses.
        more = self.memory_bytes
        set_soft_limit(resource.RLIMIT_DATA, None if more is None else _data_bytes() + more)


def resident_bytes() -> int:
    """Say how much of this process is in physical memory."""
    return _statm(1)


def _data_bytes() -> int:
    """What counts for RLIMIT_DATA, and the main thread's stack."""
    return _statm(5)


def _statm(place: int) -> int:
    with open("/proc/self/statm", "rb", buffering=0) as file:
        return int(file.read().split()[place]) * resource.getpagesize()


def set_soft_limit(kind: int, wanted: int | None) -> None:
    """Set a limit of this process, at most to the hard one; None for that."""
    _, hard = resource.getrlimit(kind)
    if wanted is None or wanted > sys.maxsize:  # which no number of the system's can say
        wanted = hard
    elif hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    resource.setrlimit(kind, (wanted, hard))
