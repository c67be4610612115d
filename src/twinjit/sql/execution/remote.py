"""Handling partitions in other processes, and on other machines."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import pyarrow as pa

from twinjit.errors import ExecutorError
from twinjit.sql.data.partitions import Partition
from twinjit.sql.data.scan import Scan
from twinjit.sql.plan import Plan
from twinjit.sql.tree import Value

__all__ = ["Part", "check_executor", "in_order"]

_AHEAD = 32
"""Parts that are under way at a time, so that memory is bounded."""

_PATIENCE = 0.05  # seconds between looks at the wish to stop

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Part:
    """What is sent: a plan without a join, and a partition of its input.

    Attributes
    ----------
    jit
        As for queries. Kernels are compiled where the part is handled, by a compiler with the
        settings there.
    most
        How many rows are wanted; None for all.
    """

    plan: Plan
    parameters: tuple[Value, ...]
    jit: Any
    most: int | None
    recipe: Callable[[], Partition]
    groups: tuple[int, ...] | None
    schema: pa.Schema

    @classmethod
    def of(
        cls, plan: Plan, parameters: tuple[Value, ...], jit: Any, most: int | None, scan: Scan
    ) -> Part:
        """Make one.

        Raises
        ------
        ExecutorError
            If the input cannot be sent: it is not a dataset of files.
        """
        recipe = scan.partition.recipe
        if recipe is None:
            raise ExecutorError(
                f"{scan.input.table} is in the memory of this process, and cannot be handled by "
                "an executor: give a pyarrow.dataset of files"
            )
        return cls(plan, parameters, jit, most, recipe, scan.groups, scan.schema)

    def scan(self) -> Scan:
        """Open the partition."""
        return Scan(0, self.recipe(), self.groups, self.plan.inputs[0], self.schema)


def check_executor(executor: object) -> None:
    """Refuse what nothing can be submitted to.

    Raises
    ------
    ExecutorError
        If it is neither None, nor a `concurrent.futures.Executor`, nor like one, as a
        `distributed.Client` is.
    """
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise ExecutorError(
            f"executor is {executor!r}; give a concurrent.futures.Executor or a distributed.Client"
        )


def in_order(
    executor: Any,
    work: Callable[[Part], _Result],
    parts: Iterable[Part],
    check: Callable[[], None],
) -> Iterator[_Result]:
    """Give the results of `work` for each part, in order; `parts` fails as its next one would.

    Parameters
    ----------
    check
        Raises if the query is to end; called time and again.
    """
    pending: deque[Any] = deque()
    remaining = iter(parts)
    failure: Exception | None = None
    try:
        while True:
            try:
                part = next(remaining)
            except StopIteration:
                break
            except Exception as error:  # whatever it is, its turn comes after what was sent before
                failure = error
                break
            pending.append(executor.submit(work, part))
            if len(pending) >= _AHEAD:
                yield _result(pending.popleft(), check)
        while pending:
            yield _result(pending.popleft(), check)
        if failure is not None:
            raise failure
    finally:
        for future in pending:
            future.cancel()


def _result(future: Any, check: Callable[[], None]) -> Any:
    while not future.done():
        check()
        try:
            return future.result(timeout=_PATIENCE)
        except _timeouts():
            continue  # what its work raised, whatever that is, is raised below
    return future.result()


def _timeouts() -> tuple[type[BaseException], ...]:
    import asyncio
    import concurrent.futures

    return TimeoutError, concurrent.futures.TimeoutError, asyncio.TimeoutError
