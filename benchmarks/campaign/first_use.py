"""A process whose first use of a store finds no descriptor left.

What Python would load only then (a module in a file of its own) cannot be loaded any more. Run by
`adversity`, with the store's root as argument; it imports as little as it can.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import warnings
from collections.abc import Callable

from twinjit import Compiler, DiskStore, Settings
from twinjit.errors import CacheWarning

_PROGRAM = "func.func @f(%x: i64) -> i64 { return %x : i64 }"


def _raised(function: Callable[[], object]) -> str | None:
    try:
        function()
    except Exception as error:
        return repr(error)
    return None


def _main() -> None:
    warnings.simplefilter("ignore", CacheWarning)
    Compiler(cache=None).compile(_PROGRAM)  # loads MLIR, which a miss cannot do without
    root, settings = sys.argv[1], Settings(cache_max_bytes=1 << 20)
    store, compiler = DiskStore(root, 1 << 20), Compiler(cache=root, settings=settings)
    calls: list[Callable[[], object]] = [
        lambda: store.get(bytes(32)),
        lambda: store.put_direct(bytes(32), bytes(32)),
        store.prune,
        store.clear,
        store.stats,
        store.totals,
        lambda: list(store.verify()),
        lambda: list(store.records()),
        lambda: list(store.digests()),
        lambda: compiler.explain(_PROGRAM),
        lambda: compiler.compile(_PROGRAM).f(1),
    ]
    lowest_free = os.open("/dev/null", os.O_RDONLY)
    os.close(lowest_free)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, hard))
    raised = [error for call in calls if (error := _raised(call))]
    print(json.dumps({"calls": len(calls), "raised": raised}))


if __name__ == "__main__":
    _main()
