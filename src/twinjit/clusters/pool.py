"""Executors of the standard library's kind."""

from __future__ import annotations

from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import Any

from twinjit.clusters.job import run
from twinjit.clusters.remote import in_words, wait_for
from twinjit.errors import ExecutorError
from twinjit.stop import Stop

__all__ = ["Pool"]

_CURE = (
    " Such an executor is of no more use. If its processes did not start, protect the main module "
    "with if __name__ == '__main__'; if the program made the compiler crash, executor='process' "
    "says how, and goes on"
)


class Pool:
    """Runs jobs on a `concurrent.futures.Executor`; see `Cluster`.

    It cannot tell equal jobs of several processes; within one, and among those that share a disk
    store, they are compiled once anyway. A job that has begun ends by its own time limit alone.
    """

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def run(self, name: str | None, job: bytes, stop: Stop) -> dict[str, Any]:
        """Run a job."""
        del name  # nothing to tell it to
        try:
            future = self._executor.submit(run, job)
        except Exception as error:
            raise ExecutorError(f"the executor takes no work: {in_words(error)}") from error
        if not isinstance(future, Future):
            raise ExecutorError(
                f"submit of the executor gave back a {type(future).__name__}; it should be a "
                "concurrent.futures.Future"
            )
        try:
            wait_for(future, stop)
        finally:
            future.cancel()  # where it has not begun
        return _result_of(future)


def _result_of(future: Future[dict[str, Any]]) -> dict[str, Any]:
    """Return what a job that is done returned; whatever else happened is the executor's doing."""
    try:
        error = future.exception()  # not raised, as it may be what ends threads, such as SystemExit
    except CancelledError:
        raise ExecutorError("the executor was shut down before it compiled the program") from None
    if error is not None:
        cure = _CURE if isinstance(error, BrokenExecutor) else ""
        raise ExecutorError(
            f"the executor lost the compilation: {in_words(error)}{cure}"
        ) from error
    return future.result()
