"""Threads that start together."""

from __future__ import annotations

import threading
from collections.abc import Callable


def at_once(work: Callable[[int], None], count: int = 8) -> None:
    """Run `work(0)` … `work(count - 1)`, all started at once; raise what they raise."""
    barrier = threading.Barrier(count)
    errors: list[BaseException] = []

    def run(index: int) -> None:
        barrier.wait()
        try:
            work(index)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
