"""Threads that start together."""

from __future__ import annotations

import threading
from collections.abc import Callable


def at_once(work: Callable[[int], None], count: int = 8) -> None:
    """Run `work(0)` … `work(count - 1)`, all started at once; raise what they raise."""
    for error in failures_at_once(work, count):
        raise error


def failures_at_once(work: Callable[[int], None], count: int) -> list[BaseException]:
    """Run `work(0)` … `work(count - 1)`, all started at once; return what they raise."""
    barrier = threading.Barrier(count)
    errors: list[BaseException] = []

    def run(index: int) -> None:
        try:
            barrier.wait()
            work(index)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors
