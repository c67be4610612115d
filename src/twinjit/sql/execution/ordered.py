"""Work on partitions in threads, with results in the partitions' order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

__all__ = ["ordered_map"]

_HEAD_START = 0.005
"""Seconds that the first item has for itself, so that there is a result soon."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def ordered_map(
    work: Callable[[_Item], _Result], items: Iterable[_Item], threads: int
) -> Iterator[_Result]:
    """Give the results of `work` for each item, in order.

    Twice as many items as there are threads are taken ahead, so that memory is bounded. Of several
    that fail, the first one's exception is raised, once all before it have ended well; `items`
    fails as its next item would.

    Parameters
    ----------
    threads
        How many work at a time; with one, all is done in the calling thread.
    """
    if threads == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="twinjit-sql") as pool:
        submitted = _submitted(pool, work, items)
        pending: deque[Future[_Result]] = deque()
        is_first = True
        try:
            while True:
                # What is done is given before more is taken, which may take its time.
                while len(pending) < 2 * threads and not (pending and pending[0].done()):
                    future = next(submitted, None)
                    if future is None:
                        break
                    pending.append(future)
                    if is_first:
                        is_first = False
                        wait(pending, timeout=_HEAD_START)
                if not pending:
                    return
                yield pending.popleft().result()
        finally:
            for left in pending:
                left.cancel()


def _submitted(
    pool: ThreadPoolExecutor, work: Callable[[_Item], _Result], items: Iterable[_Item]
) -> Iterator[Future[_Result]]:
    remaining = iter(items)
    while True:
        try:
            item = next(remaining)
        except StopIteration:
            return
        except Exception as error:  # whatever it is, its turn comes after what was taken before
            failed: Future[_Result] = Future()
            failed.set_exception(error)
            yield failed
            return
        yield pool.submit(work, item)
