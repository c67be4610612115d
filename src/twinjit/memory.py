"""The memory that a compiler and its process take."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from twinjit._native import _llvm
from twinjit.index import RequestIndex
from twinjit.resident import heap, resident
from twinjit.tiers import Tiers, tiers_of_process

__all__ = ["MemoryReport", "measure"]

_PARTS = {
    "code": "code that this compiler keeps",
    "code_held": "code that only its users keep",
    "code_elsewhere": "code that other compilers keep",
    "artifacts": "artifacts that this compiler keeps",
    "objects": "objects of its code and artifacts",
    "index": "its index of requests",
    "contexts": "MLIR contexts",
    "heap": "other blocks of malloc in use",
    "heap_free": "free blocks of malloc",
    "libraries": "libraries and other mapped files",
    "anonymous": "Python's arenas, stacks",
}


@dataclass(frozen=True)
class MemoryReport:
    """Memory of a process, and what a compiler has of it, in bytes.

    The parts do not overlap. Those before `heap` are counted, those from it on measured.

    Attributes
    ----------
    rss
        Physical memory of the process, by the kernel.
    code
        Linked code that this compiler's memory tier has: whole pages, with the large constants that
        it is linked to.
    code_held
        Linked code that no compiler has any more, but executables or functions that someone holds.
    code_elsewhere
        Linked code that other compilers have.
    artifacts
        Artifacts that this compiler's memory tier has.
    objects
        The objects around its code and artifacts, about. With `code` and `artifacts`, it is what
        ``memory_max_bytes`` bounds.
    index
        What leads from requests to keys.
    contexts
        MLIR contexts, kept or in use, of all compilers.
    heap
        All else that ``malloc`` has handed out: NumPy's arrays, LLVM's and MLIR's globals, …
    heap_free
        Memory that ``malloc`` keeps for later.
    libraries
        Mapped files.
    anonymous
        What else the process has mapped: Python's arenas, and stacks.
    """

    rss: int
    code: int
    code_held: int
    code_elsewhere: int
    artifacts: int
    objects: int
    index: int
    contexts: int
    heap: int
    heap_free: int
    libraries: int
    anonymous: int

    @property
    def total(self) -> int:
        """The sum of all parts."""
        return sum(getattr(self, name) for name in _PARTS)

    @property
    def other(self) -> int:
        """What no part explains of `rss`; below 0 where memory is mapped, but was not used yet."""
        return self.rss - self.total

    def __str__(self) -> str:
        rows = [(text, getattr(self, name)) for name, text in _PARTS.items()]
        rows += [("unexplained", self.other), ("in physical memory", self.rss)]
        return "\n".join(f"{size / 2**20:10,.1f} MiB  {text}" for text, size in rows)


def measure(tiers: Tiers, index: RequestIndex) -> MemoryReport:
    """Account for all memory of this process."""
    linked, _, _, arenas = _llvm.code_memory()
    now = resident(arenas)
    blocks = heap()
    kept = tiers.sizes()
    in_tiers = sum(each.sizes().pages for each in tiers_of_process())
    contexts = _contexts()
    in_use = min(blocks.in_heaps, now.heap)
    return MemoryReport(
        rss=now.total,
        code=kept.pages,
        code_held=max(0, linked - in_tiers),
        code_elsewhere=in_tiers - kept.pages,
        artifacts=kept.artifacts,
        objects=kept.objects,
        index=index.size,
        contexts=contexts,
        heap=in_use + blocks.mapped - kept.artifacts - contexts,
        heap_free=now.heap - in_use,
        libraries=now.files,
        anonymous=now.anonymous - blocks.mapped - kept.objects - index.size,
    )


def _contexts() -> int:
    native = sys.modules.get("twinjit._native._mlir")  # loaded by the first miss
    if native is None:
        return 0
    counts: dict[str, int] = native.pool_stats()
    return counts["idle_bytes"] + counts["leased_bytes"]
